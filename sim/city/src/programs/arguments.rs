//! The command line: `city cuts --count N`, `city cuts --seed S [--trace] [--without SYNC]`, `city syncs [--seeds N]`, `city run --seeds N | --seed S [--trace]`.

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Cut the power so often, over seeds from 1.
    Cuts {
        /// Power cuts in all.
        count: u64,
    },
    /// Cut the power some times, from one seed.
    CutsOfOne {
        /// Which.
        seed: u64,
        /// Print every event.
        trace: bool,
        /// Leave out every sync of this name.
        without: Option<String>,
    },
    /// Leave out each sync in turn.
    Syncs {
        /// Seeds to try for each.
        seeds: u64,
    },
    /// Live so many seeds.
    Run {
        /// Seeds from 1.
        seeds: u64,
    },
    /// Live one seed.
    RunOne {
        /// Which.
        seed: u64,
        /// Print every event.
        trace: bool,
    },
}

/// How it is used.
pub const USAGE: &str = "usage: city cuts --count N
       city cuts --seed S [--trace] [--without SYNC]
       city syncs [--seeds N]
       city run --seeds N
       city run --seed S [--trace]";

/// Reads the arguments after the program's name.
///
/// # Errors
/// What is wrong with them, for people.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut arguments = arguments.into_iter();
    let command = arguments.next().ok_or("say what to do")?;
    let mut count = None;
    let mut seed = None;
    let mut seeds = None;
    let mut trace = false;
    let mut without = None;
    while let Some(name) = arguments.next() {
        let slot = match name.as_str() {
            "--count" => &mut count,
            "--seed" => &mut seed,
            "--seeds" => &mut seeds,
            "--trace" => {
                trace = true;
                continue;
            }
            "--without" => {
                without = Some(
                    arguments
                        .next()
                        .ok_or("--without wants the name of a sync")?,
                );
                continue;
            }
            other => return Err(format!("{other} is no option")),
        };
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} wants a number"))?;
        *slot = Some(
            value
                .parse::<u64>()
                .map_err(|_| format!("{name} wants a number, not {value}"))?,
        );
    }
    match (command.as_str(), seed, seeds) {
        ("cuts", Some(seed), None) => Ok(Command::CutsOfOne {
            seed,
            trace,
            without,
        }),
        ("cuts", None, None) => Ok(Command::Cuts {
            count: count.unwrap_or(1000),
        }),
        ("syncs", None, _) => Ok(Command::Syncs {
            seeds: seeds.unwrap_or(4000),
        }),
        ("run", Some(seed), None) => Ok(Command::RunOne { seed, trace }),
        ("run", None, Some(seeds)) => Ok(Command::Run { seeds }),
        ("run", ..) => Err("run wants --seeds N or --seed S".to_owned()),
        (other, ..) => Err(format!("{other} is no command, or not with these options")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &str) -> Result<Command, String> {
        parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_documented_lines_are_understood() {
        assert_eq!(
            parse_words("cuts --count 20"),
            Ok(Command::Cuts { count: 20 })
        );
        let one = Command::CutsOfOne {
            seed: 7,
            trace: true,
            without: None,
        };
        assert_eq!(parse_words("cuts --seed 7 --trace"), Ok(one.clone()));
        // As the runner of all checks says it.
        assert_eq!(parse_words("cuts --count 20 --seed 7 --trace"), Ok(one));
        assert_eq!(parse_words("syncs"), Ok(Command::Syncs { seeds: 4000 }));
        assert_eq!(parse_words("run --seeds 9"), Ok(Command::Run { seeds: 9 }));
        assert_eq!(
            parse_words("run --seed 9 --trace"),
            Ok(Command::RunOne {
                seed: 9,
                trace: true
            })
        );
    }

    #[test]
    fn the_others_are_refused_with_a_reason() {
        for words in [
            "",
            "dance",
            "run",
            "run --seeds",
            "run --seeds many",
            "cuts --what 1",
            "run --seed 1 --seeds 2",
        ] {
            assert!(parse_words(words).is_err(), "{words}");
        }
    }
}

//! `hulse config`: what the configuration comes to, without starting anything.

use crate::config::{ConfigErrors, Extent, Given, Origin, as_json, as_text, check, rows};
use crate::{ConfigArguments, ConfigurationArguments, exit};
use std::io::Write;
use std::process::ExitCode;

/// Prints every key; ends with 2 if `hulse standalone` would not start with it.
pub fn run(arguments: &ConfigArguments) -> ExitCode {
    let given = match given(&arguments.configuration) {
        Ok(given) => given,
        Err(errors) => return exit::with(exit::USAGE, &errors),
    };
    let extent = match (arguments.all, arguments.changed) {
        (true, _) => Extent::All,
        (_, true) => Extent::Changed,
        _ => Extent::Usual,
    };
    let rows = rows(&given, extent);
    let text = if arguments.json {
        as_json(&rows)
    } else {
        as_text(&rows)
    };
    // Whoever reads this may have seen enough before the end.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    match check(&given) {
        Ok(checked) => {
            for notice in checked.notices {
                tracing::warn!("{notice}");
            }
            ExitCode::SUCCESS
        }
        Err(errors) => exit::with(exit::USAGE, &errors),
    }
}

/// All layers: file, environment, `--set`, `--data-dir`; the later word wins.
pub fn given(arguments: &ConfigurationArguments) -> Result<Given, ConfigErrors> {
    let mut given = Given::default();
    if let Some(path) = &arguments.config {
        given.read_file(path)?;
    }
    given.read_environment(std::env::vars_os())?;
    for set in &arguments.sets {
        given.read_set(set)?;
    }
    if let Some(directory) = &arguments.data_dir {
        let text = directory.to_string_lossy().into_owned();
        given.put(
            "hulse.dataDirectory".to_owned(),
            text,
            Origin::Option("--data-dir"),
        )?;
    }
    Ok(given)
}

//! Closing a log: what is under way is finished, then everything is sealed and the list says so, so that
//! the next opening has nothing to recover.

use crate::cursor_keeper::{Fate, Wish};
use crate::machine::{ManagedLedger, Phase};
use crate::turn::{Effect, Turn};
use letters::{LogError, LogReply};
use std::sync::Arc;
use vocabulary::Now;

impl ManagedLedger {
    /// Seals everything, once what is under way is done.
    pub(crate) fn close(&mut self, now: Now, effects: &mut Vec<Effect>) {
        match self.phase {
            Phase::Open => {}
            Phase::Closing => return,
            Phase::Opening(_) => {
                let error = LogError::Io(format!(
                    "the log of {} was closed while it was being opened",
                    self.topic
                ));
                self.phase = Phase::Gone;
                effects.push(Effect::Reply(LogReply::OpenFailed { error }));
                return effects.push(Effect::Reply(LogReply::Closed));
            }
            Phase::Deleting(_) => return,
            Phase::Gone => return effects.push(Effect::Reply(LogReply::Closed)),
        }
        self.phase = Phase::Closing;
        let names: Vec<Arc<str>> = self.cursors.keys().cloned().collect();
        for name in names {
            let Some(keeper) = self.cursors.get_mut(&name) else {
                continue;
            };
            match keeper.wish(
                &mut Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                },
                Wish::Close,
            ) {
                Fate::Kept => {}
                Fate::Ended => drop(self.cursors.remove(&name)),
                Fate::Taken(text) => return self.lose_to_another(now, &text, effects),
            }
        }
        self.advance(now, effects);
    }

    pub(crate) fn give_up_closing(
        &mut self,
        now: Now,
        error: &LogError,
        effects: &mut Vec<Effect>,
    ) {
        self.phase = Phase::Gone;
        self.refuse_late(effects);
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        for keeper in self.cursors.values_mut() {
            keeper.lose(&mut turn, error);
        }
        self.cursors.clear();
        turn.reply(match self.doomed {
            true => LogReply::Deleted {
                result: Err(error.clone()),
            },
            false => LogReply::Closed,
        });
    }
}

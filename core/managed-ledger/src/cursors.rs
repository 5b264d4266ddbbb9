//! What the topic wants of its cursors, handed to their keepers.

use crate::cursor_keeper::{CursorKeeper, Fate, Wish};
use crate::machine::{ManagedLedger, Phase};
use crate::storage::Answer;
use crate::turn::{Effect, Turn};
use letters::{LogError, LogReply};
use std::sync::Arc;
use vocabulary::Now;
use vocabulary::name::url_encode;

impl ManagedLedger {
    pub(crate) fn wish(&mut self, now: Now, name: &str, wish: Wish, effects: &mut Vec<Effect>) {
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        if !matches!(self.phase, Phase::Open) {
            return refuse(
                &mut turn,
                name,
                wish,
                &LogError::Io(format!("the log of {} is not open", self.topic)),
            );
        }
        if !self.cursors.contains_key(name) {
            if !matches!(wish, Wish::Create { .. }) {
                return self.wish_of_nobody(now, name, wish, effects);
            }
            let path = format!("{}/{}", self.path, url_encode(name));
            let name: Arc<str> = name.into();
            let keeper = CursorKeeper::new(
                name.clone(),
                path,
                &self.topic.persistence_name(),
                self.settings.clone(),
            );
            self.cursors.insert(name, keeper);
        }
        let Some(keeper) = self.cursors.get_mut(name) else {
            return;
        };
        let fate = keeper.wish(&mut turn, wish);
        self.met(now, name, fate, effects);
    }

    fn wish_of_nobody(&mut self, now: Now, name: &str, wish: Wish, effects: &mut Vec<Effect>) {
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        match wish {
            Wish::Delete { ticket } => {
                turn.reply(LogReply::CursorDeleted {
                    ticket,
                    name: name.to_owned(),
                    result: Ok(()),
                });
            }
            wish => refuse(
                &mut turn,
                name,
                wish,
                &LogError::Io(format!("cursor {name} does not exist: create it first")),
            ),
        }
    }

    pub(crate) fn cursor_answered(
        &mut self,
        now: Now,
        name: &str,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        let Some(keeper) = self.cursors.get_mut(name) else {
            return;
        };
        let fate = keeper.answered(
            &mut Turn {
                now,
                tags: &mut self.tags,
                effects,
            },
            answer,
        );
        self.met(now, name, fate, effects);
    }

    fn met(&mut self, now: Now, name: &str, fate: Fate, effects: &mut Vec<Effect>) {
        match fate {
            Fate::Kept => {}
            Fate::Ended => {
                self.cursors.remove(name);
                self.advance(now, effects);
            }
            Fate::Taken(text) => self.lose_to_another(now, &text, effects),
        }
    }
}

fn refuse(turn: &mut Turn, name: &str, wish: Wish, error: &LogError) {
    match wish {
        Wish::Create { ticket, .. } | Wish::Save { ticket, .. } => {
            turn.cursor_saved(ticket, name, Err(error.clone()))
        }
        Wish::Delete { ticket } => {
            turn.reply(LogReply::CursorDeleted {
                ticket,
                name: name.to_owned(),
                result: Err(error.clone()),
            });
        }
        Wish::Close => {}
    }
}

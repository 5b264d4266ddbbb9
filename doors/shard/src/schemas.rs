//! The registry of schemas beside the topics of a shard: its letters, and its share of the two stores.
//!
//! Its calls carry the tickets of a log that is never opened: [`REGISTRY`] in the upper half.

use crate::{Shard, ShardOutputs, Work};
use ledger_store::LedgerReply;
use letters::{SchemaAsk, SessionLetter, ToSession};
use managed_ledger::Tag;
use metadata_store::MetadataReply;
use schema_registry::Effect;
use topic_log::translate;
use vocabulary::{Now, RequestId, SessionId, TopicName};

/// Logs are numbered from 1; nobody opens two thousand million of them.
const REGISTRY: u64 = 0x7FFF_FFFF;

impl Shard {
    pub(crate) fn schema_asked(
        &mut self,
        now: Now,
        home: &TopicName,
        session: SessionId,
        request_id: RequestId,
        ask: SchemaAsk,
        outputs: &mut ShardOutputs,
    ) {
        let mut effects = Vec::new();
        self.schemas
            .asked(now, home, session, request_id, ask, &mut effects);
        self.sort_schema_effects(effects, outputs);
    }

    /// Whether a reply of the ledger store is for the registry.
    pub(crate) fn is_of_schemas(&self, reply: &LedgerReply) -> bool {
        match (translate::ledger_ticket(reply), reply) {
            (Some(ticket), _) => ticket >> 32 == REGISTRY,
            (None, LedgerReply::Appended { ledger, .. }) => self.schemas.writes(*ledger),
            (None, _) => false,
        }
    }

    pub(crate) fn schema_ledger_answered(
        &mut self,
        now: Now,
        reply: LedgerReply,
        outputs: &mut ShardOutputs,
    ) {
        let tag = translate::ledger_ticket(&reply).unwrap_or(0) as Tag;
        let answer = translate::ledger_answer(reply, tag);
        let mut effects = Vec::new();
        self.schemas.answered(now, answer, &mut effects);
        self.sort_schema_effects(effects, outputs);
    }

    /// Takes a reply of the metadata store, if it is for the registry; gives it back if not.
    pub(crate) fn schema_metadata_answered(
        &mut self,
        now: Now,
        reply: MetadataReply,
        outputs: &mut ShardOutputs,
    ) -> Option<MetadataReply> {
        let ticket = translate::metadata_ticket(&reply).filter(|ticket| ticket >> 32 == REGISTRY);
        let Some(ticket) = ticket else {
            return Some(reply);
        };
        if let Some(answer) = translate::metadata_answer(reply, ticket as Tag) {
            let mut effects = Vec::new();
            self.schemas.answered(now, answer, &mut effects);
            self.sort_schema_effects(effects, outputs);
        }
        None
    }

    fn sort_schema_effects(&mut self, effects: Vec<Effect>, outputs: &mut ShardOutputs) {
        for effect in effects {
            match effect {
                Effect::Call(call) => {
                    match translate::request(call, |tag| REGISTRY << 32 | u64::from(tag)) {
                        topic_log::Effect::Ledger(request) => {
                            self.work.push_back(Work::Ledger(request))
                        }
                        topic_log::Effect::Metadata(request) => outputs.metadata.push(request),
                        topic_log::Effect::Reply(..) | topic_log::Effect::WakeAt(_) => {}
                    }
                }
                Effect::Answer {
                    session,
                    request_id,
                    result,
                } => {
                    let letter = SessionLetter::Schema { request_id, result };
                    outputs.letters.push(ToSession { session, letter });
                }
                Effect::AnswerAll {
                    session,
                    request_id,
                    result,
                } => {
                    let letter = SessionLetter::Schemas { request_id, result };
                    outputs.letters.push(ToSession { session, letter });
                }
            }
        }
    }
}

//! The notation of conversations: one line for everything that is said, by whom, to whom.
//!
//! ```text
//! # a remark
//! with message_permits_enabled=false         settings of the session; before anything else
//! client "Pulsar-Java-v4.0.0" 21             CONNECT and its answer, which are not shown
//! C: PING                                    the client sends a command
//! C: SEND producer_id=1 sequence_id=0 + "hello"       ... with an entry (see `entries`)
//! C! 00000009                                the client sends these bytes
//! T> ProducerReady request_id=1 ...          a topic writes to the session
//! at 30s                                     time passes
//! written                                    the connection takes all frames handed over so far
//! peer gone | shutdown
//!
//! B: PONG                                    the broker sends a command
//! T< persistent://public/default/t FindTopic request_id=1     the session writes to a topic
//! D< public/default persistent=true request_id=1              the session asks the directory for topics
//! => pause reading | resume reading | close: why
//! ```
//! Lines of the second kind are what is expected.

pub mod commands;
pub mod entries;
pub mod letters;

use pulsar_wire::frame::{Frame, FrameError, decode_frame, max_frame_size};
use session::{
    Action, AllowAll, Gate, OutFrame, Principal, Resource, Session, SessionEffect, SessionInput,
};
use session::{SessionSettings, WrittenFrames};
use std::sync::Arc;
use std::time::Duration;
use vocabulary::{Now, SessionId};

/// Says no to everything but what it lists.
pub struct RefuseAllBut(&'static [Action]);

impl RefuseAllBut {
    fn named(name: &str) -> Option<RefuseAllBut> {
        match name {
            "closed" => Some(RefuseAllBut(&[])),
            "connect-only" => Some(RefuseAllBut(&[Action::Connect])),
            "open-only" => Some(RefuseAllBut(&[
                Action::Connect,
                Action::OpenProducer,
                Action::Subscribe,
            ])),
            _ => None,
        }
    }
}

impl Gate for RefuseAllBut {
    fn may(
        &self,
        _: &Principal,
        action: Action,
        resource: Resource<'_>,
    ) -> Result<(), ::letters::Refusal> {
        if self.0.contains(&action) {
            return Ok(());
        }
        let what = match resource {
            Resource::Broker => "the broker".to_owned(),
            Resource::Namespace(name) => format!("namespace {name}"),
            Resource::Topic(topic) => format!("topic {topic}"),
            Resource::Subscription(topic, name) => format!("subscription {name} of {topic}"),
        };
        let text = format!("{action:?} not allowed on {what}");
        Err(::letters::Refusal::new(
            ::letters::RefusalCode::AuthorizationError,
            text,
        ))
    }
}

/// A session with its counterparts, driven line by line.
pub struct Stage {
    settings: SessionSettings,
    gate: Arc<dyn Gate>,
    session: Option<Session>,
    now: Now,
    unwritten: WrittenFrames,
}

impl Stage {
    pub fn new() -> Stage {
        let settings = SessionSettings {
            server_version: "Hulse".to_owned(),
            ..SessionSettings::advertising("pulsar://localhost:6650".to_owned(), None)
        };
        Stage {
            settings,
            gate: Arc::new(AllowAll),
            session: None,
            now: Now::at_millis(0),
            unwritten: WrittenFrames::new(),
        }
    }

    /// Plays a line of the first kind; what the session says to it.
    pub fn play(&mut self, line: &str) -> Vec<String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let input = match word {
            "with" => {
                self.set(rest);
                return Vec::new();
            }
            "client" => {
                let (version, protocol) = rest.rsplit_once(' ').expect("client \"version\" number");
                let connect =
                    format!("CONNECT client_version={version} protocol_version={protocol}");
                self.say(SessionInput::FrameArrived(commands::parse_frame(&connect)));
                return Vec::new();
            }
            "C:" => SessionInput::FrameArrived(commands::parse_frame(rest)),
            "C!" => match self.frame_of_bytes(rest) {
                Ok(frame) => SessionInput::FrameArrived(frame),
                Err(error) => SessionInput::FrameRefused(error),
            },
            "T>" => SessionInput::LetterCame(letters::parse(rest)),
            "at" => {
                let millis = rest
                    .strip_suffix('s')
                    .and_then(|seconds| seconds.parse::<f64>().ok());
                self.now = Now::at_millis((millis.expect("a number of seconds") * 1000.0) as u64);
                SessionInput::TimeCame
            }
            "written" => SessionInput::FramesWritten(std::mem::take(&mut self.unwritten)),
            "peer" => SessionInput::PeerGone,
            "shutdown" => SessionInput::ShutdownBegan,
            _ => panic!("not a line of a conversation: {line}"),
        };
        self.say(input)
    }

    fn set(&mut self, line: &str) {
        assert!(self.session.is_none(), "settings come first: {line}");
        let number = |value: &str| value.parse::<u64>().expect("a number");
        for (name, value) in line
            .split(' ')
            .map(|pair| pair.split_once('=').expect("name=value"))
        {
            match name {
                "gate" => {
                    self.gate = Arc::new(RefuseAllBut::named(value).expect("a gate of that name"))
                }
                "message_permits_enabled" => {
                    self.settings.message_permits_enabled = value == "true"
                }
                "max_message_size" => self.settings.max_message_size = number(value) as u32,
                "pending_publishes_max" => self.settings.pending_publishes_max = number(value),
                "passing_publishes_max" => {
                    self.settings.passing_publishes_max = number(value) as usize
                }
                "liveness_probe_timeout_s" => {
                    self.settings.liveness_probe_timeout = Duration::from_secs(number(value));
                }
                "pending_requests_max" => self.settings.pending_requests_max = number(value),
                "unwritten_answer_bytes_max" => {
                    self.settings.unwritten_answer_bytes_max = number(value)
                }
                "handles_max" => self.settings.handles_max = number(value) as usize,
                "watches_max" => self.settings.watches_max = number(value) as usize,
                "topic_watchers_offered" => self.settings.topic_watchers_offered = value == "true",
                "topics_patterns_evaluated" => {
                    self.settings.topics_patterns_evaluated = value == "true"
                }
                "broker_service_url" => {
                    let tls = Some(
                        value
                            .replace("pulsar:", "pulsar+ssl:")
                            .replace("6650", "6651"),
                    );
                    let settings = SessionSettings::advertising(value.to_owned(), tls);
                    self.settings.broker_service_url = settings.broker_service_url;
                    self.settings.broker_service_url_tls = settings.broker_service_url_tls;
                    self.settings.proxy_through_service_url = settings.proxy_through_service_url;
                }
                other => panic!("no setting {other}"),
            }
        }
    }

    fn frame_of_bytes(&self, hex: &str) -> Result<Frame, FrameError> {
        let mut bytes = bytes::BytesMut::from(entries::from_hex(hex).as_slice());
        let frame = decode_frame(&mut bytes, max_frame_size(self.settings.max_message_size))?;
        Ok(frame.expect("a whole frame"))
    }

    fn say(&mut self, input: SessionInput) -> Vec<String> {
        let session = self.session.get_or_insert_with(|| {
            let settings = Arc::new(self.settings.clone());
            let address = "client:1".to_owned();
            Session::new(
                SessionId(7),
                settings,
                self.gate.clone(),
                address,
                Now::at_millis(0),
            )
        });
        let mut effects = Vec::new();
        session.handle(self.now, input, &mut effects);
        effects
            .iter()
            .filter_map(|effect| print(effect, &mut self.unwritten))
            .collect()
    }
}

fn print(effect: &SessionEffect, unwritten: &mut WrittenFrames) -> Option<String> {
    Some(match effect {
        SessionEffect::SendFrame(OutFrame {
            command,
            payload,
            token,
        }) => {
            unwritten.add(*token);
            let entry = payload
                .as_ref()
                .map(|entry| format!(" + {}", entries::print(entry)));
            format!(
                "B: {}{}",
                commands::print(command),
                entry.unwrap_or_default()
            )
        }
        SessionEffect::WriteLetter(letter) => {
            assert_eq!(letter.session, SessionId(7));
            format!("T< {} {}", letter.topic, letters::print(&letter.letter))
        }
        SessionEffect::AskDirectory(question) => {
            let pattern = question.pattern.as_ref();
            let pattern = pattern.map_or(String::new(), |pattern| format!(" pattern={pattern:?}"));
            let watch = question.watcher_id;
            let watch = watch.map_or(String::new(), |watcher| format!(" watcher_id={watcher}"));
            format!(
                "D< {} persistent={} non_persistent={}{pattern}{watch} request_id={}",
                question.namespace,
                question.persistent,
                question.non_persistent,
                question.request_id
            )
        }
        SessionEffect::EndWatch { watcher_id } => format!("D< end of watch {watcher_id}"),
        SessionEffect::WakeAt(_) => return None,
        SessionEffect::PauseReading => "=> pause reading".to_owned(),
        SessionEffect::ResumeReading => "=> resume reading".to_owned(),
        SessionEffect::Close { reason } => format!("=> close: {reason}"),
    })
}

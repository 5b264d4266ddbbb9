//! The two places where what is said is changed, because the client would otherwise leave the proxy.
//!
//! A LOOKUP_RESPONSE names the broker to connect to. It is given `proxy_through_service_url`, the protocol's own way to
//! say "stay where you are": the client then connects to the proxy again and names the broker in CONNECT, which is how
//! the proxy learns whom to reach, also in a cluster. That name is taken out of CONNECT again, for the broker has not
//! asked for it. Expectation: pulsar-flex knows no such flag and goes to the url it is given, so it is given the proxy's.
//! CLOSE commands with an assigned url would lead away likewise; without it the client looks up again.

use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandConnect};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Brokers that clients were sent to through the proxy; a cluster has no more than this many.
const BROKERS_MAX: usize = 10_000;

/// What is known of the way, for all connections.
pub struct Detour {
    /// The url that clients reach the proxy by.
    own_url: String,
    /// `host:port` of brokers whose name in CONNECT is our doing.
    flagged: Mutex<BTreeSet<String>>,
}

impl Detour {
    pub fn by(own_url: String) -> Detour {
        Detour {
            own_url,
            flagged: Mutex::new(BTreeSet::new()),
        }
    }

    /// Whom the client wants to reach, `host:port`, if it names anybody; what it says to them. True if it is changed.
    pub fn depart(&self, connect: &mut CommandConnect) -> (Option<String>, bool) {
        let Some(broker) = connect.proxy_to_broker_url.clone() else {
            return (None, false);
        };
        let flagged = self.flagged.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = flagged.contains(&broker);
        if ours {
            connect.proxy_to_broker_url = None;
        }
        (Some(broker), ours)
    }

    /// Keeps the client here. True if the command is changed.
    pub fn keep_here(&self, command: &mut BaseCommand, client_version: &str) -> bool {
        match &mut command.cmd {
            Some(Cmd::LookupTopicResponse(response)) => {
                let Some(url) = response.broker_service_url.clone() else {
                    return false;
                };
                if client_version.contains("Flex") {
                    response.broker_service_url = Some(self.own_url.clone());
                    return true;
                }
                if response.proxy_through_service_url == Some(true) {
                    return false;
                }
                self.flag(&url);
                response.proxy_through_service_url = Some(true);
                true
            }
            Some(Cmd::CloseProducer(close)) => {
                let led_away = close.assigned_broker_service_url.take().is_some();
                close.assigned_broker_service_url_tls.take().is_some() || led_away
            }
            Some(Cmd::CloseConsumer(close)) => {
                let led_away = close.assigned_broker_service_url.take().is_some();
                close.assigned_broker_service_url_tls.take().is_some() || led_away
            }
            _ => false,
        }
    }

    fn flag(&self, url: &str) {
        let mut flagged = self.flagged.lock().unwrap_or_else(PoisonError::into_inner);
        if flagged.len() < BROKERS_MAX {
            flagged.insert(host_and_port(url).to_owned());
        }
    }
}

/// `pulsar://host:port` without its scheme.
pub fn host_and_port(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

//! Pages about this broker and its configuration. There is one broker, so it leads and owns everything.

use super::Pages;
use super::answer::Answer;
use serde_json::{Map, Value, json};

impl Pages {
    /// The answer to a path below `brokers`; `None`: it is none of these.
    pub(super) async fn broker_page(&self, method: &str, rest: &[&str]) -> Option<Answer> {
        Some(match (method, rest) {
            ("GET", ["health" | "healthcheck"]) => self.health().await,
            ("GET", ["ready"]) => Answer::text("ok".to_owned()),
            ("GET", ["version"]) => Answer::text(env!("CARGO_PKG_VERSION").to_owned()),
            ("GET", ["leaderBroker"]) => Answer::json(&json!({
                "serviceUrl": self.web_url,
                "brokerId": self.broker_id(),
            })),
            // Nothing can be changed while it runs, so there is nothing to list.
            ("GET", ["configuration"]) => Answer::json(&[""; 0]),
            ("GET", ["configuration", "values"]) => Answer::json(&json!({})),
            ("GET", ["configuration", "runtime"]) => self.configuration(),
            ("POST", ["configuration", _, _]) => {
                Answer::refused(412, "Can't update non-dynamic configuration")
            }
            ("DELETE", ["configuration", _]) => {
                Answer::refused(412, "Can't delete non-dynamic configuration")
            }
            ("GET", ["internal-configuration"]) => self.internal_configuration(),
            // Whatever cluster is named, as in Pulsar.
            ("GET", [cluster]) if *cluster == "backlog-quota-check" => return None,
            ("GET", [] | [_]) => Answer::json(&[self.broker_id()]),
            _ => return None,
        })
    }

    /// Every key with the value that it has, secrets hidden.
    fn configuration(&self) -> Answer {
        let pairs = self.house.settings.configuration.iter();
        let all: Map<String, Value> = pairs
            .map(|(key, value)| (key.clone(), Value::from(value.clone())))
            .collect();
        Answer::json(&all)
    }

    fn internal_configuration(&self) -> Answer {
        let directory = self.house.settings.data_directory.display();
        let store = format!("hulse://{directory}");
        Answer::json(&json!({
            "zookeeperServers": store,
            "configurationStoreServers": store,
            "metadataStoreUrl": store,
            "configurationMetadataStoreUrl": store,
            "ledgersRootPath": "/ledgers",
        }))
    }
}

//! The admin surface, asked what Apache Pulsar was asked: `tests/data/admin-of-pulsar-4.0.8.tsv` is what a real Pulsar
//! 4.0.8 answered, in this order.

use crate::support::Broker;
use answers::differences::Difference;
use answers::{Asker, Differences, Table, mismatches};
use serde_json::Value;
use std::collections::BTreeSet;

/// Status, the `Warning` header if there is one, and the body.
fn call(broker: &Broker, method: &str, path: &str, body: &str) -> (u16, Option<String>, String) {
    let said = answers::call::call(&broker.web, method, path, body).unwrap();
    let mut headers = said.headers.into_iter();
    let warning = headers.find(|(name, _)| name == "warning");
    (said.status, warning.map(|(_, text)| text), said.body)
}

/// The table, as Pulsar answered; where Hulse answers otherwise, `docs/differences.md` says why.
#[test]
fn it_answers_as_pulsar_does() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let table = Table::parse(include_str!("../data/admin-of-pulsar-4.0.8.tsv")).unwrap();
    let page = include_str!("../../../../docs/differences.md");
    let differences = Differences::parse(page).unwrap().of_calls();
    let mut asker = Asker::new(&broker.web);
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    for row in &table.rows {
        if row.is_send() {
            broker.produce(&row.path, &row.messages());
            continue;
        }
        let said = asker.ask(row).unwrap();
        let found = mismatches((row.status, &row.answer), (said.status, &said.body));
        let left = differences.unexplained(&row.name(), found, &mut met);
        wrong.extend(left.into_iter().map(|left| (row.name(), left)));
    }
    assert_eq!(wrong, []);
    assert_eq!(differences.stale(&met), Vec::<&Difference>::new());
    assert!(table.rows.len() > 250, "{}", table.rows.len());
}

#[test]
fn policies_that_do_not_act_are_stored_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let path = "/admin/v2/namespaces/public/default/messageTTL";
    let (status, warning, _) = call(&broker, "POST", path, "60");
    assert_eq!(status, 204);
    let warning = warning.unwrap();
    assert!(
        warning.contains("not acting in this version: message_ttl_in_seconds"),
        "{warning}"
    );
    let body = r#"{"retention_policies":{"retentionTimeInMinutes":1,"retentionSizeInMB":1},"bundles":{"numBundles":8}}"#;
    let (status, warning, _) = call(&broker, "PUT", "/admin/v2/namespaces/public/n", body);
    assert_eq!(status, 204);
    assert!(
        warning
            .unwrap()
            .ends_with(r#"version: retention_policies""#)
    );
    let (_, _, policies) = call(&broker, "GET", "/admin/v2/namespaces/public/n", "");
    let policies: Value = serde_json::from_str(&policies).unwrap();
    assert_eq!(
        policies["bundles"]["boundaries"].as_array().unwrap().len(),
        9
    );
    assert_eq!(policies["retention_policies"]["retentionSizeInMB"], 1);
}

#[test]
fn bodies_and_paths_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["maxNumPartitionsPerPartitionedTopic=5"]);
    let status = |method: &str, path: &str, body: &str| call(&broker, method, path, body).0;
    assert_eq!(status("PUT", "/admin/v2/tenants/t", "{bad"), 400);
    assert_eq!(status("PUT", "/admin/v2/tenants/..", "{}"), 412);
    assert_eq!(status("PUT", "/admin/v2/namespaces/public/..", ""), 412);
    assert_eq!(status("PUT", "/admin/v2/namespaces/public/n", "[]"), 412);
    let partitions = "/admin/v2/persistent/public/default/p/partitions";
    assert_eq!(status("PUT", partitions, "many"), 400);
    assert_eq!(status("PUT", partitions, "-1"), 406);
    assert_eq!(status("PUT", partitions, "6"), 406);
    assert_eq!(status("PUT", partitions, "99999999999"), 406);
    assert_eq!(
        status(
            "PUT",
            partitions,
            r#"{"partitions":5,"properties":{"a":"b"}}"#
        ),
        204
    );
    let long = "x".repeat(2 << 20);
    assert_eq!(
        status(
            "POST",
            "/admin/v2/namespaces/public/default/properties",
            &long
        ),
        413
    );
    assert_eq!(status("PATCH", "/admin/v2/tenants/public", ""), 501);
    // A topic's partitions survive a stop and take messages.
    broker.produce("p-partition-4", &["one"]);
    broker.signal("TERM");
    let broker = Broker::start(folder.path(), &[]);
    let (_, _, body) = call(&broker, "GET", partitions, "");
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap()["partitions"],
        5
    );
    assert_eq!(broker.consume("p-partition-4", 1, &["-s", "s"]), ["one"]);
}

#[test]
fn topics_are_deleted_with_all_they_held() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let base = "/admin/v2/persistent/public/default";
    let delete = |path: &str| {
        let (status, _, body) = call(&broker, "DELETE", &format!("{base}/{path}"), "");
        (status, body)
    };
    broker.produce("plain", &["one", "two"]);
    broker.consume("plain", 1, &["-s", "s"]);
    assert_eq!(delete("plain").0, 204);
    assert_eq!(
        delete("plain"),
        (
            404,
            r#"{"reason":"Topic persistent://public/default/plain not found"}"#.to_owned()
        )
    );
    broker.produce("plain", &["three"]);
    assert_eq!(broker.consume("plain", 1, &["-s", "s"]), ["three"]);

    let partitions = format!("{base}/wide/partitions");
    assert_eq!(call(&broker, "PUT", &partitions, "2").0, 204);
    broker.produce("wide-partition-1", &["one"]);
    let (status, body) = delete("wide");
    assert!(
        status == 409 && body.contains("please call delete-partitioned-topic"),
        "{status} {body}"
    );
    let (status, body) = delete("plain/partitions");
    assert!(
        status == 409 && body.contains("please call delete."),
        "{status} {body}"
    );
    assert_eq!(delete("wide/partitions").0, 204);
    assert_eq!(delete("wide/partitions").0, 404);
    let topics = call(&broker, "GET", base, "").2;
    assert_eq!(topics, r#"["persistent://public/default/plain"]"#);
    broker.signal("TERM");
    let broker = Broker::start(folder.path(), &[]);
    assert_eq!(call(&broker, "GET", base, "").2, topics);
    assert_eq!(call(&broker, "GET", &partitions, "").0, 404);
}

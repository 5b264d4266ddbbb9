//! The HTTP pages of the real process.

use crate::support::Broker;

#[test]
fn clients_find_topics_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    broker.produce("with space", &["x"]);
    let (status, body) = broker.get("/lookup/v2/topic/persistent/public/default/with+space");
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains(&format!("\"brokerUrl\":\"{}\"", broker.url)),
        "{body}"
    );
    assert!(body.contains("\"brokerUrlTls\":\"\""), "{body}");
    assert!(
        body.contains(&format!("\"httpUrl\":\"http://{}\"", broker.web)),
        "{body}"
    );

    let path = "/admin/v2/persistent/public/default/with%20space/partitions";
    assert_eq!(
        broker.get(path),
        (200, r#"{"deleted":false,"partitions":0}"#.to_owned())
    );
    let absent = "/admin/v2/persistent/public/default/absent/partitions";
    assert_eq!(broker.get(absent).0, 404);
    assert_eq!(
        broker
            .get(&format!("{absent}?checkAllowAutoCreation=true"))
            .0,
        200
    );

    let topics = "/admin/v2/namespaces/public/default/topics";
    assert_eq!(
        broker.get(topics).1,
        r#"["persistent://public/default/with space"]"#
    );
    assert_eq!(
        broker.get(&format!("{topics}?mode=ALL")).1,
        r#"["persistent://public/default/with space"]"#
    );
    assert_eq!(broker.get(&format!("{topics}?mode=NON_PERSISTENT")).1, "[]");
    let (status, body) = broker.get("/admin/v2/schemas/public/default/t/schema");
    assert!(
        status == 404 && body.starts_with(r#"{"reason":"Schema not found"#),
        "{body}"
    );
}

#[test]
fn a_fresh_broker_has_pulsars_tenants_and_namespaces() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["clusterName=here"]);
    assert_eq!(broker.get("/admin/v2/clusters").1, r#"["here"]"#);
    assert_eq!(broker.get("/admin/v2/tenants").1, r#"["public","pulsar"]"#);
    assert_eq!(
        broker.get("/admin/v2/namespaces/public").1,
        r#"["public/default"]"#
    );
    assert_eq!(
        broker.get("/admin/v2/namespaces/pulsar").1,
        r#"["pulsar/system"]"#
    );
    assert_eq!(broker.get("/admin/v2/namespaces/nobody").0, 404);
    assert_eq!(broker.get("/admin/v2/namespaces/nobody/n/topics").0, 404);
}

#[test]
fn bad_names_and_unserved_paths_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    for (path, status, reason) in [
        (
            "/lookup/v2/topic/persistent/pub%lic/default/t",
            412,
            "Invalid tenant",
        ),
        ("/lookup/v2/topic/kafka/public/default/t", 412, "kafka"),
        ("/lookup/v2/topic/persistent/public/default/%zz", 412, "%zz"),
        (
            "/lookup/v2/topic/persistent/nobody/n/t",
            404,
            "Namespace not found",
        ),
        (
            "/admin/v2/bookies/all",
            404,
            "/admin/v2/bookies/all is not served",
        ),
        ("/", 404, "/ is not served"),
    ] {
        let (found, body) = broker.get(path);
        assert_eq!(found, status, "{path}: {body}");
        assert!(
            body.starts_with("{\"reason\":") && body.contains(reason),
            "{path}: {body}"
        );
    }
}

#[test]
fn health_goes_through_every_desk_and_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["hulse.shards=3"]);
    for path in [
        "/admin/v2/brokers/health",
        "/admin/v2/brokers/healthcheck",
        "/admin/v2/brokers/ready",
    ] {
        assert_eq!(broker.get(path), (200, "ok".to_owned()), "{path}");
    }
}

#[test]
fn figures_follow_the_messages() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    broker.produce("t", &["a", "b", "c"]);
    broker.consume("t", 1, &["-s", "s", "-t", "shared"]);
    let labels =
        r#"{cluster="standalone",namespace="public/default",topic="persistent://public/default/t""#;
    for (name, more, value) in [
        ("pulsar_in_messages_total", "}", 3.0),
        ("pulsar_msg_backlog", "}", 2.0),
        ("pulsar_producers_count", "}", 0.0),
        ("pulsar_subscriptions_count", "}", 1.0),
        ("pulsar_subscription_back_log", r#",subscription="s"}"#, 2.0),
    ] {
        assert_eq!(
            broker.metric(&format!("{name}{labels}{more}")),
            Some(value),
            "{name}"
        );
    }
    assert!(broker.metric("hulse_desk_turn_seconds_count").unwrap() > 0.0);
    assert!(broker.metric("hulse_journal_commit_seconds_count").unwrap() > 0.0);
    let (status, body) = broker.get("/admin/v2/persistent/public/default/t/stats");
    assert_eq!(status, 200);
    assert!(
        body.contains(r#""msgInCounter":3"#) && body.contains(r#""msgBacklog":2"#),
        "{body}"
    );
}

use crate::detour::{Detour, host_and_port};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    BaseCommand, CommandCloseConsumer, CommandConnect, CommandLookupTopicResponse,
};
use transcript::print_command;

fn lookup(proxied: Option<bool>) -> BaseCommand {
    BaseCommand::new(Cmd::LookupTopicResponse(CommandLookupTopicResponse {
        broker_service_url: Some("pulsar://b1:6650".to_owned()),
        proxy_through_service_url: proxied,
        ..CommandLookupTopicResponse::default()
    }))
}

#[test]
fn a_client_that_is_sent_to_a_broker_comes_back_and_names_it() {
    let detour = Detour::by("pulsar://proxy:1".to_owned());
    let mut response = lookup(None);
    assert!(detour.keep_here(&mut response, "Pulsar-Java-v4.0.13"));
    assert_eq!(
        print_command(&response),
        r#"LOOKUP_RESPONSE brokerServiceUrl="pulsar://b1:6650" proxy_through_service_url=true"#
    );
    let mut connect = CommandConnect {
        proxy_to_broker_url: Some("b1:6650".to_owned()),
        ..CommandConnect::default()
    };
    let (broker, changed) = detour.depart(&mut connect);
    assert_eq!((broker.as_deref(), changed), (Some("b1:6650"), true));
    assert_eq!(connect.proxy_to_broker_url, None);
}

#[test]
fn a_flag_that_is_the_brokers_own_stays_as_it_is() {
    let detour = Detour::by("pulsar://proxy:1".to_owned());
    assert!(!detour.keep_here(&mut lookup(Some(true)), "Pulsar-CPP-v4"));
    let mut connect = CommandConnect {
        proxy_to_broker_url: Some("b1:6650".to_owned()),
        ..CommandConnect::default()
    };
    let (broker, changed) = detour.depart(&mut connect);
    assert_eq!((broker.as_deref(), changed), (Some("b1:6650"), false));
    assert!(connect.proxy_to_broker_url.is_some());
}

#[test]
fn a_client_without_the_flag_is_given_the_proxys_url() {
    let detour = Detour::by("pulsar://proxy:1".to_owned());
    let mut response = lookup(Some(true));
    assert!(detour.keep_here(&mut response, "Pulsar Flex Nodejs Client v0.0.0"));
    assert!(print_command(&response).contains(r#"brokerServiceUrl="pulsar://proxy:1""#));
}

#[test]
fn a_close_leads_nobody_away() {
    let detour = Detour::by("pulsar://proxy:1".to_owned());
    let mut close = BaseCommand::new(Cmd::CloseConsumer(CommandCloseConsumer {
        consumer_id: Some(1),
        request_id: Some(u64::MAX),
        assigned_broker_service_url: Some("pulsar://b2:6650".to_owned()),
        ..CommandCloseConsumer::default()
    }));
    assert!(detour.keep_here(&mut close, ""));
    assert_eq!(
        print_command(&close),
        "CLOSE_CONSUMER consumer_id=1 request_id=-1"
    );
}

#[test]
fn urls_are_cut_to_host_and_port() {
    assert_eq!(host_and_port("pulsar://h:1"), "h:1");
    assert_eq!(host_and_port("pulsar://[::1]:1/x"), "[::1]:1");
    assert_eq!(host_and_port("h:1"), "h:1");
}

use crate::registry::{Limits, Registry};
use letters::{SessionLetter, ToSession};
use std::net::{IpAddr, Ipv4Addr};
use vocabulary::SessionId;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);
const NO_LIMITS: Limits = Limits {
    connections_max: 0,
    per_address_max: 0,
};

fn letter(session: SessionId, request_id: u64) -> ToSession {
    ToSession {
        session,
        letter: SessionLetter::TopicFound {
            request_id,
            partitions: 0,
        },
    }
}

#[test]
fn letters_come_in_one_batch_a_session_in_order() {
    let registry = Registry::default();
    let (first, mut first_box) = registry.admit(HERE, NO_LIMITS).unwrap();
    let (second, mut second_box) = registry.admit_own();
    let letters = [
        letter(first, 1),
        letter(second, 2),
        letter(first, 3),
        letter(SessionId(99), 4),
    ];
    registry.hand_out(letters.into_iter());
    let batch = first_box.try_recv().unwrap();
    assert_eq!(batch, [letter(first, 1).letter, letter(first, 3).letter]);
    assert_eq!(second_box.try_recv().unwrap().len(), 1);
    assert!(first_box.try_recv().is_err());
}

#[test]
fn limits_count_those_who_are_there() {
    let registry = Registry::default();
    let limits = Limits {
        connections_max: 3,
        per_address_max: 2,
    };
    let (first, _first) = registry.admit(HERE, limits).unwrap();
    let _second = registry.admit(HERE, limits).unwrap();
    assert!(
        registry
            .admit(HERE, limits)
            .unwrap_err()
            .contains("brokerMaxConnectionsPerIp")
    );
    let _third = registry.admit(THERE, limits).unwrap();
    assert!(
        registry
            .admit(THERE, limits)
            .unwrap_err()
            .contains("(brokerMaxConnections)")
    );
    registry.leave(first, HERE);
    assert_eq!(registry.connections(), 2);
    assert!(registry.admit(HERE, limits).is_ok());
}

#[tokio::test]
async fn the_last_one_to_leave_is_noticed() {
    let registry = std::sync::Arc::new(Registry::default());
    let (session, _letters) = registry.admit(HERE, NO_LIMITS).unwrap();
    let waiting = tokio::spawn({
        let registry = std::sync::Arc::clone(&registry);
        async move { registry.emptied().await }
    });
    registry.leave(session, HERE);
    waiting.await.unwrap();
}

use super::parcels::bytes_of;
use letters::{AckId, AckKind, TopicLetter};
use vocabulary::{AckSet, Position};

fn ack(ids: usize, remaining: Option<AckSet>) -> TopicLetter {
    let id = AckId {
        position: Position::new(1, 1),
        remaining,
    };
    TopicLetter::Ack {
        consumer_id: 1,
        request_id: None,
        kind: AckKind::Individual,
        ids: vec![id; ids],
    }
}

#[test]
fn lists_cost_what_they_hold() {
    let plain = bytes_of(&ack(1000, None));
    assert!(plain >= 16_000, "{plain}");
    let with_sets = bytes_of(&ack(1000, Some(AckSet::full(6400))));
    assert_eq!(with_sets, plain + 1000 * 6400 / 8);
    let redeliver = TopicLetter::Redeliver {
        consumer_id: 1,
        positions: vec![Position::new(1, 1); 1000],
        epoch: None,
    };
    assert_eq!(bytes_of(&redeliver), 16_000);
    assert_eq!(bytes_of(&TopicLetter::SessionGone), 0);
}

use super::desk_inbox::{DeskGone, DeskInbox, LETTER_BYTES_MAX};
use super::queue::{Queue, Taken};
use shard::{ShardAsk, ShardInput};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn ping(id: u64) -> ShardInput {
    ShardInput::Ask(ShardAsk::Ping { id })
}

fn ids(inputs: &[ShardInput]) -> Vec<u64> {
    inputs
        .iter()
        .filter_map(|input| match input {
            ShardInput::Ask(ShardAsk::Ping { id }) => Some(*id),
            _ => None,
        })
        .collect()
}

#[test]
fn a_queue_gives_all_that_waits_in_order_and_then_ends() {
    let queue = Queue::default();
    assert!(queue.push_all([1, 2]));
    assert!(queue.push(3));
    queue.close();
    assert!(!queue.push(4));
    let mut taken = Vec::new();
    assert_eq!(queue.take(&mut taken, None), Taken::Open);
    assert_eq!(taken, [1, 2, 3]);
    taken.clear();
    assert_eq!(queue.take(&mut taken, None), Taken::Ended);
    assert!(taken.is_empty());
}

#[test]
fn a_take_ends_at_its_deadline_with_nothing() {
    let queue: Queue<u8> = Queue::default();
    let mut taken = Vec::new();
    let past = Instant::now()
        .checked_sub(Duration::from_secs(1))
        .unwrap_or_else(Instant::now);
    assert_eq!(queue.take(&mut taken, Some(past)), Taken::Open);
    assert!(taken.is_empty());
}

#[test]
fn a_push_wakes_the_thread() {
    let queue = Arc::new(Queue::default());
    let waiter = Arc::clone(&queue);
    let thread = std::thread::spawn(move || {
        let mut taken = Vec::new();
        waiter.take(&mut taken, None);
        taken
    });
    queue.push(7);
    assert_eq!(thread.join().unwrap(), [7]);
}

#[test]
fn replies_come_before_letters_and_pass_where_letters_are_not_wanted() {
    let inbox = DeskInbox::default();
    let credit = inbox.try_credit(1).unwrap();
    inbox.hand_in(vec![ping(1)], credit).unwrap();
    inbox.reply([ping(2)]);
    let mut taken = Vec::new();
    inbox.take(&mut taken, false, None);
    assert_eq!(ids(&taken), [2]);
    inbox.reply([ping(3)]);
    taken.clear();
    inbox.take(&mut taken, true, None);
    assert_eq!(ids(&taken), [3, 1]);
}

#[tokio::test]
async fn letters_need_credit_which_comes_back_when_the_desk_takes_them() {
    let inbox = Arc::new(DeskInbox::default());
    let all = inbox.try_credit(LETTER_BYTES_MAX).unwrap();
    inbox.hand_in(vec![ping(1)], all).unwrap();
    assert!(inbox.try_credit(1).is_none());
    let waiting = tokio::spawn(Arc::clone(&inbox).credit(1));
    let mut taken = Vec::new();
    inbox.take(&mut taken, true, None);
    assert!(waiting.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_desk_that_is_gone_lets_nobody_wait() {
    let inbox = Arc::new(DeskInbox::default());
    let all = inbox.try_credit(LETTER_BYTES_MAX).unwrap();
    let waiting = tokio::spawn(Arc::clone(&inbox).credit(1));
    inbox.close();
    assert_eq!(waiting.await.unwrap().map(|_| ()), Err(DeskGone));
    assert_eq!(inbox.hand_in(Vec::new(), all), Err(DeskGone));
    inbox.reply([ping(1)]);
}

#[test]
fn the_largest_batch_costs_no_more_than_there_is() {
    assert_eq!(DeskInbox::cost(1, usize::MAX), LETTER_BYTES_MAX);
    assert_eq!(DeskInbox::cost(2, 1000), 1512);
}

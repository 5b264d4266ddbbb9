use crate::cache::{COPY_BYTES_MAX, TailCache};
use bytes::Bytes;
use vocabulary::Position;

fn at(entry: i64) -> Position {
    Position::new(1, entry)
}

#[test]
fn the_oldest_goes_and_the_budget_holds() {
    let mut cache = TailCache::new(4000);
    for entry in 0..100 {
        cache.keep_appended(1, at(entry), Bytes::from(vec![0; 100]));
        assert!(cache.bytes() <= 4000);
    }
    assert!(cache.get(1, at(0)).is_none());
    assert!(cache.get(1, at(99)).is_some());
    assert!(cache.len() >= 10);
    assert!(cache.get(2, at(99)).is_none(), "another log's");
}

#[test]
fn a_reader_of_old_entries_does_not_push_out_the_tail() {
    let mut cache = TailCache::new(4000);
    cache.keep_appended(1, at(500), Bytes::from_static(b"tail"));
    for entry in 0..100 {
        cache.keep_read(1, at(entry), &Bytes::from(vec![0; 100]));
    }
    assert!(cache.get(1, at(500)).is_some());
    assert!(cache.bytes() <= 4000);
}

#[test]
fn what_is_larger_than_the_budget_is_not_kept() {
    let mut cache = TailCache::new(400);
    cache.keep_appended(1, at(0), Bytes::from(vec![0; 400]));
    assert!(cache.is_empty() && cache.bytes() == 0);
}

#[test]
fn small_bodies_leave_their_buffer_and_large_ones_do_not() {
    let buffer = Bytes::from(vec![7; 64 * 1024]);
    let small = TailCache::detached(&buffer.slice(..COPY_BYTES_MAX));
    assert_eq!(small, buffer.slice(..COPY_BYTES_MAX));
    assert_ne!(small.as_ptr(), buffer.as_ptr());
    assert_eq!(TailCache::detached(&buffer).as_ptr(), buffer.as_ptr());
}

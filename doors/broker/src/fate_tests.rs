use crate::fate::Fate;

#[tokio::test]
async fn a_thread_that_panics_is_the_end_and_says_why() {
    let fate = Fate::default();
    let thread = fate
        .spawn("hulse-desk-7", || panic!("Invariant: two and two"))
        .unwrap();
    let why = fate.failed().await;
    assert!(
        why.contains("hulse-desk-7") && why.contains("Invariant: two and two"),
        "{why}"
    );
    thread.join().unwrap();
}

#[tokio::test]
async fn the_first_failure_is_the_one_that_is_told() {
    let fate = Fate::default();
    fate.fail("the disk".to_owned());
    fate.fail("everything after it".to_owned());
    assert_eq!(fate.failed().await, "the disk");
}

use super::{Played, ROWS, text};

fn all_but(scenario: &str) -> Played {
    let mut played = Played::default();
    for (_, row) in ROWS {
        if row != scenario {
            played.take("one", &format!("ok {row}\n"));
            played.take("two", &format!("ok {row}\n"));
        }
    }
    played
}

fn page(played: &Played) -> anyhow::Result<String> {
    text(
        &[("one", "One".to_owned()), ("two", "Two".to_owned())],
        played,
    )
}

#[test]
fn what_was_played_what_fails_and_what_a_client_lacks_is_told_apart() {
    let mut played = all_but("seek");
    played.take(
        "one",
        "gap seek: it cannot: ever\nFAILED readers: why\nsome noise\n",
    );
    played.take(
        "two",
        "gap seek: it cannot: ever\nok something_else\ngap not_this: why\n",
    );
    let page = page(&played).expect("a page");
    assert!(
        page.contains("| | One | Two |\n| --- | --- | --- |\n"),
        "{page}"
    );
    assert!(
        page.contains("| Seek by id and by time | gap (1) | gap (1) |"),
        "{page}"
    );
    assert!(page.contains("\n1. it cannot: ever\n"), "{page}");
    assert!(
        !page.contains("\n2. "),
        "one reason is written once: {page}"
    );
    assert!(page.contains("| Readers | **fails** | yes |"), "{page}");
    assert!(page.contains("- Two: `something_else`\n"), "{page}");
}

#[test]
fn a_client_that_is_silent_about_a_row_is_an_error() {
    let mut played = all_but("seek");
    played.take("one", "ok seek\n");
    let problem = page(&played).expect_err("two says nothing").to_string();
    assert_eq!(problem, "two neither plays 'seek' nor says what it lacks");
}

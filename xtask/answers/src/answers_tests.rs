use crate::{Differences, Mismatch, Row, Table, mismatches, normal};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TEXT: &str = "method\tpath\tbody\tstatus\tanswer\n\
    SEND\tpersistent://a/b/c\tone|two\t\t\n\
    PUT\tclusters/c\t{\"a\":1}\t204\t\n\
    GET\tclusters/c\t\t200\t{\"a\":1}\n";

#[test]
fn a_table_is_written_as_it_was_read() {
    let table = Table::parse(TEXT).unwrap();
    assert_eq!(table.rows.len(), 3);
    assert_eq!(table.rows[0].messages(), ["one", "two"]);
    assert_eq!(table.rows[2].answer, json!({"a": 1}));
    assert_eq!(table.to_text(), TEXT);
    let wrong = Table::parse("head\nGET\tx\t\tmany\t").unwrap_err();
    assert!(wrong.starts_with("line 2: no status"), "{wrong}");
}

#[test]
fn what_differs_from_run_to_run_is_not_compared() {
    let one =
        json!({"ledgerId": 3, "entryId": 4, "at": "3:4", "names": ["b", "a"], "time": "12:30:00"});
    let other = json!({"ledgerId": 9, "entryId": 4.0, "at": "9:4", "names": ["a", "b"], "time": "12:30:00"});
    assert_eq!(mismatches((200, &one), (200, &other)), []);
    let trace = json!({"reason": "x\n\nStacktrace:\n\n at y"});
    assert_eq!(normal(&trace), json!({"reason": "*"}));
}

#[test]
fn each_field_that_differs_is_named() {
    let one = json!({"a": {"b": [1, {"c": 2}]}, "only": 1});
    let other = json!({"a": {"b": [1, {"c": 3}]}, "more": true});
    let found = mismatches((200, &one), (404, &other));
    let fields: Vec<&str> = found.iter().map(|found| found.field.as_str()).collect();
    assert_eq!(fields, ["status", "a.b.1.c", "only", "more"]);
    let whole = mismatches((200, &Value::Null), (200, &json!("x")));
    assert_eq!(whole[0].field, "body");
}

#[test]
fn a_difference_explains_its_field_and_what_is_below() {
    let page = "text\n\n| call | field | why |\n| --- | --- | --- |\n| `GET a/*` | `x.y` | so |\n| `GET b` | `*` | so |\n";
    let differences = Differences::parse(page).unwrap();
    let row = |path: &str| Row {
        method: "GET".to_owned(),
        path: path.to_owned(),
        body: String::new(),
        status: 200,
        answer: Value::Null,
    };
    let mismatch = |field: &str| Mismatch {
        field: field.to_owned(),
        expected: String::new(),
        found: String::new(),
    };
    let mut met = BTreeSet::new();
    let mut left = |path: &str, field: &str| {
        let found = vec![mismatch(field)];
        differences
            .unexplained(&row(path).name(), found, &mut met)
            .len()
    };
    assert_eq!(left("a/c", "x.y.z"), 0);
    assert_eq!(left("a/c", "x.yz"), 1);
    assert_eq!(left("b/c", "x.y"), 1);
    assert_eq!(differences.stale(&met).len(), 1);
    assert!(Differences::parse("| `GET a` | `x` | |").is_err());
}

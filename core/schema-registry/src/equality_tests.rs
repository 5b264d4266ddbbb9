use crate::equality::are_equal;
use bytes::Bytes;
use letters::SchemaText;

fn schema(kind: i32, data: &str) -> SchemaText {
    SchemaText {
        kind,
        data: Bytes::copy_from_slice(data.as_bytes()),
        properties: Vec::new(),
    }
}

fn avro(one: &str, other: &str) -> bool {
    are_equal(&schema(4, one), &schema(4, other))
}

const RECORD: &str = r#"{"type":"record","name":"R","namespace":"a.b","fields":[
    {"name":"x","type":["null","string"],"default":null},{"name":"y","type":{"type":"array","items":"E"}}]}"#;

#[test]
fn what_says_the_same_in_other_words_is_equal() {
    for other in [
        r#"{"fields":[{"type":["null","string"],"name":"x","default":null},
            {"name":"y","type":{"items":"E","type":"array"}}],"name":"R","namespace":"a.b","type":"record"}"#,
        r#"{"type":"record","name":"a.b.R","doc":"d","aliases":["Q"],"fields":[
            {"name":"x","type":["null",{"type":"string"}],"default":null,"doc":"d","order":"ascending"},
            {"name":"y","type":{"type":"array","items":"a.b.E"},"aliases":["z"]}]}"#,
    ] {
        assert!(avro(RECORD, other), "{other}");
    }
    assert!(avro(
        r#"{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}"#,
        r#"{"type":"enum","name":"E","symbols":["A","B"]}"#
    ));
}

#[test]
fn what_says_something_else_is_not() {
    for other in [
        RECORD.replace("\"x\"", "\"xx\""),
        RECORD.replace("a.b", "a.c"),
        RECORD.replace("\"default\":null", "\"default\":\"\""),
        RECORD.replace(",\"default\":null", ""),
        RECORD.replace("[\"null\",\"string\"]", "[\"string\",\"null\"]"),
        RECORD.replace("\"items\":\"E\"", "\"items\":\"string\""),
        RECORD.replace("\"name\":\"x\"", "\"name\":\"x\",\"order\":\"ignore\""),
        RECORD.replace("\"name\":\"R\"", "\"name\":\"R\",\"extra\":1"),
        "not json".to_owned(),
    ] {
        assert_ne!(RECORD, other);
        assert!(!avro(RECORD, &other), "{other}");
    }
    assert!(!avro(
        r#"{"type":"int"}"#,
        r#"{"type":"int","logicalType":"date"}"#
    ));
    assert!(!avro(r#""int""#, r#""long""#));
}

#[test]
fn types_count_and_other_schemas_are_compared_byte_by_byte() {
    assert!(!are_equal(&schema(4, RECORD), &schema(2, RECORD)));
    assert!(are_equal(&schema(1, ""), &schema(1, "")));
    assert!(!are_equal(&schema(15, "{}"), &schema(15, "{ }")));
    assert!(are_equal(&schema(2, "{}"), &schema(2, "{ }")));
}

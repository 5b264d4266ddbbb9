use super::acting::{ACTING, apply};
use super::kind::Kind;
use super::table::{Class, find, keys};
use broker::BrokerSettings;
use std::collections::BTreeSet;

#[test]
fn every_line_is_whole_and_every_key_stands_once() {
    let names: BTreeSet<&str> = keys().iter().map(|key| key.name).collect();
    assert_eq!(names.len(), keys().len());
    for key in keys() {
        let is_computed = key.default.starts_with('(');
        let is_fine = key.default.is_empty() || is_computed || key.read(key.default).is_some();
        assert!(is_fine, "{}: the default is not allowed", key.name);
        for also in &key.also {
            let is_fine = also.starts_with("..") || key.read(also).is_some();
            assert!(is_fine, "{}: '{also}' is not allowed", key.name);
        }
        let needs_note = matches!(key.class, Class::Guards | Class::Inert | Class::Partly);
        assert!(!needs_note || !key.note.is_empty(), "{}: why?", key.name);
        assert!(key.kind != Kind::Choice || !key.allowed.is_empty());
    }
}

#[test]
fn exactly_the_keys_that_act_have_a_setting() {
    let mut told: Vec<&str> = keys()
        .iter()
        .filter(|key| key.acts())
        .map(|key| key.name)
        .collect();
    let mut acting: Vec<&str> = ACTING.iter().map(|(name, _)| *name).collect();
    told.sort_unstable();
    acting.sort_unstable();
    assert_eq!(told, acting);
}

#[test]
fn the_defaults_of_the_table_are_those_of_the_broker() {
    let mut settings = BrokerSettings::default();
    for (name, _) in ACTING {
        let key = find(name).unwrap();
        apply(name, key.read(key.default).unwrap(), &mut settings).unwrap();
        assert_eq!(settings, BrokerSettings::default(), "{name}");
    }
    assert!(settings.topics.batch_index_acks);
}

#[test]
fn every_allowed_number_has_a_setting_of_its_own() {
    for (name, _) in ACTING {
        let key = find(name).unwrap();
        let ends: Vec<String> = match key.kind {
            Kind::Switch => vec!["true".into(), "false".into()],
            Kind::Port => vec!["0".into(), "65535".into()],
            Kind::Int | Kind::Long => {
                let words = key.expected();
                let mut numbers = words.split(' ').filter(|word| word.parse::<i64>().is_ok());
                [numbers.next(), numbers.next()]
                    .map(|end| end.unwrap().to_owned())
                    .to_vec()
            }
            _ => vec!["other".into()],
        };
        let both = ends.iter().map(|end| {
            let mut settings = BrokerSettings::default();
            apply(name, key.read(end).unwrap(), &mut settings)
                .unwrap_or_else(|| panic!("{name}={end}"));
            settings
        });
        let both: Vec<BrokerSettings> = both.collect();
        let default = BrokerSettings::default();
        assert!(both.iter().any(|settings| *settings != default), "{name}");
    }
}

//! The JSON schema of target files takes every target, and agrees with the reader on what a file must and may have.

use std::path::{Path, PathBuf};

use tilewright_target::TargetDescription;
use toml::{Table, Value};

use crate::json_schema::JsonSchema;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn schema() -> JsonSchema {
    JsonSchema::from_text(tilewright_targets::SCHEMA)
}

fn verdict(schema: &JsonSchema, file: &Table) -> Result<(), String> {
    schema.check(&serde_json::to_value(file).expect("JSON"))
}

fn read(file: &Table) -> Result<(), String> {
    let text = toml::to_string(file).expect("TOML");
    TargetDescription::from_toml("changed.toml", &text).map(drop).map_err(|error| error.message)
}

fn targets() -> Vec<(String, Table)> {
    let files = std::fs::read_dir(folder()).expect("the targets").map(|entry| entry.expect("a file").path());
    let toml = files.filter(|file| file.extension().is_some_and(|end| end == "toml") && !file.ends_with("Cargo.toml"));
    toml.map(|file| {
        let text = std::fs::read_to_string(&file).expect("text");
        (file.display().to_string(), text.parse().expect("TOML"))
    })
    .collect()
}

#[test]
fn every_target_is_of_the_schema() {
    let (schema, targets) = (schema(), targets());
    assert!(targets.len() >= 16);
    for (name, table) in targets {
        assert_eq!(verdict(&schema, &table), Ok(()), "{name}");
    }
}

/// A step to a table or value within a file.
#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// The ways to all values below this one, tables and lists included.
fn ways(value: &Value, way: &[Step], found: &mut Vec<Vec<Step>>) {
    let inner: Vec<(Step, &Value)> = match value {
        Value::Table(table) => table.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in inner {
        let way: Vec<Step> = way.iter().cloned().chain([step]).collect();
        ways(value, &way, found);
        found.push(way);
    }
}

fn at<'v>(file: &'v mut Value, way: &[Step]) -> &'v mut Value {
    way.iter().fold(file, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Index(index) => &mut value[*index],
    })
}

/// The file with one change at the place that a way leads to.
fn changed(file: &Table, way: &[Step], change: impl Fn(&mut Value)) -> Table {
    let mut file = Value::Table(file.clone());
    change(at(&mut file, way));
    match file {
        Value::Table(table) => table,
        other => panic!("{other}: a file is a table"),
    }
}

/// Every key of every target left out, one at a time: the schema misses those that the reader misses.
#[test]
fn reader_and_schema_miss_the_same_keys() {
    let schema = schema();
    let (mut missed, mut free) = (0, 0);
    for (name, file) in targets() {
        let mut all = Vec::new();
        ways(&Value::Table(file.clone()), &[], &mut all);
        for way in all {
            let Some((Step::Key(key), before)) = way.split_last() else { continue };
            let without =
                changed(&file, before, |table| drop(table.as_table_mut().and_then(|table| table.remove(key))));
            let (by_schema, by_reader) = (verdict(&schema, &without), read(&without));
            let missing = by_reader.as_ref().is_err_and(|message| message.contains("missing key"));
            assert_eq!(by_schema.is_err(), missing, "{name} without {way:?}: {by_schema:?}, {by_reader:?}");
            *if missing { &mut missed } else { &mut free } += 1;
        }
    }
    assert!(missed > 1000 && free > 50, "{missed} keys are required, {free} are not");
}

/// A key that nobody knows in every table, and a table in the place of every value: both are refused by both.
#[test]
fn reader_and_schema_refuse_the_same_shapes() {
    let schema = schema();
    for (name, file) in targets() {
        let mut all = vec![Vec::new()];
        ways(&Value::Table(file.clone()), &[], &mut all);
        for way in all {
            let strange = changed(&file, &way, |value| match value {
                Value::Table(table) => drop(table.insert("nobody_knows".to_owned(), Value::Boolean(true))),
                other => *other = Value::Table(Table::new()),
            });
            let (by_schema, by_reader) = (verdict(&schema, &strange), read(&strange));
            assert!(
                by_schema.is_err() && by_reader.is_err(),
                "{name} changed at {way:?}: {by_schema:?}, {by_reader:?}"
            );
        }
    }
}

/// The schema and the reader refuse the same values of single keys.
#[test]
fn bounds_of_single_values_are_in_the_schema() {
    let schema = schema();
    let (_, file) =
        targets().into_iter().find(|(name, _)| name.ends_with("b200.toml")).expect("a target with every table");
    let cases: [(&[&str], Value); 9] = [
        (&["name"], Value::from("B 200")),
        (&["product"], Value::from("  ")),
        (&["lanes", "choices"], Value::Array(Vec::new())),
        (&["limits", "lanes_per_block"], Value::from(0)),
        (&["global", "access_bits"], Value::from(vec![8192 + 8])),
        (&["costs", "select", "cycles"], Value::from(-1.0)),
        (&["costs", "select", "evidence"], Value::from("guessed")),
        (&["throughput", "compute_units"], Value::from(-4)),
        (&["tensor", "rows"], Value::from(1 << 20)),
    ];
    for (keys, wrong) in cases {
        let way: Vec<Step> = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
        let strange = changed(&file, &way, |value| *value = wrong.clone());
        assert!(verdict(&schema, &strange).is_err() && read(&strange).is_err(), "{keys:?} = {wrong}");
    }
}

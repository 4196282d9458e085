//! Tests that the JSON schema of target files accepts every target, and agrees with the reader on required and valid
//! keys.

use std::path::{Path, PathBuf};

use tilewright_target::TargetDescription;
use toml::{Table, Value};

use crate::json_schema::JsonSchema;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn schema() -> JsonSchema {
    JsonSchema::from_text(tilewright_targets::TARGET_FILE_JSON_SCHEMA)
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

/// A step from a table or list to one of its values, within a target file.
#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// Collects the paths to all values below this one, including tables and lists.
fn collect_paths(value: &Value, steps: &[Step], found: &mut Vec<Vec<Step>>) {
    let inner: Vec<(Step, &Value)> = match value {
        Value::Table(table) => table.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in inner {
        let steps: Vec<Step> = steps.iter().cloned().chain([step]).collect();
        collect_paths(value, &steps, found);
        found.push(steps);
    }
}

fn at<'v>(file: &'v mut Value, steps: &[Step]) -> &'v mut Value {
    steps.iter().fold(file, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Index(index) => &mut value[*index],
    })
}

/// Returns the target file with one change at the end of a path.
fn changed(file: &Table, steps: &[Step], change: impl Fn(&mut Value)) -> Table {
    let mut file = Value::Table(file.clone());
    change(at(&mut file, steps));
    match file {
        Value::Table(table) => table,
        other => panic!("{other}: a file is a table"),
    }
}

/// If one key of a target is removed, schema and reader report the same missing key; checked for every key of every
/// target.
#[test]
fn reader_and_schema_miss_the_same_keys() {
    let schema = schema();
    let (mut missed, mut free) = (0, 0);
    for (name, file) in targets() {
        let mut all = Vec::new();
        collect_paths(&Value::Table(file.clone()), &[], &mut all);
        for steps in all {
            let Some((Step::Key(key), before)) = steps.split_last() else { continue };
            let without =
                changed(&file, before, |table| drop(table.as_table_mut().and_then(|table| table.remove(key))));
            let (by_schema, by_reader) = (verdict(&schema, &without), read(&without));
            let missing = by_reader.as_ref().is_err_and(|message| message.contains("missing key"));
            assert_eq!(by_schema.is_err(), missing, "{name} without {steps:?}: {by_schema:?}, {by_reader:?}");
            *if missing { &mut missed } else { &mut free } += 1;
        }
    }
    assert!(missed > 1000 && free > 50, "{missed} keys are required, {free} are not");
}

/// Schema and reader both reject an unknown key in any table, and a table in the place of any value.
#[test]
fn reader_and_schema_refuse_the_same_shapes() {
    let schema = schema();
    for (name, file) in targets() {
        let mut all = vec![Vec::new()];
        collect_paths(&Value::Table(file.clone()), &[], &mut all);
        for steps in all {
            let strange = changed(&file, &steps, |value| match value {
                Value::Table(table) => drop(table.insert("nobody_knows".to_owned(), Value::Boolean(true))),
                other => *other = Value::Table(Table::new()),
            });
            let (by_schema, by_reader) = (verdict(&schema, &strange), read(&strange));
            assert!(
                by_schema.is_err() && by_reader.is_err(),
                "{name} changed at {steps:?}: {by_schema:?}, {by_reader:?}"
            );
        }
    }
}

/// Schema and reader reject the same out-of-range values of single keys.
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
        let steps: Vec<Step> = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
        let strange = changed(&file, &steps, |value| *value = wrong.clone());
        assert!(verdict(&schema, &strange).is_err() && read(&strange).is_err(), "{keys:?} = {wrong}");
    }
}

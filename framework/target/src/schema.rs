//! Generates the JSON schema of target files, `targets/target.schema.json`, from the types that the files are read
//! into.
//!
//! Editors validate and complete with it. The schema has keys, types and bounds of single values; consistency between
//! values is checked only by the reader.

use std::path::Path;

use schemars::generate::SchemaSettings;

use super::TargetDescription;

/// The schema (draft 2020-12) as JSON text with a final newline.
fn schema() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<TargetDescription>();
    schema.insert("title".to_owned(), "A target of Tilewright".into());
    format!("{:#}\n", schema.as_value())
}

#[test]
fn the_schema_in_the_tree_is_what_the_types_give() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/target.schema.json");
    let generated = schema();
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(&file, &generated).expect("the schema");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == generated, "{} differs from the types; rewrite it with TILEWRIGHT_BLESS=1", file.display());
}

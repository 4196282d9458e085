//! The JSON schema of target files, `targets/target.schema.json`, is made from the types that they are read into.
//!
//! Editors check and complete by it. It says which keys there are, of which types, and what bounds each has by itself; how values must agree
//! with each other only the reader knows.

use std::path::Path;

use schemars::generate::SchemaSettings;

use super::TargetDescription;

/// The schema (draft 2020-12) as JSON text that ends a line.
fn schema() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<TargetDescription>();
    schema.insert("title".to_owned(), "A target of Tilewright".into());
    format!("{:#}\n", schema.as_value())
}

#[test]
fn the_schema_in_the_tree_is_what_the_types_give() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/target.schema.json");
    let made = schema();
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(&file, &made).expect("the schema");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "{} is not what the types give; write it again with TILEWRIGHT_BLESS=1", file.display());
}

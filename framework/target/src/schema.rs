//! The JSON schema of target files, made from the types that they are read into.
//!
//! Editors check and complete by it. It says which keys there are, of which types, and what bounds each has by itself; how values must agree
//! with each other only the reader knows.

use schemars::generate::SchemaSettings;

use super::TargetDescription;

impl TargetDescription {
    /// The JSON schema (draft 2020-12) of a target file, as JSON text that ends a line.
    #[must_use]
    pub fn json_schema() -> String {
        let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Self>();
        schema.insert("title".to_owned(), "A target of Tilewright".into());
        format!("{:#}\n", schema.as_value())
    }
}

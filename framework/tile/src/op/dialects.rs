//! The registry of the operations that dialect files define.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use super::OpDefinition;
use super::row::File;
use crate::rules::{DialectVerifyRules, VerifyRules};
use tilewright_layout::{FamilyParameterValue, FamilySpec, parse_family_spec};
use tilewright_target::find_similar_name;

/// An error in a dialect file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {message}")]
pub struct DialectError {
    /// Name of the dialect file.
    pub file: String,
    /// The operation (row of the dialect file) with the error, and the error.
    pub message: String,
}

/// The registry of the operations of several dialects.
#[derive(Debug, Clone, Default)]
pub struct Dialects {
    /// Names of the registered dialects.
    names: BTreeSet<String>,
    operations: BTreeMap<Arc<str>, Arc<OpDefinition>>,
    /// For each earlier name of an operation or attribute, its current name.
    renamed: BTreeMap<String, String>,
    /// The default parameters of each layout family, by the family's name.
    layouts: BTreeMap<String, FamilySpec>,
    /// The rules of the verifier that rows may name, and those about layouts.
    rules: VerifyRules,
}

/// Names and texts of the built-in dialect files, which belong to no particular vendor.
const NEUTRAL: [(&str, &str); 12] = [
    ("arith.toml", include_str!("../dialects/arith.toml")),
    ("builtin.toml", include_str!("../dialects/builtin.toml")),
    ("cf.toml", include_str!("../dialects/cf.toml")),
    ("gluon.toml", include_str!("../dialects/gluon.toml")),
    ("gpu.toml", include_str!("../dialects/gpu.toml")),
    ("llvm.toml", include_str!("../dialects/llvm.toml")),
    ("math.toml", include_str!("../dialects/math.toml")),
    ("scf.toml", include_str!("../dialects/scf.toml")),
    ("tt.toml", include_str!("../dialects/tt.toml")),
    ("ttg.toml", include_str!("../dialects/ttg.toml")),
    ("tw.toml", include_str!("../dialects/tw.toml")),
    ("ub.toml", include_str!("../dialects/ub.toml")),
];

impl Dialects {
    /// The registry of the dialects of no particular vendor.
    ///
    /// # Panics
    /// Never: a test parses the files, which are part of the library.
    #[must_use]
    pub fn neutral() -> Self {
        static READ: OnceLock<Dialects> = OnceLock::new();
        let read = || {
            let mut dialects = Self::default();
            for (file, text) in NEUTRAL {
                if let Err(error) = dialects.add_dialect(file, text) {
                    panic!("{error}");
                }
            }
            dialects
        };
        READ.get_or_init(read).clone()
    }

    /// Adds rules of the verifier, which the dialect files that are added later may name.
    ///
    /// # Errors
    /// [`DialectError`] if a rule of the same name exists; nothing is added in that case.
    pub fn register_rules(&mut self, rules: &DialectVerifyRules) -> Result<(), DialectError> {
        self.rules.add_rule_set(rules).map_err(|message| DialectError { file: "rules".to_owned(), message })
    }

    /// The rules of the verifier: the neutral ones, and the registered sets.
    #[must_use]
    pub fn verify_rules(&self) -> &VerifyRules {
        &self.rules
    }

    /// Adds the operations of a dialect file, which messages call `file`. An operation replaces an earlier one of the
    /// same name. Its rows may name the neutral rules and the registered ones.
    ///
    /// # Errors
    /// [`DialectError`] if the file does not parse, or if a row names an unknown rule; nothing is added in that case.
    pub fn add_dialect(&mut self, file: &str, text: &str) -> Result<(), DialectError> {
        let wrong = |message: String| DialectError { file: file.to_owned(), message };
        let rows: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let definition = |(name, row): (&String, &super::row::Row)| {
            let definition =
                row.definition(name, &rows, &self.rules).map_err(|message| wrong(format!("`{name}`: {message}")))?;
            Ok((Arc::clone(&definition.name), Arc::new(definition)))
        };
        let read: Vec<_> = rows.operations.iter().map(definition).collect::<Result<_, _>>()?;
        let defaults = |(name, parameters): (&String, &String)| {
            let spec = parse_family_spec(&format!("#ttg.{name}<{{{parameters}}}>"));
            spec.map(|spec| (name.clone(), spec)).map_err(|error| wrong(format!("layout `{name}`: {error}")))
        };
        let layouts: Vec<_> = rows.layouts.iter().map(defaults).collect::<Result<_, _>>()?;
        self.names.insert(rows.dialect.clone());
        self.layouts.extend(layouts);
        self.operations.extend(read);
        let full = |name: &String| format!("{}.{name}", rows.dialect);
        self.renamed.extend(rows.renamed.iter().map(|(earlier, name)| (full(earlier), full(name))));
        Ok(())
    }

    /// The definition of the operation with this name; `None` if no dialect has it.
    #[must_use]
    pub fn find_definition(&self, name: &str) -> Option<&Arc<OpDefinition>> {
        self.operations.get(self.current_name(name))
    }

    /// The current name of an operation or attribute, given its current or an earlier name.
    #[must_use]
    pub fn current_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.renamed.get(name).map_or(name, String::as_str)
    }

    /// Removes the parameters that equal their defaults from a layout and from layouts in it, so that equal layouts
    /// compare equal.
    pub(crate) fn remove_layout_defaults(&self, spec: &mut FamilySpec) {
        if let Some(defaults) = self.layouts.get(&spec.name) {
            spec.attributes.retain(|name, value| defaults.attributes.get(name) != Some(value));
        }
        let inner = spec.attributes.values_mut().filter_map(|value| match value {
            FamilyParameterValue::Spec(inner) => Some(inner),
            _ => None,
        });
        inner.chain(&mut spec.parent).for_each(|inner| self.remove_layout_defaults(inner));
    }

    /// Whether a dialect has this name.
    #[must_use]
    pub fn has_dialect(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The name of the dialect that is most similar to a misspelled one, if one is similar enough.
    #[must_use]
    pub fn similar_dialect_name(&self, name: &str) -> Option<&str> {
        find_similar_name(name, self.names.iter().map(String::as_str))
    }

    /// The known operation name that is most similar to a misspelled one, if one is similar enough.
    #[must_use]
    pub fn similar_operation_name(&self, name: &str) -> Option<&str> {
        find_similar_name(name, self.operations.keys().map(|known| &**known))
    }

    /// All operations, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<OpDefinition>> {
        self.operations.values()
    }
}

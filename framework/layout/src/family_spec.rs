//! Layouts by name: a family, its parameters and its parent layout.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of one parameter of a family.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FamilyParameterValue {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<FamilyParameterValue>),
    /// A nested spec.
    Spec(Box<FamilySpec>),
}

/// A layout by name: the family, its parameters, and the parent layout if the family derives from one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FamilySpec {
    /// Name of the family: `blocked`, `slice`, ...
    #[serde(rename = "kind")]
    pub name: String,
    /// The parent layout from which the family derives its layouts, as `slice` does; `None` if the family has no parent
    /// layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<FamilySpec>>,
    /// Parameters by name, in `snake_case`.
    #[serde(flatten)]
    pub attributes: BTreeMap<String, FamilyParameterValue>,
}

impl FamilySpec {
    /// A spec without parameters.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), parent: None, attributes: BTreeMap::new() }
    }

    /// The same spec with one more parameter.
    #[must_use]
    pub fn with_parameter(mut self, parameter: &str, value: impl Into<FamilyParameterValue>) -> Self {
        self.attributes.insert(parameter.to_owned(), value.into());
        self
    }

    /// The same spec, derived from the layout `parent`.
    #[must_use]
    pub fn with_parent(mut self, parent: Self) -> Self {
        self.parent = Some(Box::new(parent));
        self
    }
}

impl From<i64> for FamilyParameterValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for FamilyParameterValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<T: Into<FamilyParameterValue> + Clone, const N: usize> From<[T; N]> for FamilyParameterValue {
    fn from(values: [T; N]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<FamilyParameterValue> + Clone> From<&[T]> for FamilyParameterValue {
    fn from(values: &[T]) -> Self {
        Self::List(values.iter().cloned().map(Into::into).collect())
    }
}

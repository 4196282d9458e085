//! Modules and functions.

use std::sync::Arc;

use super::attribute::Attributes;
use super::body::{Body, Location};
use super::types::FunctionType;

/// A program: functions that call each other, one or more of which a launch begins with.
#[derive(Debug, Clone, Default)]
pub struct TileModule {
    /// What the module is told: warps, lanes, the target, ...
    pub attributes: Attributes,
    /// The functions; names differ.
    pub functions: Vec<Function>,
    /// Where it comes from.
    pub location: Location,
}

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name, without `@`.
    pub name: Arc<str>,
    /// Whether a launch may begin with it.
    pub visibility: Visibility,
    /// The types of its arguments and results.
    pub signature: FunctionType,
    /// What each argument is told, such as by what its value can be divided.
    pub arguments: Vec<Attributes>,
    /// What each result is told.
    pub results: Vec<Attributes>,
    /// What it is told itself.
    pub attributes: Attributes,
    /// What it does; nothing where it is only declared. The arguments of the first block are its own.
    pub body: Option<Body>,
    /// Where it comes from.
    pub location: Location,
}

/// Who may call a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// The text says nothing: as `public`.
    #[default]
    Unsaid,
    /// Everybody, and a launch.
    Public,
    /// Functions of the module.
    Private,
    /// Functions of modules around.
    Nested,
}

impl Visibility {
    /// The word in text; empty where nothing is said.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unsaid => "",
            Self::Public => "public",
            Self::Private => "private",
            Self::Nested => "nested",
        }
    }
}

impl TileModule {
    /// The function of a name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| &*function.name == name)
    }

    /// The functions that a launch may begin with.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        let is_entry = |function: &&Function| {
            matches!(function.visibility, Visibility::Unsaid | Visibility::Public) && function.body.is_some()
        };
        self.functions.iter().filter(is_entry)
    }
}

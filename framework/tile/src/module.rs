//! Modules and functions of tile programs.

use std::sync::Arc;

use super::attribute::{Attribute, Attributes};
use super::body::{FunctionBody, Location};
use super::rules::VerifyRules;
use super::types::FunctionType;

/// A program: functions that call each other, with one or more entry functions.
#[derive(Debug, Clone, Default)]
pub struct TileModule {
    /// Attributes of the module, such as the numbers of warps and lanes (`ttg.num-warps`, `ttg.threads-per-warp`).
    pub attributes: Attributes,
    /// The functions; their names differ.
    pub functions: Vec<Function>,
    /// The layouts and types that the text names, used or not: `#name = ...`, `!name = ...`.
    pub aliases: Vec<Attribute>,
    /// Source location of the module.
    pub location: Location,
    /// The rules by which the module is verified: those of the dialects with which its text was parsed.
    pub rules: VerifyRules,
}

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Name of the function, without `@`.
    pub name: Arc<str>,
    /// Visibility of the function; public functions can be launched.
    pub visibility: Visibility,
    /// Types of the function's arguments and results.
    pub signature: FunctionType,
    /// Attributes of each argument, such as `tt.divisibility`.
    pub arguments: Vec<Attributes>,
    /// Attributes of each result.
    pub results: Vec<Attributes>,
    /// Attributes of the function.
    pub attributes: Attributes,
    /// The body of the function; `None` for a declaration. The arguments of its first block are the function's.
    pub body: Option<FunctionBody>,
    /// Source location of the function.
    pub location: Location,
}

/// The visibility of a symbol, as in MLIR.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Not stated in the text; equivalent to public.
    #[default]
    Unsaid,
    /// Visible everywhere, and launchable.
    Public,
    /// Visible only in the module.
    Private,
    /// Visible in enclosing modules.
    Nested,
}

impl Visibility {
    /// The keyword of the visibility in text; empty if the visibility is not stated.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Unsaid => "",
            Self::Public => "public",
            Self::Private => "private",
            Self::Nested => "nested",
        }
    }
}

impl TileModule {
    /// The function with this name; `None` if there is none.
    #[must_use]
    pub fn find_function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| &*function.name == name)
    }

    /// The functions that can be launched.
    pub fn entry_functions(&self) -> impl Iterator<Item = &Function> {
        let is_entry = |function: &&Function| {
            matches!(function.visibility, Visibility::Unsaid | Visibility::Public) && function.body.is_some()
        };
        self.functions.iter().filter(is_entry)
    }
}

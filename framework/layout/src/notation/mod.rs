//! Notations of layouts and families: JSON and attribute text.
//!
//! A linear layout in JSON is `{"in_dims": [["lane", 32], ...], "out_dims": [["dim0", 16], ...], "bases": {"lane": [[0,
//! 1], ...], ...}}`; the same structure crosses the plugin boundary. A family is `{"kind": "blocked", "order": [1, 0],
//! ...}` in JSON, and `#ttg.blocked<{order = [1, 0], ...}>` in text. The reader knows only the form
//! `#dialect.name<...>`, no family names, and converts words from `camelCase` to `snake_case`. The keywords of a
//! family's parameters and their order are data of the family: [`AttributeSyntax`].

mod attribute_syntax;
mod call;
pub(crate) mod case;
mod json;
mod parse;
mod print;
mod respell;
mod spec;

pub use attribute_syntax::{
    AttributeParameterPosition, AttributeSyntax, LayoutConstructorSyntax, OmittedParameterValues, ParameterSyntax,
};
pub use case::to_snake_case;
pub use json::{find_camel_case_key, layout_from_json, layout_to_json, spec_from_json, spec_to_json};
pub use parse::LayoutAliasReader;
pub use parse::{parse_definitions, parse_family_spec};
pub use respell::AttributeSyntaxes;

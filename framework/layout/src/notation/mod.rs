//! How layouts and families are written: JSON, and attribute text.
//!
//! A linear layout in JSON is `{"in_dims": [["lane", 32], ...], "out_dims": [["dim0", 16], ...],
//! "bases": {"lane": [[0, 1], ...], ...}}`; the same structure crosses the plugin boundary. A
//! family is `{"kind": "blocked", "order": [1, 0], ...}` in JSON, and in text
//! `#ttg.blocked<{order = [1, 0], ...}>`: the reader knows only `#dialect.name<...>`, never the
//! names, and turns words from `camelCase` to `snake_case`. What a family's text calls its
//! parameters, and in which order it lists them, is data of the family: [`AttributeSyntax`].

pub(crate) mod case;
mod json;
mod parse;
mod print;
mod respell;
mod spec;
mod spelling;

pub use json::{layout_from_json, layout_to_json, spec_from_json, spec_to_json};
pub use parse::LayoutNames;
pub use parse::{parse_definitions, parse_spec};
pub use respell::AttributeSyntaxes;
pub use spelling::{AttributeSyntax, Omitted, ParameterPlace, ParameterSyntax};

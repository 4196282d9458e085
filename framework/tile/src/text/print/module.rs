//! Prints a module as Triton IR text.

use super::Layouts;
use super::function;
use crate::TileModule;
use std::fmt::{self, Write as _};

/// Prints a module as text, which [`crate::text::parse_module`] reads back. Long layouts get aliases, defined before the
/// module.
///
/// ```
/// use tilewright_tile::{op::Dialects, text};
/// let source = "module {\n  tt.func @f(%x: i32) -> i32 {\n    %0 = arith.addi %x, %x : i32\n    tt.return %0 : i32\n  }\n}\n";
/// assert_eq!(text::print_module(&text::parse_module(source, &Dialects::neutral())?), source);
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
#[must_use]
pub fn print_module(module: &TileModule) -> String {
    let layouts = Layouts::default();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_module(module, &layouts, &mut text);
    layouts.definitions() + &text
}

impl fmt::Display for TileModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self))
    }
}

fn write_module(module: &TileModule, layouts: &Layouts, out: &mut String) -> fmt::Result {
    out.write_str("module ")?;
    if !module.attributes.is_empty() {
        out.write_str("attributes ")?;
        module.attributes.write(out, &|layout, f| layouts.write(layout, f))?;
        out.write_str(" ")?;
    }
    out.write_str("{\n")?;
    for function in &module.functions {
        function::write(function, layouts, out)?;
    }
    writeln!(out, "}}{}", module.location.suffix())
}

//! Prints a module as Triton IR text.

use super::function;
use super::names::Names;
use crate::{Body, LayoutName, Module, Type};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Write as _};

/// The module as text, which [`crate::text::parse`] reads back. Long layouts get names, which stand before the module.
///
/// ```
/// use tilewright_tile::{op::Dialects, text};
/// let source = "module {\n  tt.func @f(%x: i32) -> i32 {\n    %0 = arith.addi %x, %x : i32\n    tt.return %0 : i32\n  }\n}\n";
/// assert_eq!(text::print(&text::parse(source, &Dialects::neutral())?), source);
/// # Ok::<(), tilewright_tile::text::TextError>(())
/// ```
#[must_use]
pub fn print(module: &Module) -> String {
    let layouts = Layouts::default();
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write_module(module, &layouts, &mut text);
    layouts.definitions() + &text
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

fn write_module(module: &Module, layouts: &Layouts, out: &mut String) -> fmt::Result {
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

/// The names given to layouts, in the order in which they were first met.
#[derive(Default)]
pub(super) struct Layouts(RefCell<LayoutTable>);

#[derive(Default)]
struct LayoutTable {
    names: HashMap<LayoutName, String>,
    definitions: Vec<(String, String)>,
    /// How many layouts of a family there are.
    counts: HashMap<String, usize>,
}

impl Layouts {
    pub(super) fn write(&self, layout: &LayoutName, f: &mut dyn fmt::Write) -> fmt::Result {
        // What has no parameters is as short as a name.
        if !layout.text().contains('<') {
            return f.write_str(layout.text());
        }
        let mut table = self.0.borrow_mut();
        if let Some(name) = table.names.get(layout) {
            return f.write_str(name);
        }
        let family: String = layout.spec().name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let count = table.counts.entry(family.clone()).or_default();
        let name = if *count == 0 { format!("#{family}") } else { format!("#{family}_{count}") };
        *count += 1;
        table.definitions.push((name.clone(), layout.text().to_owned()));
        table.names.insert(layout.clone(), name.clone());
        f.write_str(&name)
    }

    fn definitions(&self) -> String {
        self.0.borrow().definitions.iter().map(|(name, text)| format!("{name} = {text}\n")).collect()
    }
}

/// Writes the operations of a function.
pub(super) struct Printer<'a> {
    pub(super) body: &'a Body,
    pub(super) layouts: &'a Layouts,
    pub(super) names: Names,
    pub(super) out: &'a mut String,
    /// Regions that are open, the module's among them.
    pub(super) depth: usize,
}

impl Printer<'_> {
    pub(super) fn ty(&self, ty: &Type) -> String {
        let mut text = String::new();
        let _ = ty.write(&mut text, &|layout, f| self.layouts.write(layout, f));
        text
    }

    pub(super) fn short_type(&self, ty: &Type) -> String {
        let mut text = String::new();
        let _ = ty.write_short(&mut text, &|layout, f| self.layouts.write(layout, f));
        text
    }

    pub(super) fn types<'t>(&self, types: impl Iterator<Item = &'t Type>) -> String {
        types.map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    /// The types of results after an arrow: one alone, or several in brackets.
    pub(super) fn result_types<'t>(&self, types: impl Iterator<Item = &'t Type>) -> String {
        let types = types.collect::<Vec<_>>();
        match types[..] {
            [ty] if !matches!(ty, Type::Function(_)) => self.ty(ty),
            _ => format!("({})", self.types(types.into_iter())),
        }
    }

    pub(super) fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }
}

//! Prints types and layouts, with aliases of long layouts.

use super::names::Names;
use crate::{FunctionBody, LayoutAttribute, TileType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The aliases of layouts, in the order of their first use.
#[derive(Default)]
pub(super) struct Layouts(RefCell<LayoutTable>);

#[derive(Default)]
struct LayoutTable {
    names: HashMap<LayoutAttribute, String>,
    definitions: Vec<(String, String)>,
    /// For each family (such as `blocked`), the number of its layouts that have an alias, to number the next one.
    counts: HashMap<String, usize>,
}

impl Layouts {
    pub(super) fn write(&self, layout: &LayoutAttribute, f: &mut dyn fmt::Write) -> fmt::Result {
        // A layout without parameters is short: no alias.
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

    /// The text that defines all aliases, one on each line.
    pub(super) fn definitions(&self) -> String {
        self.0.borrow().definitions.iter().map(|(name, text)| format!("{name} = {text}\n")).collect()
    }
}

/// Prints the operations of a function.
pub(super) struct Printer<'a> {
    pub(super) body: &'a FunctionBody,
    pub(super) layouts: &'a Layouts,
    pub(super) names: Names,
    pub(super) out: &'a mut String,
    /// Nesting depth of the printed operation: number of open regions, including the module's.
    pub(super) depth: usize,
}

impl Printer<'_> {
    pub(super) fn ty(&self, ty: &TileType) -> String {
        let mut text = String::new();
        let _ = ty.write(&mut text, &|layout, f| self.layouts.write(layout, f));
        text
    }

    pub(super) fn short_type(&self, ty: &TileType) -> String {
        let mut text = String::new();
        let _ = ty.write_short(&mut text, &|layout, f| self.layouts.write(layout, f));
        text
    }

    pub(super) fn types<'t>(&self, types: impl Iterator<Item = &'t TileType>) -> String {
        types.map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    /// The text of result types after an arrow: a single type, or several in parentheses.
    pub(super) fn result_types<'t>(&self, types: impl Iterator<Item = &'t TileType>) -> String {
        let types = types.collect::<Vec<_>>();
        match types[..] {
            [ty] if !matches!(ty, TileType::Function(_)) => self.ty(ty),
            _ => format!("({})", self.types(types.into_iter())),
        }
    }

    pub(super) fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }
}

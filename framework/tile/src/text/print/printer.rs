//! Writes types and layouts, with names for those that are long.

use super::names::Names;
use crate::{Body, LayoutName, TileType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

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

    /// The lines that give layouts their names.
    pub(super) fn definitions(&self) -> String {
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

    /// The types of results after an arrow: one alone, or several in brackets.
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

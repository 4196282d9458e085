//! Regions in the place of jumps.
//!
//! Jumps that go forward become choices: early returns, branches that meet again, and every mixture of both. No operation
//! is written twice. [`super::graph`] knows the jumps, [`super::jumps`] writes them as choices.

use super::copy::{Copier, Rewrite};
use super::jumps::Jumps;
use super::unmade;
use crate::tile::op::Dialects;
use crate::tile::{FunctionBuilder, Module, Op, Violation};

/// The same functions, in which every region has one block. Regions that run once (`scf.execute_region`) become part of what is
/// around them.
///
/// # Errors
/// A [`Violation`] at the jump: of a jump back, or where too many are within each other.
pub fn structure(module: &Module, dialects: &Dialects) -> Result<Module, Violation> {
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let Some(from) = &function.body else {
            functions.push(function.clone());
            continue;
        };
        let mut to = FunctionBuilder::like(dialects, function);
        let mut copier = Copier::new(function, from, &mut to);
        let entry = from.blocks(from.root()).first().map_or(&[][..], |entry| from.arguments(*entry));
        let arguments = copier.to.arguments().to_vec();
        copier.bind_all(entry, &arguments);
        let given = Jumps::write(&mut copier, from.root(), &function.signature.results, &mut Structure)?;
        let last = from.blocks(from.root()).last().and_then(|block| from.ops(*block).last());
        let returned = copier.to.op("tt.return").operands("srcs", &given).done();
        if let (Err(error), Some(last)) = (returned, last) {
            return Err(unmade(function, from.op(*last))(error));
        }
        functions.push(to.finish());
    }
    Ok(Module { functions, attributes: module.attributes.clone(), location: module.location.clone() })
}

/// Puts regions that run once where they stand.
struct Structure;

impl Rewrite for Structure {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<bool, Violation> {
        let operation = copier.from.op(op);
        let (Some(region), "scf.execute_region") = (operation.regions.first(), operation.name()) else {
            return Ok(false);
        };
        let types = copier.types(&operation.results);
        let given = Jumps::write(copier, *region, &types, self)?;
        copier.bind_all(&operation.results, &given);
        Ok(true)
    }
}

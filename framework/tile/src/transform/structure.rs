//! Regions in the place of jumps.
//!
//! Jumps that go forward become choices: early returns, branches that meet again, and every mixture of both. Jumps back become
//! loops, where each loop is entered at the block that is jumped back to. No operation is written twice. [`super::graph`] knows
//! the jumps, [`super::jumps`] writes them as choices, [`super::repeated`] as loops.

use super::copy::{Copier, Rewrite};
use super::jumps::Jumps;
use super::{RewriteError, Rewritten, each_function};
use crate::op::Dialects;
use crate::op::name::{scf, tt, ub};
use crate::{Block, FunctionBuilder, Op, Region, TileModule, TileViolation, Values};

/// The same functions, in which every region has one block. Regions that run once (`scf.execute_region`) become part of what is
/// around them.
///
/// # Errors
/// A [`TileViolation`] at the jump: of a jump back into what is entered elsewhere too, of a loop that nothing leaves, or where too many
/// are within each other.
pub fn structure(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(from) = &function.body else { return Ok(function.clone()) };
        let mut to = FunctionBuilder::like(dialects, function);
        let mut copier = Copier::new(function, from, &mut to);
        let entry = from.blocks(from.root()).first().map_or(&[][..], |entry| from.arguments(*entry));
        let arguments = copier.to.arguments().to_vec();
        copier.bind_all(entry, &arguments);
        let given = Jumps::write(&mut copier, from.root(), &function.signature.results, &mut Structure);
        let written = given.and_then(|given| Ok(copier.to.op(tt::RETURN).operands("srcs", &given).done()?));
        let last = from.blocks(from.root()).last().and_then(|block| from.ops(*block).last());
        match (written, last) {
            (Err(RewriteError::Violation(violation)), _) => Err(violation),
            (Err(error), Some(last)) => Err(error.at(function, from.op(*last))),
            _ => Ok(to.finish()),
        }
    })
}

/// Puts regions that run once where they stand, and makes one block of those with jumps.
struct Structure;

impl Rewrite for Structure {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let operation = copier.from.op(op);
        if let (Some(region), scf::EXECUTE_REGION) = (operation.regions.first(), operation.name()) {
            let types = copier.types(&operation.results);
            let given = Jumps::write(copier, *region, &types, self)?;
            copier.bind_all(&operation.results, &given);
            return Ok(true);
        }
        if operation.regions.iter().all(|region| copier.from.blocks(*region).len() < 2) {
            return Ok(false);
        }
        let regions = operation.regions.iter().map(|region| self.region(*region, copier));
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        let operands = copier.all(&operation.operands);
        copier.add(op, operands, regions);
        Ok(true)
    }
}

impl Structure {
    /// A region of one block.
    fn region(&mut self, region: Region, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Region> {
        let from = copier.from;
        let blocks = from.blocks(region);
        let arguments = blocks.first().map_or(&[][..], |entry| from.arguments(*entry));
        let (made, around) = copier.to.enter_region(copier.types(arguments));
        let own: Values = copier.to.body().arguments(copier.to.block()).into();
        copier.bind_all(arguments, &own);
        // What a block ends with that goes nowhere else ends the region.
        let last = |block: &Block| from.ops(*block).last().copied();
        let ends = |op: &Op| from.op(*op).successors.is_empty() && from.op(*op).name() != ub::UNREACHABLE;
        if let Some(end) = blocks.iter().filter_map(last).find(ends) {
            let types = copier.types(&from.op(end).operands);
            let given = Jumps::write(copier, region, &types, self)?;
            copier.add(end, given, Vec::new());
        }
        copier.to.at(around);
        Ok(made)
    }
}

//! CFG structurization: replaces branches by structured control flow.
//!
//! Forward branches become `scf.if`: early returns, branches that merge, and combinations. Back edges become loops;
//! each loop has a single entry, its header. No operation is duplicated. [`super::graph`] builds the control-flow
//! graph, [`super::structurizer`] emits choices, [`super::repeated`] emits loops.

use super::ir_cloner::{IrCloner, Rewrite};
use super::structurizer::Structurizer;
use super::{RewriteError, Rewritten, each_function};
use crate::op::Dialects;
use crate::op::name::{scf, tt, ub};
use crate::{Block, FunctionBuilder, Op, Region, TileModule, TileViolation, Values};

/// Rewrites every region to a single block. An `scf.execute_region` is inlined into the region around it.
///
/// # Errors
/// A [`TileViolation`] at the branch: an irreducible loop, a loop without an exit, or too deep nesting.
pub fn structurize(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(from) = &function.body else { return Ok(function.clone()) };
        let mut to = FunctionBuilder::with_signature_of(dialects, function);
        let mut cloner = IrCloner::new(function, from, &mut to);
        let entry = from.blocks(from.root()).first().map_or(&[][..], |entry| from.arguments(*entry));
        let arguments = cloner.to.arguments().to_vec();
        cloner.bind_all(entry, &arguments);
        let given = Structurizer::emit_region(&mut cloner, from.root(), &function.signature.results, &mut Structure);
        let written = given.and_then(|given| Ok(cloner.to.build_op(tt::RETURN).operands("srcs", &given).build()?));
        let last = from.blocks(from.root()).last().and_then(|block| from.ops(*block).last());
        match (written, last) {
            (Err(RewriteError::Violation(violation)), _) => Err(violation),
            (Err(error), Some(last)) => Err(error.at(function, from.op(*last))),
            _ => Ok(to.finish()),
        }
    })
}

/// The rewrite that inlines `scf.execute_region`, and structurizes regions with branches.
struct Structure;

impl Rewrite for Structure {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        if let (Some(region), scf::EXECUTE_REGION) = (operation.regions.first(), operation.name()) {
            let types = cloner.types_of(&operation.results);
            let given = Structurizer::emit_region(cloner, *region, &types, self)?;
            cloner.bind_all(&operation.results, &given);
            return Ok(true);
        }
        if operation.regions.iter().all(|region| cloner.from.blocks(*region).len() < 2) {
            return Ok(false);
        }
        let regions = operation.regions.iter().map(|region| self.region(*region, cloner));
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        let operands = cloner.all(&operation.operands);
        cloner.clone_op_with(op, operands, regions);
        Ok(true)
    }
}

impl Structure {
    /// Rewrites a region to one block.
    fn region(&mut self, region: Region, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Region> {
        let from = cloner.from;
        let blocks = from.blocks(region);
        let arguments = blocks.first().map_or(&[][..], |entry| from.arguments(*entry));
        let (new_region, around) = cloner.to.enter_region(cloner.types_of(arguments));
        let block_arguments: Values = cloner.to.body().arguments(cloner.to.block()).into();
        cloner.bind_all(arguments, &block_arguments);
        // A terminator without successors ends the region.
        let last = |block: &Block| from.ops(*block).last().copied();
        let ends = |op: &Op| from.op(*op).successors.is_empty() && from.op(*op).name() != ub::UNREACHABLE;
        if let Some(end) = blocks.iter().filter_map(last).find(ends) {
            let types = cloner.types_of(&from.op(end).operands);
            let given = Structurizer::emit_region(cloner, region, &types, self)?;
            cloner.clone_op_with(end, given, Vec::new());
        }
        cloner.to.set_insertion_block(around);
        Ok(new_region)
    }
}

//! Finds the loads of global memory that need a block barrier before them.

use std::collections::HashSet;

use tilewright_layout::Dim;
use tilewright_tile::op::name::{tt, ttg, tw};
use tilewright_tile::transform::loads::PointerBases;
use tilewright_tile::{Block, FunctionBody, Op, Value};

use super::super::lowering::Lowering;
use super::super::tensor_coordinates::free_bits;

/// Finds the loads that may read an element that one of several warps with this element has stored: the other warps
/// load it only after a barrier. Loads and stores through different parameters of the function access different memory.
pub(in super::super) fn find_reloads(lowering: &Lowering<'_>) -> HashSet<Op> {
    let mut search = Search {
        lowering,
        body: lowering.body,
        bases: PointerBases::of(lowering.body),
        stored: HashSet::new(),
        found: HashSet::new(),
    };
    if lowering.launch.warps > 1 && !lowering.has_groups() {
        lowering.body.blocks(lowering.body.root()).iter().for_each(|&block| search.visit_block(block));
    }
    search.found
}

struct Search<'a> {
    lowering: &'a Lowering<'a>,
    body: &'a FunctionBody,
    bases: PointerBases<'a>,
    /// The base pointers through which one of several warps has stored an element since the last barrier.
    stored: HashSet<Value>,
    found: HashSet<Op>,
}

impl Search<'_> {
    fn visit_block(&mut self, block: Block) {
        for &op in self.body.ops(block) {
            let operation = self.body.op(op);
            let base = operation.operands.first().and_then(|&pointer| self.bases.find(pointer));
            match (operation.name(), base) {
                (tt::STORE, Some(base)) if self.has_replicas_in_warps(op) => {
                    self.stored.insert(base);
                }
                (tt::LOAD, Some(base)) if self.stored.contains(&base) => {
                    self.found.insert(op);
                    self.stored.clear();
                }
                _ if self.is_barrier(op) => self.stored.clear(),
                _ if !operation.regions.is_empty() => self.visit_regions(op),
                _ => {}
            }
        }
    }

    /// Whether an operation has a barrier of all warps: atomic operations of a scalar have one unless they are relaxed.
    fn is_barrier(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        match operation.name() {
            ttg::BARRIER | tw::CLUSTER_BARRIER | tt::ATOMIC_POLL => true,
            tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_LOAD | tt::ATOMIC_STORE => {
                let pointer = operation.operands.first().map(|&pointer| self.body.value_type(pointer));
                let is_scalar = pointer.is_some_and(|ty| ty.as_tensor().is_none());
                is_scalar && self.lowering.keyword(op, "sem") != Some("relaxed")
            }
            _ => false,
        }
    }

    /// Visits the regions of an operation twice, since they may be those of a loop.
    fn visit_regions(&mut self, op: Op) {
        let operation = self.body.op(op);
        let blocks: Vec<Block> =
            operation.regions.iter().flat_map(|&region| self.body.blocks(region)).copied().collect();
        let mut after = self.stored.clone();
        for &block in blocks.iter().chain(&blocks) {
            self.stored.clone_from(&after);
            self.visit_block(block);
            after.extend(&self.stored);
        }
        self.stored = after;
    }

    /// Whether several warps have replicas of the elements that a store writes.
    fn has_replicas_in_warps(&self, store: Op) -> bool {
        let ty = self.body.op(store).operands.get(1).map(|&value| self.body.value_type(value));
        let Some(ty) = ty.filter(|ty| ty.as_tensor().is_some()) else { return true };
        self.lowering.layouts.resolve_distributed(ty).is_ok_and(|layout| free_bits(&layout, Dim::WARP) != 0)
    }
}

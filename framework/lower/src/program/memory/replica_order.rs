//! Finds the accesses of global memory that need a barrier before them, because several warps have replicas of an
//! element.

use std::collections::HashSet;

use tilewright_layout::Dim;
use tilewright_tile::op::name::{scf, tt, ttg, tw};
use tilewright_tile::transform::loads::PointerBases;
use tilewright_tile::{Block, FunctionBody, Op, TileType, Value};

use super::super::lowering::Lowering;
use super::super::tensor_coordinates::free_bits;

/// Finds the accesses that need a barrier of the program before them. One of the warps with replicas of an element
/// stores it: the others may load it only after that store, or must have loaded it before. Accesses through different
/// parameters of the function access different memory.
pub(in super::super) fn find_accesses_to_order(lowering: &Lowering<'_>) -> HashSet<Op> {
    let mut search = Search {
        lowering,
        body: lowering.body,
        bases: PointerBases::of(lowering.body),
        beyond_stores: find_values_beyond_stores(lowering.body),
        since_barrier: Replicated::default(),
        found: HashSet::new(),
    };
    if lowering.launch.warps * lowering.launch.blocks > 1 && !lowering.has_groups() {
        lowering.body.blocks(lowering.body.root()).iter().for_each(|&block| search.visit_block(block));
    }
    search.found
}

/// Returns the values whose elements a thread uses, directly or through elementwise operations, for more than its own
/// stores: for another operation, a condition, or the next iteration of a loop.
fn find_values_beyond_stores(body: &FunctionBody) -> HashSet<Value> {
    let mut beyond = HashSet::new();
    for op in body.walk_region(body.root()).into_iter().rev() {
        let operation = body.op(op);
        let is_own =
            operation.definition.traits.elementwise && !operation.results.iter().any(|result| beyond.contains(result));
        if !is_own && operation.name() != tt::STORE {
            beyond.extend(operation.operands.iter().copied());
        }
    }
    beyond
}

/// The base pointers of accesses of elements with replicas in several warps.
#[derive(Default, Clone, PartialEq)]
struct Replicated {
    /// Loads whose replicas reach more than stores.
    loaded: HashSet<Value>,
    /// Loads whose elements each thread uses only for its own stores, and the types of the loaded tensors. Replicas that
    /// are not stored have no use, so that only stores of another layout have to wait for these loads.
    loaded_to_store: Vec<(Value, TileType)>,
    stored: HashSet<Value>,
}

impl Replicated {
    fn record_load_to_store(&mut self, load: (Value, TileType)) {
        if !self.loaded_to_store.contains(&load) {
            self.loaded_to_store.push(load);
        }
    }

    fn join(&mut self, other: Self) {
        self.loaded.extend(other.loaded);
        other.loaded_to_store.into_iter().for_each(|load| self.record_load_to_store(load));
        self.stored.extend(other.stored);
    }

    /// Whether a store of a tensor of type `ty` has to follow the loads of the same base.
    fn has_loaded(&self, base: Value, ty: Option<&TileType>) -> bool {
        let waits =
            |(loaded, from): &(Value, TileType)| *loaded == base && ty.is_none_or(|ty| from.layout() != ty.layout());
        self.loaded.contains(&base) || self.loaded_to_store.iter().any(waits)
    }
}

struct Search<'a> {
    lowering: &'a Lowering<'a>,
    body: &'a FunctionBody,
    bases: PointerBases<'a>,
    /// The values that a thread uses for more than its own stores.
    beyond_stores: HashSet<Value>,
    /// The accesses since the last barrier.
    since_barrier: Replicated,
    found: HashSet<Op>,
}

impl Search<'_> {
    fn visit_block(&mut self, block: Block) {
        for &op in self.body.ops(block) {
            let operation = self.body.op(op);
            let base = operation.operands.first().and_then(|&pointer| self.bases.find(pointer));
            match (operation.name(), base) {
                _ if self.is_barrier(op) => self.since_barrier = Replicated::default(),
                (tt::LOAD, Some(base)) => {
                    if self.since_barrier.stored.contains(&base) {
                        self.order(op);
                    }
                    if let Some(&loaded) = operation.results.first().filter(|&&loaded| self.has_replicas(loaded)) {
                        self.record_load(base, loaded);
                    }
                }
                (tt::STORE | tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_STORE, Some(base)) => {
                    let stored = operation.operands.get(1).map(|&stored| self.body.value_type(stored));
                    if self.since_barrier.has_loaded(base, stored.filter(|_| operation.name() == tt::STORE)) {
                        self.order(op);
                    }
                    // All replicas of an atomic operation's result follow a barrier.
                    let is_broadcast = operation.results.iter().any(|&result| self.lowering.is_used(result));
                    if !is_broadcast && operation.operands.get(1).is_some_and(|&stored| self.has_replicas(stored)) {
                        self.since_barrier.stored.insert(base);
                    }
                }
                (scf::IF, _) => self.visit_branches(op),
                _ if !operation.regions.is_empty() => self.visit_loop(op),
                _ => {}
            }
        }
    }

    fn record_load(&mut self, base: Value, loaded: Value) {
        let ty = self.body.value_type(loaded);
        if self.beyond_stores.contains(&loaded) || ty.as_tensor().is_none() {
            self.since_barrier.loaded.insert(base);
        } else {
            self.since_barrier.record_load_to_store((base, ty.clone()));
        }
    }

    fn order(&mut self, op: Op) {
        self.found.insert(op);
        self.since_barrier = Replicated::default();
    }

    /// Whether an operation has a barrier of all warps of the program before and after its accesses: atomic operations
    /// of a scalar have them unless they are relaxed.
    fn is_barrier(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        match operation.name() {
            ttg::BARRIER => self.lowering.launch.blocks == 1,
            tw::CLUSTER_BARRIER | tt::ATOMIC_POLL => true,
            tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_LOAD | tt::ATOMIC_STORE => {
                let pointer = operation.operands.first().map(|&pointer| self.body.value_type(pointer));
                let is_scalar = pointer.is_some_and(|ty| ty.as_tensor().is_none());
                is_scalar && self.lowering.keyword(op, "sem") != Some("relaxed")
            }
            _ => false,
        }
    }

    /// Visits each branch of an `scf.if` once: control takes one of them.
    fn visit_branches(&mut self, op: Op) {
        let before = std::mem::take(&mut self.since_barrier);
        let regions = &self.body.op(op).regions;
        let mut after = if regions.len() < 2 { before.clone() } else { Replicated::default() };
        for &region in regions {
            self.since_barrier.clone_from(&before);
            self.body.blocks(region).iter().for_each(|&block| self.visit_block(block));
            after.join(std::mem::take(&mut self.since_barrier));
        }
        self.since_barrier = after;
    }

    /// Visits the regions of a loop again if accesses of an iteration precede those of the next one.
    fn visit_loop(&mut self, op: Op) {
        let regions = &self.body.op(op).regions;
        let blocks: Vec<Block> = regions.iter().flat_map(|&region| self.body.blocks(region)).copied().collect();
        for _ in 0..2 {
            let before = self.since_barrier.clone();
            for &block in &blocks {
                let mut after = self.since_barrier.clone();
                self.visit_block(block);
                after.join(std::mem::take(&mut self.since_barrier));
                self.since_barrier = after;
            }
            if self.since_barrier == before {
                break;
            }
        }
    }

    /// Whether several warps of the program have replicas of the elements of a value.
    fn has_replicas(&self, value: Value) -> bool {
        let ty = self.body.value_type(value);
        if ty.as_tensor().is_none() {
            return true;
        }
        let layout = self.lowering.layouts.resolve_distributed(ty);
        layout.is_ok_and(|layout| [Dim::WARP, Dim::BLOCK].iter().any(|&dim| free_bits(&layout, dim) != 0))
    }
}

//! Allocates the tensor memory (PTX `tcgen05`) of a kernel, where MMAs accumulate: once for a block, before the
//! program's first operation. The block frees it after the last operation.
//!
//! Accumulators that stay in tensor memory from one MMA to the next (`pending`) have columns of their own. The other
//! dots load their accumulators into registers immediately, and share the columns after these. The groups of MMAs that
//! the block commits are numbered over the whole program, so that all arrive at the same mbarriers; loops carry the
//! number of the next group. A dot in control flow other than loops, or with another number of arrivals per group, has
//! an mbarrier of its own. With warp partitions each dot allocates its own columns.

use std::cell::OnceCell;
use std::collections::HashSet;

use tilewright_assign::dot_plan;
use tilewright_kernel::{Binary, Builder, Value};
use tilewright_plan::mma::{AccumulatorAllocation, MmaPlan};
use tilewright_plan::movement::{MmaBarriers, TensorMemoryAllocation};
use tilewright_tile::op::name::{ttg, tw};
use tilewright_tile::{Attribute, FunctionBody, Op};

use super::lowering::Lowering;
use super::pending::OpPositions;

/// Max number of groups of MMAs that a wait leaves in flight, so that few mbarriers suffice. A wait that may leave more
/// in flight waits for all but this many.
const MOST_LEFT: u32 = 8;

/// The tensor-memory columns and mbarriers of a dot whose MMAs complete before the next operation.
pub(super) struct DotSpace {
    /// The columns and mbarriers.
    pub space: AccumulatorAllocation,
    /// The index of the dot's group of MMAs (MMAs that are committed together) among all groups of the program.
    pub group: Value,
    /// Whether the mbarriers are the dot's alone.
    pub has_own_barriers: bool,
}

/// Finds the dots that accumulate in tensor memory; none in a program with warp partitions.
pub(super) fn find_dots(lowering: &mut Lowering<'_>) {
    let (body, config) = (lowering.body, lowering.config);
    if config.context.target.tensor.is_none() || lowering.has_groups() {
        return;
    }
    let dots = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).is_dot());
    let planned = dots.filter_map(|op| Some((op, dot_plan::plan_dot(body, op, config).ok()?.plan)));
    lowering.tensor_memory.dots = planned.filter(|(_, plan)| plan.is_in_tensor_memory()).collect();
}

/// Emits the allocation of the program's tensor memory.
pub(super) fn start(lowering: &mut Lowering<'_>) {
    let Some(memory) = &lowering.config.context.target.tensor else { return };
    let (body, arrivals) = (lowering.body, lowering.mma_arrivals());
    if lowering.tensor_memory.dots.is_empty() {
        return;
    }
    let positions = OpPositions::of(body);
    let (mut numbered, mut shared) = (HashSet::new(), 0);
    for (op, plan) in &lowering.tensor_memory.dots {
        let has_own_columns = lowering.pending.is_in_own_columns(*op);
        if !has_own_columns {
            shared = plan.tensor_memory_columns().max(shared);
        }
        if has_own_columns || positions.is_only_in_loops(body, *op) && plan.commits_per_group() == arrivals {
            numbered.insert(*op);
        }
    }
    let own = lowering.pending.columns();
    let columns = (own + shared).next_power_of_two().max(memory.least_columns);
    let bits = most_groups(lowering, &positions).next_power_of_two().trailing_zeros();
    let allocation = TensorMemoryAllocation::emit_alloc(&mut lowering.builder, columns, [bits, arrivals]);
    let first = lowering.builder.i32(0);
    let all = &mut lowering.tensor_memory;
    (all.numbered, all.allocation, all.shared_column) = (numbered, Some(allocation), own);
    all.groups = Some([first; 2]);
    all.positions = OnceCell::from(positions);
}

/// Emits a wait for all MMAs, and the deallocation of the program's tensor memory.
pub(super) fn finish(lowering: &mut Lowering<'_>) {
    let Some(allocation) = lowering.tensor_memory.allocation else { return };
    lowering.wait_for_mma_groups(0);
    allocation.emit_free(&mut lowering.builder);
}

/// Returns the max number of groups of MMAs that may be in flight at a commit, including the committed one. These are
/// the groups that a wait leaves in flight, and those that one block of the program issues.
fn most_groups(lowering: &Lowering<'_>, positions: &OpPositions) -> u32 {
    let body = lowering.body;
    let all = body.walk_region(body.root());
    let waits = all.iter().filter(|op| body.op(**op).name() == tw::MMA_WAIT);
    let left = waits.map(|&wait| outstanding(body, wait)).max().unwrap_or(0);
    let issued: Vec<_> = all.iter().filter(|op| lowering.pending.is_async(**op)).collect();
    if issued.is_empty() {
        return 1;
    }
    let blocks = issued.iter().filter_map(|op| positions.within.get(op)).map(|(block, _)| *block);
    let blocks: Vec<_> = blocks.collect();
    let in_block = blocks.iter().map(|block| blocks.iter().filter(|other| *other == block).count()).max();
    let others = u32::from(issued.len() < lowering.tensor_memory.dots.len());
    left + in_block.unwrap_or(0) as u32 + others
}

/// Returns the number of groups of MMAs that the operation `wait` may leave in flight, at most [`MOST_LEFT`].
fn outstanding(body: &FunctionBody, wait: Op) -> u32 {
    let outstanding = body.op(wait).attributes.get("outstanding").and_then(Attribute::as_integer);
    outstanding.and_then(|outstanding| u32::try_from(outstanding).ok()).unwrap_or(0).min(MOST_LEFT)
}

impl Lowering<'_> {
    /// The dots that accumulate in tensor memory, each with its plan.
    pub(super) fn dots_in_tensor_memory(&self) -> impl Iterator<Item = (Op, &MmaPlan)> {
        self.tensor_memory.dots.iter().map(|(op, plan)| (*op, plan))
    }

    /// The number of arrivals, one for each commit, that complete a group of MMAs at the kernel's mbarriers.
    pub(super) fn mma_arrivals(&self) -> u32 {
        self.tensor_memory.dots.iter().map(|(_, plan)| plan.commits_per_group()).max().unwrap_or(1)
    }

    /// Returns the tensor memory that begins at the column `column` of the kernel's allocation; `None` if there is no
    /// allocation.
    pub(super) fn tensor_memory_from(&mut self, column: u32) -> Option<AccumulatorAllocation> {
        let allocation = self.tensor_memory.allocation?;
        let address = moved(&mut self.builder, allocation.address, column);
        Some(AccumulatorAllocation { address, barriers: allocation.barriers })
    }

    /// Returns the tensor-memory columns and mbarriers of a dot that is complete before the next operation. `None` if
    /// the dot allocates its own, or does not accumulate in tensor memory.
    pub(super) fn space_of_dot(&mut self, op: Op, plan: &MmaPlan) -> Option<DotSpace> {
        if !plan.is_in_tensor_memory() {
            return None;
        }
        let column = self.pending.column_of(self.body.op(op).results[0]).unwrap_or(self.tensor_memory.shared_column);
        let space = self.tensor_memory_from(column)?;
        if self.tensor_memory.numbered.contains(&op) {
            return Some(DotSpace { space, group: self.next_mma_group()?, has_own_barriers: false });
        }
        let barriers = MmaBarriers::emit_declare_and_init(&mut self.builder, 0, plan.commits_per_group());
        let group = self.builder.i32(0);
        Some(DotSpace { space: AccumulatorAllocation { barriers, ..space }, group, has_own_barriers: true })
    }

    /// Returns the number of the next group of MMAs (MMAs that are committed together) as a kernel value; `None`
    /// without an allocation of tensor memory.
    pub(super) fn next_mma_group(&self) -> Option<Value> {
        self.tensor_memory.groups.map(|[_, next]| next)
    }

    /// Sets the number of the next group of MMAs (MMAs that are committed together) to a kernel value. Does nothing
    /// without an allocation of tensor memory, or if `next` is `None`.
    pub(super) fn set_next_mma_group(&mut self, next: Option<Value>) {
        if let (Some([_, known]), Some(next)) = (&mut self.tensor_memory.groups, next) {
            *known = next;
        }
    }

    /// Returns the number of the next group of MMAs (MMAs that are committed together) if the loop `op` must carry it,
    /// because the loop contains numbered dots; otherwise `None`.
    pub(super) fn carried_mma_group(&self, op: Op) -> Option<Value> {
        let has_mmas = || self.body.op_and_nested_ops(op).iter().any(|op| self.tensor_memory.numbered.contains(op));
        self.next_mma_group().filter(|_| has_mmas())
    }

    /// Emits a wait that leaves at most the latest `outstanding` groups of MMAs (MMAs that are committed together) in
    /// flight. Emits nothing if no group comes before, or if the program has no asynchronous MMAs.
    pub(super) fn wait_for_mma_groups(&mut self, outstanding: u32) {
        let (Some(allocation), Some([first, next])) = (self.tensor_memory.allocation, self.tensor_memory.groups) else {
            return;
        };
        if first == next || !self.pending.are_some() {
            return;
        }
        let barriers = allocation.barriers;
        let left = outstanding.min(MOST_LEFT).min(barriers.max_groups_in_flight() - 1);
        for back in (left..barriers.max_groups_in_flight()).rev() {
            let group = self.builder.binary_const(Binary::Sub, next, back + 1);
            let parity = barriers.emit_wait(&mut self.builder, group);
            if back == left {
                self.annotations.mma_waits.insert(parity, outstanding);
            }
        }
    }

    /// Whether the program has a barrier between the dot `op` and each wait for MMAs before it, also those of the
    /// preceding iteration. Then no warp still waits at an mbarrier when a later group arrives there.
    pub(super) fn follows_barrier(&self, op: Op) -> bool {
        let body = self.body;
        let positions = self.tensor_memory.positions.get_or_init(|| OpPositions::of(body));
        let Some(&(block, at)) = positions.within.get(&op) else { return false };
        let ops = body.ops(block);
        let waits = |op: &Op| body.op(*op).is_dot() || body.op(*op).name() == tw::MMA_WAIT;
        for before in ops[..at].iter().rev().chain(ops[at..].iter().rev()) {
            if body.op(*before).name() == ttg::BARRIER {
                return true;
            }
            if waits(before) || body.op_and_nested_ops(*before).iter().any(waits) {
                return false;
            }
        }
        false
    }
}

fn moved(builder: &mut Builder, address: Value, columns: u32) -> Value {
    if columns == 0 { address } else { builder.binary_const(Binary::Add, address, columns) }
}

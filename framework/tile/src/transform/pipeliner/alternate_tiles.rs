//! Lets groups of consumer warps alternate between the iterations of the loop around a pipelined loop (*ping-pong across
//! tiles*, CUTLASS `KernelTmaWarpSpecializedPingpong`): one group multiplies a tile while the other converts and stores
//! its own.
//!
//! Each group is a partition of `ttg.warp_specialize`, with the layouts of the program's warps, and executes every
//! second iteration. The producer warp executes all of them, in order, so that a group steps over the buffers of the
//! tile between two of its own: by the trip count of the pipelined loop in that tile. Mbarriers order the pipelined
//! loops of the groups: a group waits at its mbarrier before its loop, and arrives at that of the other group as soon as
//! its last MMA is issued.

use std::collections::BTreeSet;

use super::buffers::Buffers;
use super::expand::{Prefetch, Source};
use super::iteration::Bounds;
use super::nest::EnclosingLoop;
use super::position::Position;
use super::slice::{Slice, backward, is_repeatable};
use super::specialized::{SpecializedLoop, values, with_values};
use super::waits::{initialized, wait};
use crate::op::name::{arith, tt};
use crate::op_attrs::TILE_GROUP_COUNT;
use crate::transform::ir_cloner::Rewrite;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Attribute, BuildError, FunctionBody, FunctionBuilder, Op, TileType, Value, ValueOrigin};

/// Number of groups of consumer warps that alternate between the iterations of a loop.
pub const TILE_GROUPS: u32 = 2;

/// Checks that groups of consumer warps can alternate between the iterations of the loop around the pipelined loop `of`,
/// which fills the tensors `filled` in shared memory.
///
/// # Errors
/// The reason: not exactly one loop is around the loop, it carries values, a counter is not an `i32`, or the loop
/// captures a tensor that a partition of warps cannot compute for itself.
pub fn check_tile_groups(
    body: &FunctionBody,
    of: Op,
    enclosing: &[EnclosingLoop],
    filled: &[Value],
) -> Result<(), String> {
    let [EnclosingLoop { op: tiles, .. }] = enclosing else {
        return Err(format!("{} loops are around the loop: expected one", enclosing.len()));
    };
    if !body.op(*tiles).results.is_empty() {
        return Err("the loop around the loop carries values from tile to tile".to_owned());
    }
    let is_i32 = |op: Op| *body.value_type(body.op(op).operands[0]) == TileType::integer(32);
    if !is_i32(of) || !is_i32(*tiles) {
        return Err("a loop counter is not an `i32`".to_owned());
    }
    let captured = captured_values(body, *tiles);
    let is_memory = |value: &&Value| matches!(body.value_type(**value), TileType::Memory(_));
    if let Some(tensor) = captured.iter().filter(is_memory).find(|value| !filled.contains(value)) {
        let name = body.display_name(*tensor);
        return Err(format!("both groups would access the shared tensor {name}: allocate it in the loop over tiles"));
    }
    captured_tensor_slice(body, *tiles).map(drop)
}

/// Whether the iterations of a loop are those of a persistent program: they begin at the index of the block and step by
/// the number of blocks. Blocks execute the iterations in no order then.
pub(in crate::transform) fn is_persistent_loop(body: &FunctionBody, of: Op) -> bool {
    let maker = |value: Value| match body.value_origin(value) {
        ValueOrigin::Result(op, _) => Some(body.op(op)),
        ValueOrigin::Argument(..) => None,
    };
    let [begin, _, step, ..] = body.op(of).operands[..] else { return false };
    let is_id = maker(begin).is_some_and(|op| op.name() == tt::GET_PROGRAM_ID);
    let counts_blocks = |op: &crate::Operation| match op.name() {
        tt::GET_NUM_PROGRAMS => true,
        arith::CONSTANT => op.attributes.get("value").and_then(Attribute::as_integer).is_some_and(|step| step > 1),
        _ => false,
    };
    is_id && maker(step).is_some_and(counts_blocks)
}

/// The number of groups of consumer warps that alternate between the iterations of a loop; 1 for other loops.
#[must_use]
pub fn tile_group_count(body: &FunctionBody, of: Op) -> u32 {
    let count = body.op(of).attributes.get(TILE_GROUP_COUNT).and_then(Attribute::as_integer);
    count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1).max(1)
}

/// The values that a loop uses in its regions and does not define there.
fn captured_values(body: &FunctionBody, of: Op) -> BTreeSet<Value> {
    let within: BTreeSet<Op> = body.op_and_nested_ops(of).into_iter().filter(|op| *op != of).collect();
    let regions = body.op_and_nested_ops(of).into_iter().flat_map(|op| body.op(op).regions.iter().copied());
    let blocks: BTreeSet<_> = regions.flat_map(|region| body.blocks(region).iter().copied()).collect();
    let is_outside = |value: &Value| match body.value_origin(*value) {
        ValueOrigin::Result(op, _) => !within.contains(&op),
        ValueOrigin::Argument(block, _) => !blocks.contains(&block),
    };
    within.iter().flat_map(|op| body.op(*op).operands.iter().copied()).filter(is_outside).collect()
}

/// The operations outside of a loop that compute the tensors which the loop captures, in the order of the text. The
/// error is the reason why another partition of warps cannot execute them.
fn captured_tensor_slice(body: &FunctionBody, of: Op) -> Result<Slice, String> {
    let is_tensor = |value: Value| body.value_type(value).as_tensor().is_some();
    let roots: Vec<Value> = captured_values(body, of).into_iter().filter(|value| is_tensor(*value)).collect();
    let Some(&entry) = body.blocks(body.root()).first() else { return Ok(Slice::default()) };
    let check = |op: Op| match is_repeatable(body, op) {
        true => Ok(()),
        false => Err(format!("the loop over tiles captures a tensor of `{}`", body.op(op).name())),
    };
    backward(body, entry, roots, |value| !is_tensor(value), check)
}

/// The mbarriers that order the pipelined loops of groups of consumer warps, one for each group.
#[derive(Clone)]
pub(super) struct OrderBarriers {
    mbarriers: Buffers,
}

/// The pipelined loop of one group in one tile, among those of all groups.
pub(super) struct TileOrder<'t> {
    barriers: &'t OrderBarriers,
    group: u32,
    /// The parity of the number of tiles that the group has finished.
    phase: Value,
}

impl OrderBarriers {
    /// Emits the mbarriers of [`TILE_GROUPS`] groups of `warps` warps.
    pub fn emit_allocation(warps: u32, to: &mut FunctionBuilder<'_>) -> Result<Self, BuildError> {
        Ok(Self { mbarriers: initialized(TILE_GROUPS, warps, to)? })
    }
}

impl TileOrder<'_> {
    /// Emits the wait for the pipelined loop of the tile before. The first group waits for the phase before, which counts
    /// as complete at first.
    pub fn emit_wait(&self, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        let (index, one) = (to.constant_i32(self.group)?, to.constant_i32(1)?);
        let phase = if self.group == 0 { to.binary(arith::XORI, self.phase, one)? } else { self.phase };
        wait(&self.barriers.mbarriers, index, phase, to)
    }

    /// Emits the signal of each warp that the pipelined loop of the next group may begin.
    pub fn emit_signal(&self, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        let next = to.constant_i32((self.group + 1) % TILE_GROUPS)?;
        self.barriers.mbarriers.emit_arrival_per_warp(next, None, to)
    }
}

impl SpecializedLoop<'_> {
    /// Emits the loops of the consumers of one group: every [`TILE_GROUPS`]th iteration of the loop over tiles, from the
    /// iteration with the index `group`. As in any `scf.for`, the counter after the last iteration must not overflow.
    pub(super) fn consumed_by_group(
        &self,
        group: u32,
        barriers: &OrderBarriers,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let [tiles] = &self.schedule.enclosing[..] else {
            return Err(violation(
                cloner,
                self.schedule.op,
                "groups of consumers alternate between the tiles of one loop",
            ));
        };
        let restored = (group > 0).then(|| Self::emit_captured(tiles.op, front, cloner)).transpose()?;
        let (first, program) = (self.first_positions(cloner)?, Bounds::new(tiles.op, cloner)?);
        let zero = cloner.to.constant_i32(0)?;
        let bounds = program.for_group(group, cloner)?;
        let initial = [values(&first), vec![zero]].concat();
        let (region, around, arguments) = bounds.enter(&initial, cloner);
        let (counter, phase) = (arguments[0], arguments[initial.len()]);
        let mut positions = with_values(&first, &arguments[1..initial.len()]);
        self.skip_tile(group, (&program, &bounds, counter), &mut positions, front, cloner)?;
        cloner.bind(cloner.from.arguments(bounds.block)[0], counter);
        let ops = cloner.from.ops(bounds.block);
        for &op in &ops[..ops.len().saturating_sub(1)] {
            if op != self.schedule.op {
                cloner.rewrite_or_clone_op(op, front)?;
                continue;
            }
            let inner =
                self.consumed_innermost(&positions, Some(TileOrder { barriers, group, phase }), front, cloner)?;
            inner.results.iter().for_each(|(value, copy)| cloner.bind(*value, *copy));
            positions = inner.last;
        }
        let one = cloner.to.constant_i32(1)?;
        let next = cloner.to.binary(arith::XORI, phase, one)?;
        let results = bounds.close(region, around, &initial, &[values(&positions), vec![next]].concat(), cloner)?;
        if let ValueOrigin::Result(op, _) = cloner.to.body().value_origin(results[0]) {
            let count = Attribute::integer(TILE_GROUPS.into(), TileType::integer(32));
            cloner.to.body_mut().op_mut(op).attributes.set(TILE_GROUP_COUNT, count);
        }
        restored.into_iter().flatten().for_each(|(value, copy)| cloner.bind(value, copy));
        Ok(())
    }

    /// Emits, in the partition of another group, the operations that compute the tensors which the loop `of` captures.
    /// Returns the values with their clones before, to bind them again behind the partition.
    fn emit_captured(
        of: Op,
        front: &mut dyn Prefetch,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<(Value, Value)>> {
        let slice = captured_tensor_slice(cloner.from, of).map_err(|reason| violation(cloner, of, reason))?;
        let results = slice.ops.iter().flat_map(|op| cloner.from.op(*op).results.iter().copied());
        let before = results.map(|value| (value, cloner.clone_of(value))).collect();
        slice.ops.iter().try_for_each(|op| cloner.rewrite_or_clone_op(*op, front))?;
        Ok(before)
    }

    /// Emits the step of a group over the buffers of the tile before the current one, which another group consumes; the
    /// first tile of the program has none before it.
    fn skip_tile(
        &self,
        group: u32,
        (program, bounds, counter): (&Bounds, &Bounds, Value),
        positions: &mut [Position],
        front: &mut dyn Rewrite,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let before = cloner.to.binary(arith::SUBI, counter, program.step)?;
        let count = match group {
            0 => {
                let has_before = cloner.to.compare("ne", counter, bounds.begin)?;
                let count = cloner.emit_if(has_before, |cloner| {
                    Ok(std::iter::once(self.emit_iteration_count_in_tile(program, before, front, cloner)?).collect())
                })?[0];
                let zero = cloner.to.constant_i32(0)?;
                cloner.to.select(has_before, count, zero)?
            }
            _ => self.emit_iteration_count_in_tile(program, before, front, cloner)?,
        };
        for (stream, position) in self.schedule.streams.iter().zip(positions) {
            position.emit_advance(count, stream.buffers, cloner.to)?;
        }
        Ok(())
    }
}

impl SpecializedLoop<'_> {
    /// Emits the trip count of the pipelined loop in the iteration `counter` of the loop over tiles, whose bounds are
    /// `tiles`.
    fn emit_iteration_count_in_tile(
        &self,
        tiles: &Bounds,
        counter: Value,
        front: &mut dyn Rewrite,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Value> {
        let of = self.schedule.op;
        let roots = cloner.from.op(of).operands.iter().take(3).copied().collect();
        let slice = backward(cloner.from, tiles.block, roots, |_| false, |_| Ok(()))
            .map_err(|reason| violation(cloner, of, reason))?;
        tiles.emit_slice(&slice, (counter, &[]), front, cloner)?;
        Bounds::new(of, cloner)?.emit_iteration_count(cloner)
    }
}

impl Bounds {
    /// Emits the bounds of the iterations of one group, of the loop with these bounds.
    fn for_group(&self, group: u32, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Self> {
        let mut bounds = self.clone();
        for _ in 0..group {
            bounds.begin = cloner.to.binary(arith::ADDI, bounds.begin, self.step)?;
        }
        let groups = cloner.to.constant_i32(TILE_GROUPS)?;
        bounds.step = cloner.to.binary(arith::MULI, self.step, groups)?;
        Ok(bounds)
    }

    /// Emits the trip count of the loop, an unsigned `i32`.
    fn emit_iteration_count(&self, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let is_entered = self.emit_is_entered(cloner)?;
        let (zero, one) = (cloner.to.constant_i32(0)?, cloner.to.constant_i32(1)?);
        let distance = cloner.to.binary(arith::SUBI, self.end, self.begin)?;
        let last = cloner.to.binary(arith::SUBI, distance, one)?;
        let steps = cloner.to.binary(arith::DIVUI, last, self.step)?;
        let count = cloner.to.binary(arith::ADDI, steps, one)?;
        Ok(cloner.to.select(is_entered, count, zero)?)
    }
}

impl Position {
    /// Emits the state of a consumer `count` iterations later, an unsigned `i32`, with `buffers` buffers.
    fn emit_advance(&mut self, count: Value, buffers: u32, to: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        let (Source::Buffer(index), Some(phase)) = (&self.source, self.phase) else { return Ok(()) };
        let [all, one] = [to.constant_i32(buffers)?, to.constant_i32(1)?];
        let rounds = to.binary(arith::DIVUI, count, all)?;
        let multiple = to.binary(arith::MULI, rounds, all)?;
        let rest = to.binary(arith::SUBI, count, multiple)?;
        let next = to.binary(arith::ADDI, *index, rest)?;
        let wraps = to.compare("uge", next, all)?;
        let wrapped = to.binary(arith::SUBI, next, all)?;
        let odd = to.binary(arith::ANDI, rounds, one)?;
        let wrap = to.unary(arith::EXTUI, wraps, TileType::integer(32))?;
        let flip = to.binary(arith::XORI, odd, wrap)?;
        self.source = Source::Buffer(to.select(wraps, wrapped, next)?);
        self.phase = Some(to.binary(arith::XORI, phase, flip)?);
        Ok(())
    }
}

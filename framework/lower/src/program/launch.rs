//! Lowers launch values and synchronization: program and warp ids, barriers, grid dependencies.

use tilewright_kernel::{Binary, ClockCounter, CollectiveScope, MemoryScope, Op as KernelOp, SpecialRegister};
use tilewright_tile::Op;
use tilewright_tile::op::name::tt;

use super::error::{LowerErrorReason, Lowered};
use super::lowered::LoweredValue;
use super::lowering::Lowering;

/// Lowers `tt.get_program_id` and `tt.get_num_programs`.
pub(super) fn program(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = match lowering.keyword(op, "axis") {
        Some("x") => 0,
        Some("y") => 1,
        Some("z") => 2,
        other => return Err(LowerErrorReason::malformed(format!("there is no axis `{}`", other.unwrap_or_default()))),
    };
    let counts = lowering.body.op(op).name() == tt::GET_NUM_PROGRAMS;
    let register = if counts { SpecialRegister::Programs(axis) } else { SpecialRegister::Program(axis) };
    let mut value = lowering.builder.special(register);
    if axis == 0 && lowering.launch.blocks > 1 {
        // The blocks of a cluster are adjacent along axis 0 and execute one program.
        let program = lowering.builder.binary_const(Binary::ShrU, value, lowering.launch.blocks.trailing_zeros());
        value = lowering.builder.assume_uniform(program, CollectiveScope::Cluster);
    }
    let result = lowering.result(op, 0)?;
    lowering.set_uniform(result, value);
    Ok(())
}

/// Lowers `ttg.warp_id`: the index of the current warp.
pub(super) fn warp(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.builder.special(SpecialRegister::Warp);
    lowering.set_result(op, LoweredValue::Scalar(value))
}

/// Lowers a block barrier, preceded by a fence if it also orders global memory.
pub(super) fn barrier(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let is_local = lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("local"));
    if !is_local || lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("global")) {
        lowering.emit_global_barrier(CollectiveScope::Block);
    } else {
        lowering.builder.barrier(CollectiveScope::Block);
    }
    Ok(())
}

impl Lowering<'_> {
    /// Emits a barrier of a block or cluster that also orders accesses of global memory.
    pub(super) fn emit_global_barrier(&mut self, scope: CollectiveScope) {
        let memory = if scope == CollectiveScope::Block { MemoryScope::Block } else { MemoryScope::Device };
        self.builder.effect(KernelOp::Fence { scope: memory });
        self.builder.barrier(scope);
    }
}

/// Lowers a barrier of all blocks of the cluster; without clusters, a block barrier.
pub(super) fn cluster_barrier(lowering: &mut Lowering<'_>) -> Lowered<()> {
    if lowering.has_groups() {
        return Err(LowerErrorReason::unsupported("a cluster barrier in a program with warp partitions"));
    }
    let scope = lowering.program_scope();
    lowering.builder.barrier(scope);
    Ok(())
}

/// Lowers `ttg.global_scratch_alloc`. A launch allocates no scratch memory, so only unused results are supported.
pub(super) fn scratch(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    if lowering.is_used(result) {
        return Err(LowerErrorReason::unsupported("a launch allocates no global scratch memory"));
    }
    Ok(())
}

pub(super) fn grid_dependency(lowering: &mut Lowering<'_>, wait: bool) -> Lowered<()> {
    lowering.builder.effect(KernelOp::GridDependency { wait });
    Ok(())
}

/// Lowers `tw.clock`.
pub(super) fn clock(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let counter = lowering.keyword(op, "counter").and_then(ClockCounter::from_name);
    let counter = counter.ok_or_else(|| LowerErrorReason::malformed("it names no counter"))?;
    let now = lowering.builder.clock(counter);
    lowering.set_result(op, LoweredValue::Scalar(now))
}

//! What a program asks of its launch: which program and warp runs, and who waits for whom.

use tilewright_kernel::{MemoryScope, Op as KernelOp, Scope, SpecialRegister};
use tilewright_tile::Op;
use tilewright_tile::op::name::tt;

use super::error::{Lowered, Reason};
use super::lowered::LoweredValue;
use super::lowering::Lowering;

/// The number of the program along an axis, or how many there are.
pub(super) fn program(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = match lowering.word(op, "axis") {
        Some("x") => 0,
        Some("y") => 1,
        Some("z") => 2,
        other => return Err(Reason::malformed(format!("there is no axis `{}`", other.unwrap_or_default()))),
    };
    let counts = lowering.body.op(op).name() == tt::GET_NUM_PROGRAMS;
    let register = if counts { SpecialRegister::Programs(axis) } else { SpecialRegister::Program(axis) };
    let value = lowering.builder.special(register);
    let result = lowering.result(op, 0)?;
    lowering.hold_uniform(result, value);
    Ok(())
}

/// The number of the running warp.
pub(super) fn warp(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.builder.special(SpecialRegister::Warp);
    lowering.give(op, LoweredValue::Scalar(value))
}

/// A barrier of the block, which what was written to global memory is seen behind too where the program says so.
pub(super) fn barrier(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let is_local = lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("local"));
    if !is_local || lowering.attribute(op, "addrSpace").is_some_and(|spaces| spaces.to_string().contains("global")) {
        lowering.builder.effect(KernelOp::Fence { scope: MemoryScope::Block });
    }
    lowering.builder.barrier(Scope::Block);
    Ok(())
}

/// Global memory of the program's own: a launch gives none, so only what nobody uses is right.
pub(super) fn scratch(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    if lowering.is_used(result) {
        return Err(Reason::unsupported("a launch gives a program no global memory of its own"));
    }
    Ok(())
}

pub(super) fn grid_dependency(lowering: &mut Lowering<'_>, wait: bool) -> Lowered<()> {
    lowering.builder.effect(KernelOp::GridDependency { wait });
    Ok(())
}

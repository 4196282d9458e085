//! Emits mbarrier operations: one lane of a warp initializes an mbarrier, arrives at it, and invalidates it; every lane
//! waits.
//!
//! `elect.sync` elects the lane, always the same one for the same lanes. At block scope, an arrival releases and a wait
//! acquires; a warp barrier before the arrival orders the accesses of the warp's other lanes. Source: PTX ISA,
//! mbarrier.

use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_plugin::CompileError;

/// Least PTX version, times ten, that has `elect.sync` and mbarriers that expect bytes.
pub(super) const VERSION: u32 = 80;

/// Maximum number of arrivals of one phase of an mbarrier, and of bytes that one phase can expect. Source: PTX ISA,
/// "Contents of the mbarrier object".
const MOST: u32 = (1 << 20) - 1;

/// Barrier of all lanes of the warp, which orders their memory accesses.
pub(super) const WARP_BARRIER: &str = "bar.warp.sync 0xffffffff;";

/// Emits `mbarrier.init` on one lane, for `arrivals` arrivals in each phase.
pub(super) fn init<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    arrivals: u32,
) -> Result<(), CompileError> {
    check_count("arrivals", arrivals)?;
    let operands = [address(emit, pointer)?];
    emit_elected(emit, &format!("mbarrier.init.shared::cta.b64 [$0], {arrivals};"), "r", &operands)
}

/// Emits `mbarrier.arrive` on one lane, after a barrier of the warp. The arrival also adds `bytes` to the number of
/// bytes that the current phase waits for.
pub(super) fn arrive<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    bytes: u32,
) -> Result<(), CompileError> {
    check_count("bytes", bytes)?;
    let operands = [address(emit, pointer)?];
    let text = match bytes {
        0 => "mbarrier.arrive.shared::cta.b64 _, [$0];".to_owned(),
        bytes => format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};"),
    };
    emit_elected(emit, &text, "r", &operands)
}

/// Emits a loop around `mbarrier.try_wait` that ends when the phase with the parity `phase` has completed.
pub(super) fn wait<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    phase: IntValue<'ctx>,
) -> Result<(), CompileError> {
    // PTX takes a parity of 0 or 1, so the higher bits of the phase number are cleared.
    let operands = [address(emit, pointer)?, emit.and(phase, 1)?.into()];
    let text = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again; }";
    emit.ordered_assembly(text, "r,r,~{memory}", &operands, &[]).map(|_| ())
}

/// Emits `mbarrier.inval` on one lane. A barrier of the warp comes first, because other lanes of the warp may still
/// wait at the mbarrier.
pub(super) fn invalidate<'ctx>(emit: &Emitter<'_, 'ctx>, pointer: PointerValue<'ctx>) -> Result<(), CompileError> {
    emit_elected(emit, "mbarrier.inval.shared::cta.b64 [$0];", "r", &[address(emit, pointer)?])
}

/// Emits assembly that one elected lane executes after a barrier of its warp. `$0`, `$1`, ... in the text are the
/// operands, with the given constraints.
pub(super) fn emit_elected<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    text: &str,
    constraints: &str,
    operands: &[BasicValueEnum<'ctx>],
) -> Result<(), CompileError> {
    let text = format!("{{ .reg .pred one; {WARP_BARRIER} elect.sync _|one, 0xffffffff; @one {text} }}");
    emit.ordered_assembly(&text, &format!("{constraints},~{{memory}}"), operands, &[]).map(|_| ())
}

fn address<'ctx>(emit: &Emitter<'_, 'ctx>, pointer: PointerValue<'ctx>) -> Result<BasicValueEnum<'ctx>, CompileError> {
    Ok(emit.shared_address(pointer)?.into())
}

fn check_count(what: &str, count: u32) -> Result<(), CompileError> {
    if count <= MOST {
        return Ok(());
    }
    Err(CompileError::Unsupported(format!("a phase of an mbarrier counts {MOST} {what} at most, not {count}")))
}

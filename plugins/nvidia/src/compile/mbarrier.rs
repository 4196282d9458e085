//! Mbarriers as PTX: one lane of a warp makes them and arrives at them, every lane waits.
//!
//! The lane is elected, `elect.sync`, which always elects the same one of the same lanes. Arriving releases and
//! waiting acquires, both in the block; what the other lanes of the warp did is brought to the one that arrives by a
//! barrier of the warp. Source: PTX ISA, mbarrier.

use tilewright_llvm::Emitter;
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_plugin::CompileError;

/// The version of PTX, times ten, that has `elect.sync` and mbarriers that expect bytes.
pub(super) const VERSION: u32 = 80;

/// Arrivals, and bytes, that a phase counts at most: PTX ISA, "Contents of the mbarrier object".
const MOST: u32 = (1 << 20) - 1;

/// A barrier of all lanes of the warp, which orders what they did to memory.
pub(super) const WARP_BARRIER: &str = "bar.warp.sync 0xffffffff;";

/// `mbarrier.init` by one lane.
pub(super) fn init<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    arrivals: u32,
) -> Result<(), CompileError> {
    counted("arrivals", arrivals)?;
    let operands = [address(emit, pointer)?];
    elected(emit, &format!("mbarrier.init.shared::cta.b64 [$0], {arrivals};"), "r", &operands)
}

/// `mbarrier.arrive` by one lane, after all lanes.
pub(super) fn arrive<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    bytes: u32,
) -> Result<(), CompileError> {
    counted("bytes", bytes)?;
    let operands = [address(emit, pointer)?];
    let text = match bytes {
        0 => "mbarrier.arrive.shared::cta.b64 _, [$0];".to_owned(),
        bytes => format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};"),
    };
    elected(emit, &text, "r", &operands)
}

/// `mbarrier.try_wait` by the parity of the phase, until it has completed.
pub(super) fn wait<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pointer: PointerValue<'ctx>,
    phase: IntValue<'ctx>,
) -> Result<(), CompileError> {
    // Only the lowest bit is a parity.
    let operands = [address(emit, pointer)?, emit.and(phase, 1)?.into()];
    let text = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again; }";
    emit.ordered_assembly(text, "r,r,~{memory}", &operands, &[]).map(|_| ())
}

/// Assembly that one lane executes, the same each time, after all lanes of the warp have come to it. The operands are
/// `$0`, `$1`, ..., with these constraints.
pub(super) fn elected<'ctx>(
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

fn counted(what: &str, count: u32) -> Result<(), CompileError> {
    if count <= MOST {
        return Ok(());
    }
    Err(CompileError::Unsupported(format!("a phase of an mbarrier counts {MOST} {what} at most, not {count}")))
}

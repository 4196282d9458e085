//! Fences and barriers, with waits that LLVM keeps.
//!
//! LLVM may drop the wait before a fence: at the head of a loop, if nothing is in flight on entry but an access at the
//! end of the loop is (llvm-project pull request 220356). It never drops a wait that is an intrinsic or assembly.

use tilewright_kernel::{CollectiveScope, MemoryScope};
use tilewright_llvm::{Emitter, FenceOrdering, TargetDialect, no_clusters_error};
use tilewright_plugin::CompileError;

use super::Amdgcn;

/// Annotation that restricts a fence to shared memory, so that no cache of global memory is flushed.
pub(super) const SHARED_ONLY: Option<(&str, &str)> = Some(("amdgpu-synchronize-as", "local"));

/// Operand of `llvm.amdgcn.sched.barrier` (LLVM, AMDGPU usage), the kinds of instructions that may cross it: none. With
/// other operands, LLVM 22 still moves loads across it.
pub(super) const NOTHING_CROSSES: u32 = 0;

/// Emits a barrier of the given scope, which orders accesses to shared memory only.
pub(super) fn barrier(emit: &Emitter<'_, '_>, architecture: &str, scope: CollectiveScope) -> Result<(), CompileError> {
    let (intrinsic, fenced, name) = match scope {
        CollectiveScope::Warp => ("llvm.amdgcn.wave.barrier", "wavefront", "warp barrier"),
        CollectiveScope::Block => ("llvm.amdgcn.s.barrier", "workgroup", "barrier"),
        CollectiveScope::Cluster => return Err(no_clusters_error()),
    };
    emit.fence(FenceOrdering::Release, fenced, SHARED_ONLY)?;
    // Shared-memory accesses of one warp complete in order, so a block of one warp needs no wait.
    if scope == CollectiveScope::Block && emit.launch().warps > 1 {
        wait_for(emit, architecture, Accesses::Shared)?;
    }
    emit.emit_access_order_marker(name)?;
    emit.call_intrinsic(intrinsic, &[], &[])?;
    emit.fence(FenceOrdering::Acquire, fenced, SHARED_ONLY)
}

/// Emits an acquire and release fence of the given scope, for global and shared memory.
pub(super) fn fence(dialect: &Amdgcn<'_>, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<(), CompileError> {
    release(dialect, emit, scope, "fence")?;
    emit.fence(FenceOrdering::Acquire, dialect.memory_scope(scope), None)
}

/// Emits a release fence of the given scope for global and shared memory, and a wait until earlier accesses have
/// completed. `name` is the operation, for a comment in the assembly.
pub(super) fn release(
    dialect: &Amdgcn<'_>,
    emit: &Emitter<'_, '_>,
    scope: MemoryScope,
    name: &str,
) -> Result<(), CompileError> {
    let architecture = &dialect.target.architecture;
    emit.fence(FenceOrdering::Release, dialect.memory_scope(scope), None)?;
    // The wait follows the fence, since it must also cover the write-back of caches that the fence starts. On gfx9, all
    // warps of a block use the same cache, and their accesses reach it in order.
    let in_block = scope == MemoryScope::Block;
    if !in_block || emit.launch().warps > 1 {
        let in_order = in_block && architecture.starts_with("gfx9");
        wait_for(emit, architecture, if in_order { Accesses::Shared } else { Accesses::All })?;
    }
    emit.emit_access_order_marker(&format!("{name} {}", scope.name()))
}

/// The kinds of memory accesses for which a wait waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accesses {
    /// Loads, stores and atomics in shared memory.
    Shared,
    /// All loads, stores and atomics, in any memory.
    All,
}

/// Emits a wait until the wave's accesses of this kind have completed, by the architecture's wait counters.
fn wait_for(emit: &Emitter<'_, '_>, architecture: &str, accesses: Accesses) -> Result<(), CompileError> {
    let waits: &[&str] = match (accesses, architecture.get(..5)) {
        (Accesses::Shared, Some("gfx12")) => &["dscnt"],
        (Accesses::All, Some("gfx12")) => &["dscnt", "loadcnt", "storecnt"],
        (_, generation) => {
            let counts = match (accesses, generation) {
                (Accesses::Shared, Some("gfx11")) => 0xfc07,
                (Accesses::All, Some("gfx11")) => 0x0007,
                (Accesses::Shared, _) => 0xc07f,
                (Accesses::All, _) => 0x0070,
            };
            emit.call_wait("llvm.amdgcn.s.waitcnt", counts)?;
            if (accesses, generation) == (Accesses::All, Some("gfx11")) {
                emit.ordered_assembly("s_waitcnt_vscnt null, 0x0", "~{memory}", &[], &[])?;
            }
            &[]
        }
    };
    for counter in waits {
        emit.call_wait(&format!("llvm.amdgcn.s.wait.{counter}"), 0)?;
    }
    Ok(())
}

/// Returns the operand of `s_waitcnt` on gfx9 that waits until at most `outstanding` loads from global memory are in
/// flight, and for no other access. Its fields: `vmcnt` in bits 3:0 and 15:14, `expcnt` in 6:4, `lgkmcnt` in 11:8
/// (LLVM, AMDGPU usage, and the ISA references of gfx9). On gfx11, the operands in [`wait_for`] have `expcnt` in 2:0,
/// `lgkmcnt` in 9:4 and `vmcnt` in 15:10.
pub(super) fn loads_outstanding(outstanding: u32) -> u32 {
    const MOST: u32 = 63;
    let loads = outstanding.min(MOST);
    loads & 0xf | (loads >> 4) << 14 | 0x0f70
}

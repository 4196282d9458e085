//! Runs kernel IR on the CPU and counts what it does.
//!
//! An [`Emulator`] runs one kernel: the clusters of a grid one after another, with all blocks, warps and lanes, as the
//! target's [`tilewright_target::TargetDescription`] states. It contains no vendor code: the caller supplies the
//! [`InstructionSemantics`] of vendor instructions; [`SemanticsTable::from_instructions`] derives them from rows of an
//! instruction table. An illegal operation ends the run with a [`Fault`] that names the operation, warp and lane;
//! otherwise the result is a [`RunReport`] with all counts. Runs are deterministic.
//!
//! **Races.** Two accesses of one byte of shared memory, at least one of which writes, race unless
//!
//! - the same lane makes both, or
//! - a cluster barrier lies between them, or
//! - lanes of one block make them, and a block barrier lies between them, or
//! - lanes of one warp make them, and a warp barrier lies between them, or
//! - lanes of one warp make them in different operations, the target's `shared.warp_ordered` is true, and they are not
//!   in the two regions of one `if` at which the warp diverged, or
//! - the warp of the later access has waited for an mbarrier phase at which the other warp arrived after the earlier
//!   access, or
//! - they are writes of one value by one operation of one warp, or
//! - both are atomic operations.
//!
//! A race is reported at the later access in execution order: each warp runs until it waits at a block or cluster
//! barrier or ends, and each block until it waits for the cluster or ends.
//!
//! Races in global memory, of two programs or of two warps of one, are reported if [`RunLimits::global_races`] is set.
//!
//! **Asynchronous operations.** Their accesses of shared memory are in flight until they have been waited for; a
//! conflicting access is a fault, however many barriers lie between. At the wait the operation takes effect as an
//! access of the issuing lane. `docs/kernel-ir.md` has the rules of queues, mbarriers and proxies.
//!
//! **Tensor memory.** A warp accesses only its own rows. Columns are accessible only while allocated, and must be freed
//! before the block ends; allocation takes the highest free columns. Accesses in flight and their order follow the
//! rules of shared memory.
//!
//! **Clusters.** An access of another block's memory needs a cluster barrier before it, since the other block may not
//! have started, and one after it, since the other block may end. An access counts once; its wavefronts are the sum
//! over the blocks whose memory its lanes access, since one wavefront covers one block's memory.

mod access;
mod arithmetic;
mod atomic;
mod cluster;
mod fault;
mod global_races;
mod mapped_tensor;
mod memory;
mod named_barriers;
mod observed;
mod print;
mod program;
mod queues;
mod register_pool;
mod rounding;
mod rows;
mod run;
mod semantics;
mod shared;
mod tensor_memory;
mod warp;

pub use fault::{EarlierConflictingAccess, Fault, FaultKind, FaultLocation, LaneFault};
pub use mapped_tensor::TensorMapArgument;
pub use memory::{BufferHandle, GlobalMemory, HostAccessError};
pub use print::{LanePrintRecord, PrintReceiver};
pub use rows::MmaElementEvaluator;
pub use run::{Argument, Emulator, RunLimits, RunReport, run_kernel};
pub use semantics::{InstructionCall, InstructionSemantics, SemanticsTable};

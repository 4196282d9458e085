//! Runs kernel IR on the CPU and counts what it does.
//!
//! An [`Emulator`] runs one kernel: all clusters of a grid, one after another, all blocks, warps and lanes of
//! each, as the target's [`tilewright_target::TargetDescription`] says. It knows no vendor: vendor
//! instructions get their [`InstructionSemantics`] from the caller; [`SemanticsTable::of_rows`] derives them from rows of an
//! instruction table. An illegal operation ends the run with a [`Fault`] that names the operation, warp and lane; otherwise the
//! result is a [`RunReport`] with all counts. Runs are deterministic.
//!
//! **Races.** Two accesses of one byte of shared memory, at least one of which writes, race unless
//!
//! - the same lane makes both, or
//! - a barrier of the cluster lies between them, or
//! - lanes of one block make them, and a barrier of the block lies between them, or
//! - lanes of one warp make them, and a barrier of the warp lies between them, or
//! - lanes of one warp make them at different operations, the target's `shared.warp_ordered` is
//!   true, and they don't stand in the two regions of one `if` at which the warp's lanes parted, or
//! - the warp of the later one has waited for a phase of an mbarrier at which the other's warp arrived after the
//!   earlier one, or
//! - they are writes of one value by one operation of one warp, or
//! - both are atomic operations.
//!
//! A race is found at the later of the two accesses in the order in which warps are run: each until
//! it waits at a barrier of the block or cluster or ends, and one block after the other, each until it waits
//! for the cluster or ends. Races in global memory are not looked for.
//!
//! **Asynchronous operations.** What they read and write of shared memory is under way until they have been waited
//! for; whoever touches it is at fault, however many barriers lie between. Then it has landed as if the lane that issued
//! it had accessed it at its wait. `docs/kernel-ir.md` has the rules of queues, mbarriers and proxies.
//!
//! **Tensor memory.** A warp moves its own rows only; columns are accessed only while they are allotted, and are given back
//! before the block ends; the last free ones are allotted first. What is under way there, and what is ordered, is as in
//! shared memory.
//!
//! **Clusters.** An access of another block's memory must have a barrier of the cluster before it, for the
//! other block may not have begun, and one after it, for the other may end. A wavefront is of one memory: an
//! access counts once, with the wavefronts that it takes in each memory that its lanes reach.

mod access;
mod arithmetic;
mod atomic;
mod cluster;
mod fault;
mod mapped_tensor;
mod meaning;
mod memory;
mod print;
mod program;
mod queues;
mod rounding;
mod rows;
mod run;
mod shared;
mod tensor_memory;
mod warp;

pub use fault::{Fault, FaultKind, FaultPlace, LaneFault, OtherAccess};
pub use mapped_tensor::TensorMapValue;
pub use meaning::{Call, InstructionSemantics, SemanticsTable};
pub use memory::{Buffer, GlobalMemory, MemoryError};
pub use print::{Printed, Printer};
pub use rows::ElementSum;
pub use run::{Argument, Emulator, RunLimits, RunReport, run};

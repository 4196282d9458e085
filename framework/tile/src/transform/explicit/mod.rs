//! Expands explicit-memory programs (as in Hexcute, with explicit tensors in shared memory) to Triton's operations.
//!
//! Views of global memory become pointers, tensors in shared memory become allocations, copies become loads, stores and
//! asynchronous copies. The choices are an input ([`ExplicitMemoryChoices`]), found by layout assignment. Layouts of
//! shared memory stay open ([`UNRESOLVED_LAYOUT`]) until the layouts of registers are known.
//!
//! - `expand`: operation by operation, `expander`: its state;
//! - `choices`: the choices;
//! - `view`: views of global memory, `tile`: pointers and masks of a tile;
//! - `copy`: copies, `tensor_copy`: bulk tensor copies;
//! - `parts`: parts of tensors in shared memory;
//! - `pending_copies`: bulk tensor copies that the program orders itself;
//! - `loops`: loops whose copies can be prefetched, `pipeline`: their schedule;
//! - `packed`: elements narrower than a byte;
//! - `values`: dots, casts, reductions.

mod choices;
mod copy;
mod expand;
mod expander;
mod loops;
mod packed;
mod parts;
mod pending_copies;
mod pipeline;
mod tensor_copy;
mod tile;
mod values;
mod view;

pub use super::pipeliner::ARRIVE_PER_WARP;
pub use choices::{
    CopyChoice, DotChoice, DotWarps, ElementDistance, ExplicitMemoryChoices, PingPongChoice, ProducerChoice,
    ScaledOffsetTerm, TensorMapTileAddress,
};
pub use expand::{LoweredExplicitFunction, expand_explicit_memory};
pub use expander::UNRESOLVED_LAYOUT;
pub use loops::{SharedCopyLoop, find_shared_copy_loops, tensors_of_iterations};
pub use pending_copies::{PendingCopies, find_pending_copies, is_pending_copy};

//! Finds the layout of a tensor in shared memory from its accesses: `M = S o m`, a layout `m` followed by a swizzle `S`
//! (Hexcute paper, section 5.2 and appendix C).
//!
//! Each access can be executed by several alternatives (instructions, or plain accesses). Each alternative requires
//! that some elements are adjacent at the low end of the address: a [`FreeStrideLayout`], a layout whose other strides
//! are free. [`solve_shared_layout`] chooses an alternative for each access such that all terms have a common
//! refinement. Then it chooses a swizzle that preserves what the terms require, so that the accesses take the fewest
//! wavefronts over all phases: the general linear swizzle, or `Swizzle<B,M,S>`, which is cheaper to compute, if it does
//! as well. Asynchronous reads and writes in canonical layouts that the hardware fixes (matrix descriptors, bulk tensor
//! copies) determine the whole layout. Elements narrower than a byte are packed; the terms include which elements share
//! a byte.

mod error;
mod fixed;
mod leaf;
mod packing;
mod search;
mod solution;
mod tensor;
mod term;

pub use error::{AccessConstraint, MemorySynthesisError};
pub use search::{
    SharedLayoutSearchLimits, choose_accesses_for_layout, solve_shared_layout, solve_shared_layout_with_search_limits,
};
pub use solution::{AccessSolution, SharedLayoutSolution};
pub use tensor::{AccessAlternative, SharedTensor, TensorAccess};
pub use term::{FreeStrideLayout, UnsatisfiableAccess};

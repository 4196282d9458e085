//! The layout of one tensor in shared memory, from those who access it: `M = S o m` (seed 003, section 5.2 and appendix C).
//!
//! Each access, by each way in which it can go, asks that some elements lie together at the low end of the address: a
//! [`StrideTerm`], a layout whose other strides are free. [`solve`] takes a way for each access such that all terms have a common
//! refinement, and for that a swizzle that leaves what terms ask alone, so that the accesses take the fewest wavefronts,
//! all phases counted: the general linear swizzle, or `Swizzle<B,M,S>`, which is cheaper to compute, where it does as well.
//! Ways that read or write memory by themselves, in arrangements that the hardware fixes, say the whole layout. Elements
//! narrower than a byte are packed: what shares a byte is part of the terms.

mod error;
mod fixed;
mod leaf;
mod packing;
mod search;
mod solution;
mod tensor;
mod term;

pub use error::{AccessConstraint, MemorySynthesisError};
pub use search::{SearchBounds, serve, solve, solve_with};
pub use solution::{AccessSolution, Solution};
pub use tensor::{AccessAlternative, SharedTensor, TensorAccess};
pub use term::StrideTerm;

//! Gathers along an axis: the element of a line that an index names at run time.
//!
//! Where the lines of the source lie in the warps that want them, lanes read from each other: one
//! exchange for each register that may hold the element, and a select. Otherwise the source goes to
//! shared memory, and every index is a load (seed 000, section 5.5 and Figure 8). Banks then depend on
//! the indices; what is planned with is the mean over indices drawn evenly.

mod exchanges;
mod plan;
mod problem;
mod shared;

pub use plan::{Gather, gather, gathers};

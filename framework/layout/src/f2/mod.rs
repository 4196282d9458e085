//! Linear algebra over F2 on machine words.
//!
//! A vector is a `u64`, bit `i` being its `i`-th component; a matrix is a slice of columns. This module knows nothing
//! of layouts and imports nothing.

mod matrix;
mod subspace;

pub use matrix::{Columns, Solver, multiply_vector, rank};
pub use subspace::Subspace;

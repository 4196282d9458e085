//! Linear algebra over F2 on machine words.
//!
//! A vector is a `u64`, bit `i` being its `i`-th component; a matrix is a slice of columns.
//! Nothing here knows what the bits stand for. Imports nothing.

mod matrix;
mod subspace;

pub use matrix::{Columns, Solver, multiply, rank};
pub use subspace::Subspace;

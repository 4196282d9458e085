//! The verifier of tile programs.
//!
//! Rules that the operations' definitions state (groups, type constraints, type inference) are checked by one routine;
//! rules of single operations (shapes, regions, control flow) by the modules below, selected by the operation's name.
//! Verification stops at the first violation.

mod casts;
mod check;
mod control;
mod dominance;
mod dots;
mod explicit;
mod module;
mod operation;
mod shapes;
mod violation;

use check::{Check, Checked, ensure, listed};
pub use module::verify;
pub use violation::TileViolation;

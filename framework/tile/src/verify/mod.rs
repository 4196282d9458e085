//! The rules that tile programs keep.
//!
//! What every row says (groups, classes of types, how types follow from each other) is checked by one routine, what
//! only some operations have (shapes, regions, control flow) by those of the rooms below, found by the operation's
//! name. Checking stops at the first rule that is broken.

mod casts;
mod check;
mod control;
mod dominance;
mod explicit;
mod module;
mod operation;
mod products;
mod shapes;
mod violation;

use check::{Check, Checked, ensure, listed};
pub use module::verify;
pub use violation::TileViolation;

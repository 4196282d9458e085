//! The verifier of tile programs.
//!
//! Rules that rows declare (groups, type constraints, type inference) are checked by one routine; rules of single
//! operations (shapes, regions, control flow) by the modules below, selected by the operation's name. A row's key
//! `verify` lists further conditions, among them the inference of encodings: together they are the rules of Triton's
//! verifier, for texts. A transformed module need not follow the latter, since layouts of operands and results then
//! are those of the chosen instructions. Verification stops at the first violation.

mod amd;
mod cache_policy;
mod casts;
mod check;
mod conditions;
mod context;
mod control;
mod descriptors;
mod dominance;
mod dots;
mod encodings;
mod explicit;
mod layouts;
mod mbarriers;
mod memory;
mod module;
mod nesting;
mod operation;
mod shapes;
mod tensor_core_dots;
mod tensor_memory;
mod violation;

use check::{Check, Checked, ensure, listed};
pub(crate) use conditions::is_condition;
pub use module::{verify, verify_transformed, verify_with};
pub use violation::TileViolation;

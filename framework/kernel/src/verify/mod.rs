//! The verifier: checks all properties that code generators rely on.
//!
//! The rules are those of `docs/kernel-ir.md`; [`Violation`] lists them. `body` checks that values are visible at their
//! uses and that regions fit, `operation` and `attributes` check operands, results and attributes of each operation,
//! `control` that collectives stand under uniform control.

mod attributes;
mod body;
mod check;
mod control;
mod head;
mod operation;
mod violation;

pub use check::{verify, verify_without_uniformity};
pub use violation::{VerifyError, Violation};

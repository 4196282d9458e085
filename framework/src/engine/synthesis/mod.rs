//! Layouts and task mappings of programs that state where tiles lie, solved from constraints (seed 003).
//!
//! [`constraint`] connects layouts of registers by operations; [`memory`] finds the layout of a tensor in shared memory from who accesses it;
//! [`coalesce`] begins a chain of copies at global memory; [`model`] predicts what a program takes.
//!
//! Imports `movement`, `cute`, and floors below them.

pub mod coalesce;
pub mod constraint;
pub mod memory;
pub mod model;

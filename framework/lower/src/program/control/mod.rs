//! Lowers structured control flow (`scf`).

mod carried_registers;
mod choice;
mod counted;
mod flat;
mod guarded_loads;
mod repeated;

pub(super) use choice::{chosen, inlined, lower_branch, switched};
pub(super) use counted::counted;
pub(super) use repeated::repeated;

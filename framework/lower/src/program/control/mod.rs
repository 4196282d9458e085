//! Lowers structured control flow (`scf`).

mod choice;
mod counted;
mod flat;
mod repeated;

pub(super) use choice::{chosen, inlined, lower_branch, switched};
pub(super) use counted::counted;
pub(super) use repeated::repeated;

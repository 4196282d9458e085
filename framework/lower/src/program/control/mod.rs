//! Lowers structured control flow (`scf`).

mod choice;
mod counted;
mod flat;
mod guarded_loads;
mod pointer_bases;
mod pointer_sum;
mod repeated;
mod yielded;

pub(super) use choice::{chosen, inlined, lower_branch, switched};
pub(super) use counted::counted;
pub(super) use pointer_sum::PointerSum;
pub(super) use repeated::repeated;

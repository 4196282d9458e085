//! Loops and choices.

mod choice;
mod counted;
mod flat;
mod repeated;

pub(super) use choice::{arm, chosen, inlined, switched};
pub(super) use counted::counted;
pub(super) use repeated::repeated;

//! One warp: its registers, where it is, which of its lanes are there.
//!
//! `compute`, `exchange`, `control`, `instruction`, `report`, `asynchronous` and `tensor_memory` run its steps.

mod asynchronous;
mod compute;
mod control;
mod exchange;
mod execution;
mod instruction;
mod report;
mod tensor_memory;

use execution::{Done, Frame, accessor, memories};
pub(super) use execution::{GridPlace, Pause, Surroundings, Warp};

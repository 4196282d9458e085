//! One warp: its registers, its position in the program, its active lanes.
//!
//! `compute`, `shuffle`, `control`, `instruction`, `report`, `asynchronous` and `tensor_memory` execute its steps.

mod asynchronous;
mod compute;
mod control;
mod execution;
mod instruction;
mod report;
mod shuffle;
mod tensor_memory;

pub(super) use execution::{BlockContext, GridPosition, Pause, Warp, end_of_share};
use execution::{Done, Frame, accessor, memories};

//! Stages of the loops of a program whose layouts are assigned: loads go ahead of what uses them.
//!
//! [`staged`] asks for each loop which loads can ([`tilewright_tile::transform::loads`]), how each goes (`how`), in how many
//! stages, and for how much memory and registers (`choose`); `lines` is what it tells. It stands in the engine since all of
//! that follows from plans of movement and of products, and before lowering since what it gives is a tile program.
//!
//! A load goes ahead where its value passes through shared memory anyway: into a conversion, or to a unit that reads it there.
//! Where a row of the target copies past the registers as wide as the load would be, by that row; else by registers, which are
//! loaded when a turn begins and stored when it ends. The buffer's layout is that of [`tilewright_plan::memory_synthesis`] for the two
//! who access it.

mod choose;
mod how;
mod lines;
mod pipeline;

pub use lines::{LoadLine, PipelinedLoopLine};
pub use pipeline::staged;

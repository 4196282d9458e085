//! Constraints on the layouts of tensors in registers, by the operations that connect them (seed 003, figure 12).
//!
//! A layout maps thread (lane and warp) and value (register) to an element of a tile; an instruction maps threads and values
//! to an element of its own tile. [`composite`] is what carries the instruction's tile to the tensor's: `f . p^-1`. A
//! `copy` has the same on both sides; a [`product`] has one map for each of M, N and K in all three operands (theorem 1,
//! as corrected); [`elementwise`] operations have equal layouts; a [`reduction`] forgets an axis. Each constraint can be
//! checked, and solved for what is not known; where it does not hold the error says at which coordinate.

mod composite;
mod copy;
mod elementwise;
mod error;
mod product;
mod thread_value;

pub use composite::composite;
pub use copy::{CopyTiles, copied, copy_holds};
pub use elementwise::{elementwise, reduced, reduction};
pub use error::Unsatisfied;
pub use product::{OperandLayouts, OperandTiles, Tiling, factors, product};
pub use thread_value::{of_thread_value, thread_value};

//! The executable form of a kernel: a sequence of steps with branches, on registers.
//!
//! A register file holds one `u64` for each lane and element of every value; the lanes of an element are adjacent.
//! Values get registers in the order of definition, so a result always has higher register numbers than its operands,
//! except for copies of yielded values. Casts and extracts that keep an element's bits share the operand's registers.

mod decode;
mod step;

pub(super) use decode::{Program, decode};
pub(super) use step::{Access, Atomic, Bounds, Copied, Instruction, Print, Step};

//! A kernel in the form in which it is run: steps in a row, with jumps, on registers.
//!
//! A register file holds, for every element of every value, one `u64` for each lane; the lanes of
//! an element lie side by side. Values get their place in the order of definition, so that a result
//! always lies above its operands, but for what yields copy. Casts and extracts that keep an
//! element's bits share its place.

mod decode;
mod step;

pub(super) use decode::{Program, decode};
pub(super) use step::{Access, Atomic, Bounds, Copied, Instruction, Print, Step};

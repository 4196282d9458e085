//! Programs whose tiles have sizes yet to be chosen: text with places for numbers.
//!
//! ```text
//! tw.size m = 64, 128
//! tw.size k = 32, 64
//! tw.blocks 4096 / m * 64
//! !a = !ttg.memdesc<${m}x${k}xf16, #tw.auto, #ttg.shared_memory, mutable>
//! ```
//!
//! Each `tw.size` names a size and the numbers that it may be; `tw.blocks` says how many blocks a launch has then. `${...}`
//! stands for a number, wherever it is: in a shape, in a layout, in a constant. What is left when these are put in is a
//! program as any other, whose lines are those of the text.

mod expression;
mod sized_text;

pub use expression::SizeError;
pub use sized_text::{SizeParameter, SizedText};

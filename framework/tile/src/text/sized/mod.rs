//! Programs with tile sizes as parameters: program text with placeholders for numbers.
//!
//! ```text
//! tw.size m = 64, 128
//! tw.size k = 32, 64
//! tw.blocks 4096 / m * 64
//! !a = !ttg.memdesc<${m}x${k}xf16, #tw.auto, #ttg.shared_memory, mutable>
//! ```
//!
//! Each `tw.size` names a size with its candidate values; `tw.blocks` is the number of blocks of a launch. `${...}` is
//! replaced by a number anywhere in the text: in a shape, a layout or a constant. The result is an ordinary program
//! with the same line numbers.

mod expression;
mod sized_text;

pub use expression::SizeExpressionError;
pub use sized_text::{TileSizeCandidates, TileSizeTemplate};

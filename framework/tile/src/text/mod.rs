//! Tile programs as text: Triton's IR, as MLIR writes it.
//!
//! [`parse_module`] reads the output of [`print_module`] back to the same module. Operations are in the format of their
//! row, or in MLIR's generic form: `"arith.addf"(%a, %b) : (f32, f32) -> f32`. [`TileSizeTemplate`] is a text with
//! placeholders for tile sizes.

mod parse;
mod print;
mod sized;

pub use parse::parse_module;
pub use print::print_module;
pub use sized::{SizeExpressionError, TileSizeCandidates, TileSizeTemplate};

//! Tile programs as text: Triton's IR, as MLIR writes it.
//!
//! [`parse`] reads what [`print`](fn@print) writes, and gives the same module back. Operations are read in the form
//! that their row has, or in MLIR's generic form: `"arith.addf"(%a, %b) : (f32, f32) -> f32`. [`SizedText`] is a text with places
//! for sizes that are yet to be chosen.

mod parse;
mod print;
mod sized;

pub use parse::parse;
pub use print::print;
pub use sized::{SizeError, SizeParameter, SizedText};

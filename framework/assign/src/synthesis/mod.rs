//! Layouts and task mappings of programs that state where tiles lie, solved from constraints (seed 003).
//!
//! [`synthesize`] takes a program with words of the `tw` dialect and gives the same in Triton's words, with a layout for every
//! tensor, as [`crate::assign`] does for other programs, and how all that was found ([`Derivation`]):
//!
//! 1. the graph of operations falls apart at accesses of shared memory; products are the anchors of its parts (`anchors`),
//!    where there is none the copy that moves the most;
//! 2. what remains open is a tree of choices (`tree`), gone through depth first and cut by what the best leaf takes (`search`);
//! 3. on each leaf the engine solves the constraints of the registers, and the layouts of shared memory follow from all that
//!    access it (`place`, `accesses`), how some copies go from these (`follows`); what the program then does is counted (`work`,
//!    `meeting`, `registers`), and the model says what it takes;
//! 4. each layout of the best leaf is traced back to the constraint that gives it, which must hold (`derived`).
//!
//! [`tilewright_plan::constraint`] connects layouts of registers by operations; [`tilewright_plan::memory_synthesis`] finds the layout of a tensor in shared memory from
//! who accesses it; [`coalesce`] begins a chain of copies at global memory; [`model`] predicts what a program takes.

pub(super) mod accesses;
mod anchors;
mod boxes;
pub mod coalesce;
mod derivation;
mod derived;
mod error;
mod follows;
mod leaf;
mod meeting;
pub mod model;
pub(super) mod often;
mod options;
pub(super) mod place;
mod predicted;
pub(super) mod registers;
mod search;
mod solved;
mod tiles;
mod tree;
mod work;

pub use derivation::{
    AccessLine, CopyLine, Derivation, LoopLine, MemoryLine, PredictionLine, ProductLine, RegisterLine, SearchSize,
};
pub use error::SynthesisError;
pub use options::Options;
pub use search::{Synthesized, is_explicit, synthesize};
pub use tiles::{Tiled, TiledProgram, synthesize_tiled};

//! Compiles tile programs to kernels in printable stages.
//!
//! | stage | result |
//! |---|---|
//! | `sizes` | the chosen sizes of a text with open tile sizes ([`tilewright_tile::text::TileSizeTemplate`]) |
//! | `read` | the program as written, verified |
//! | `import` | neutral operations instead of vendor operations ([`tilewright_tile::import`]) |
//! | `shape` | one function without calls, branches and dead code ([`tilewright_tile::transform`]) |
//! | `synthesis` | the derivation of layouts, for programs with explicit memory ([`tilewright_assign::synthesis`]) |
//! | `layouts` | a layout for every tensor, explicit conversions, pipelined loops ([`tilewright_assign`]) |
//! | `kernel` | the kernel IR ([`tilewright_lower`]) |
//! | `math` | arithmetic instead of functions without an instruction ([`tilewright_math`]) |
//!
//! [`tilewright_plugin::Target::compile`] then generates code. Compilation is deterministic.

mod chosen_sizes;
mod compiler;
mod config;
mod error;
mod kernel;
mod neutral;
mod predict;
mod sizes;
mod stage;

pub use chosen_sizes::ChosenTileSizes;
pub use compiler::{ProgramCompiler, ProgramOptions};
pub use error::ProgramError;
pub use stage::CompilationStageOutput;

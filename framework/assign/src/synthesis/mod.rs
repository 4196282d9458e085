//! Synthesis: layouts and task mappings of programs with explicit memory, solved from constraints (Hexcute paper).
//!
//! [`synthesize`] takes a program with operations of the `tw` dialect, which state where tiles lie. It returns the
//! program in Triton's operations with a layout for every tensor, as [`crate::assign_layouts`] does for other programs,
//! and the derivation of the layouts ([`Derivation`]):
//!
//! 1. The dataflow graph splits at accesses of shared memory. The anchor of a part is its dot (`anchors`), or the copy
//!    that moves the most if it has no dot.
//! 2. Open choices form a tree (`tree`), searched from its first leaf, pruned by the cost of the best (`search`).
//! 3. At each leaf the engine solves the register layouts. The layouts of shared memory follow from all accesses
//!    (`shared_layout`, `accesses`), and further choices for copies follow from these layouts (`follows`). The work of
//!    the program is counted (`work`, `implied_barriers`, `registers`), and the performance model predicts its time.
//! 4. Each layout of the best leaf is traced back to the constraint that determines it, which is checked (`derived`).
//!
//! [`predict_launch_time`] predicts the time of a launch of any program with layouts, synthesized or not.
//! [`tilewright_plan::constraint`] relates the register layouts of an operation; [`tilewright_plan::memory_synthesis`]
//! finds the layout of a tensor in shared memory from its accesses; [`coalesce`] starts a chain of copies at global
//! memory; [`model`] predicts performance.

mod accesses;
pub(super) mod alternatives;
mod anchors;
pub mod coalesce;
mod derivation;
mod derived;
mod error;
mod follows;
mod implied_barriers;
pub(super) mod iteration_count;
mod launch_time;
mod leaf;
mod live_bytes;
mod loads_in_flight;
pub mod model;
mod operand_work;
mod options;
mod predicted;
mod prefetched;
pub(super) mod registers;
mod requests;
mod reuse;
mod scratch;
mod search;
mod shared_layout;
mod solved;
mod tensor_copies;
mod tiles;
mod tree;
mod work;

pub use alternatives::RejectedAlternative;
pub use derivation::{
    AccessReport, CopyReport, Derivation, PingPongReport, PredictedPerformance, RegisterTensorReport, SearchStats,
    SharedCopyLoopReport, SharedTensorReport,
};
pub use error::SynthesisError;
pub use launch_time::{LaunchPredictionInput, predict_launch_time};
pub use options::SynthesisOptions;
pub use search::{SynthesizedProgram, has_explicit_memory_ops, synthesize};
pub use tiles::{TileSizeSearchResult, TiledProgram, search_tile_sizes};
#[doc(inline)]
pub use tilewright_tile::axis_info::LaunchValues;

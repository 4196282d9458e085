//! Layout assignment for tile programs.
//!
//! [`assign_layouts`] gives every tensor a layout. [`layouts`] resolves the layout names of types; [`dot_plan`] plans
//! dots; [`shared_buffer`] lays out buffers in shared memory; [`stages`] pipelines loops; [`synthesis`] solves programs
//! with explicit memory, which state where their tiles lie.

mod assign;
pub mod batches;
mod bulk_store;
mod chain;
mod config;
mod dot_alternatives;
pub mod dot_plan;
mod dot_report;
mod equal_elements;
mod error;
mod given_layouts;
mod graph;
mod interner;
mod lane_swaps;
pub mod launch_tensor;
pub mod layouts;
mod local_search;
pub mod memory;
mod moves;
mod op_costs;
mod operand_orders;
mod operand_words;
mod price;
mod producer_warps;
mod propagate;
mod replica_stores;
mod report;
mod rewrite;
pub mod shared_buffer;
mod source;
mod stage_count;
pub mod stages;
mod state;
mod store_swaps;
mod strategy;
pub mod synthesis;

/// Assumed trip count of a loop: of every loop in layout assignment, and of loops with an unknown trip count in the
/// performance model of synthesis.
const LOOP_WEIGHT: u64 = 8;

pub use assign::{AssignedModule, assign_layouts};
pub use bulk_store::find_bulk_reduction;
pub use config::LaunchConfig;
pub use dot_report::DotReport;
pub use error::AssignmentError;
pub use report::{AssignmentReport, ConversionReport, FunctionReport, ValueReport};
pub use strategy::{AssignmentOptions, Strategy};

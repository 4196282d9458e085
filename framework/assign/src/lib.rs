//! What a tile program says of its values, and the layouts that follow.
//!
//! [`layouts`] says what the names of layouts in types stand for;
//! [`product`] asks for plans of products; [`stages`] lets loads of loops go ahead; [`synthesis`] solves for layouts of tiles whose place in memory a program states.

mod assign;
mod chain;
mod error;
mod graph;
pub mod layouts;
mod least;
mod machine;
pub mod memory;
mod moves;
mod op_costs;
mod pool;
mod price;
pub mod product;
mod propagate;
mod report;
mod rewrite;
pub mod stages;
mod state;
mod strategy;
pub mod synthesis;
mod ways;

/// How often the body of a loop is taken to run where nothing says how often it does.
const LOOP_WEIGHT: u64 = 8;

pub use assign::{Assigned, assign};
pub use error::EngineError;
pub use machine::LaunchConfig;
pub use report::{AssignmentReport, ConversionReport, FunctionReport, ValueReport};
pub use strategy::Strategy;

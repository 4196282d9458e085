//! Tilewright: tensor layouts as linear maps over F2, and what follows from that.
//!
//! A compiler links this crate, loads vendor plugins at run time, and asks it for layouts,
//! data-movement plans with their costs and bounds, kernel IR, and code for a target.

pub mod operations;
mod program;
mod question;
mod session;

pub use program::*;
pub use question::{LayoutQuestion, QuestionError};
pub use session::{PipelineError, Session};

pub use tilewright_assign as engine;
pub use tilewright_kernel as kernel;
pub use tilewright_layout as layout;
pub use tilewright_lower as lower;
pub use tilewright_math as math;
pub use tilewright_plan::{constraint, contract, memory_synthesis, movement};
pub use tilewright_plugin as plugin;
pub use tilewright_target as target;
pub use tilewright_tile as tile;

//! Options of layout assignment.

use serde::Serialize;

/// The strategy by which layouts are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Strategy {
    /// Propagation: anchors (operations that prefer a layout) take their preferred layouts, other operations follow,
    /// and conversions move backward (Linear Layouts paper, section 4.4).
    Propagation,
    /// Local search for the least total cost; it starts from the result of [`Strategy::Propagation`].
    #[default]
    LeastCost,
}

/// Options of [`crate::assign_layouts`]. A [`Strategy`] converts to options with this strategy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AssignmentOptions {
    /// The strategy by which layouts are chosen.
    pub strategy: Strategy,
    /// The max number of pipeline stages with which [`crate::stages::pipeline_loops`] will pipeline the loops, as plans
    /// of dots are compared by the predicted time of the pipelined program. `None` takes the number that a loop states,
    /// or the target's.
    pub stages: Option<u32>,
}

impl From<Strategy> for AssignmentOptions {
    fn from(strategy: Strategy) -> Self {
        Self { strategy, stages: None }
    }
}

//! The figure (plot of measurements) that a case belongs to. A figure compares variants, such as kinds of plans, at
//! several points, such as shapes.

use serde::{Deserialize, Serialize};

/// The place of a case in a figure (plot of measurements): the point on the figure's axis, such as a shape, and the
/// variant, such as a kind of plan, that the case measures at this point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FigurePoint {
    /// The name of the figure, such as `transpose`.
    pub name: String,
    /// The point: shape, element type and other parameters that all variants share.
    pub point: String,
    /// The variant that the case measures, such as a kind of plan.
    #[serde(rename = "way")]
    pub variant: String,
    /// Whether this variant is the baseline; the speedups of the others are relative to it.
    pub is_base: bool,
}

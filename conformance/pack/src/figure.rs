//! The figure (plot of measurements) that a case belongs to: a figure compares several variants at several points.

use serde::{Deserialize, Serialize};

/// The place of a case in a figure (plot of measurements): the figure, the point there (such as a shape), and the
/// variant, one of those that are compared at the point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Figure {
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

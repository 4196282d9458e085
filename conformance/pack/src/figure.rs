//! The place of a case in a figure: one of the ways that are compared at one point.

use serde::{Deserialize, Serialize};

/// Which figure, where in it, and which way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Figure {
    /// The figure's name.
    pub name: String,
    /// The point: shape, element and what else the ways have in common.
    pub point: String,
    /// The way.
    pub way: String,
    /// Whether others are compared with this one: ratios are how many times longer it takes.
    pub is_base: bool,
}

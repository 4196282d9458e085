//! Strategies of layout assignment.

/// How layouts are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Anchors choose, others follow, conversions move backward (seed 000, section 4.4).
    Propagation,
    /// At least cost, from the answer of [`Strategy::Propagation`] on.
    #[default]
    LeastCost,
}

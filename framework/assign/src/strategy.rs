//! Strategies of layout assignment.

/// The strategy by which layouts are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Propagation: anchors (operations that prefer a layout) take their preferred layouts, other operations follow,
    /// and conversions move backward (Linear Layouts paper, section 4.4).
    Propagation,
    /// Local search for the least total cost; it starts from the result of [`Strategy::Propagation`].
    #[default]
    LeastCost,
}

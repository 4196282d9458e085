//! Choices of the property that colours show in pictures of distributed layouts.

/// The index (lane, warp or register) that the hue shows in a picture of a distributed layout. Pictures of other
/// layouts ignore it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourBy {
    /// The hue shows the lane of an element.
    #[default]
    Lane,
    /// The hue shows the warp of an element, and the shade its lane.
    Warp,
    /// The hue shows the register of an element.
    Register,
}

impl ColourBy {
    /// Returns the name of the index: `lane`, `warp`, `register`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lane => "lane",
            Self::Warp => "warp",
            Self::Register => "register",
        }
    }
}

//! Schemes of colours for distributed layouts.

/// The index that hue distinguishes in a distributed layout. Other layouts have one scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourBy {
    /// The lane that holds an element.
    #[default]
    Lane,
    /// The warp; lanes are shades.
    Warp,
    /// The register.
    Register,
}

impl ColourBy {
    /// Its name: `lane`, `warp`, `register`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lane => "lane",
            Self::Warp => "warp",
            Self::Register => "register",
        }
    }
}

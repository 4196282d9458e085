//! Schemes of colours for distributed layouts.

/// What the hues of a distributed layout tell apart. Other layouts have one scheme.
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

//! A cell of a grid: its text, its colour, and what lights up together with it.

use crate::{Fill, Tone};

/// A cell of a grid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Lines of text, top to bottom; a terminal shows them on one line with `/` between.
    pub lines: Vec<String>,
    /// The colour behind the text.
    pub fill: Fill,
    /// A heavy frame around the cell.
    pub mark: Option<Tone>,
    /// Cells with an equal link anywhere in the picture light up with this one.
    pub links: Vec<String>,
    /// Cells with an equal kin anywhere in the picture are framed faintly with this one.
    pub kin: Vec<String>,
    /// Lines that are shown when the cell is pointed at; its text where there are none.
    pub hover: Vec<String>,
}

impl Cell {
    /// A cell with one line of text and no colour.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { lines: vec![text.into()], ..Self::default() }
    }

    /// A place of a grid without a cell, as in a corner that nothing fills.
    #[must_use]
    pub fn absent() -> Self {
        Self { fill: Fill::Absent, ..Self::default() }
    }

    /// Whether there is a cell.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.fill == Fill::Absent
    }

    /// With one more line of text.
    #[must_use]
    pub fn line(mut self, text: impl Into<String>) -> Self {
        self.lines.push(text.into());
        self
    }

    /// With this colour.
    #[must_use]
    pub fn fill(mut self, fill: Fill) -> Self {
        self.fill = fill;
        self
    }

    /// With a heavy frame.
    #[must_use]
    pub fn mark(mut self, tone: Tone) -> Self {
        self.mark = Some(tone);
        self
    }

    /// With one more link.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.links.push(link.into());
        self
    }

    /// With further links.
    #[must_use]
    pub fn links(mut self, links: impl IntoIterator<Item = String>) -> Self {
        self.links.extend(links);
        self
    }

    /// With one more kin.
    #[must_use]
    pub fn kin(mut self, kin: impl Into<String>) -> Self {
        self.kin.push(kin.into());
        self
    }

    /// With further kin.
    #[must_use]
    pub fn kins(mut self, kin: impl IntoIterator<Item = String>) -> Self {
        self.kin.extend(kin);
        self
    }

    /// With one more line that is shown when the cell is pointed at.
    #[must_use]
    pub fn hover(mut self, text: impl Into<String>) -> Self {
        self.hover.push(text.into());
        self
    }

    /// The text on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.join("/")
    }
}

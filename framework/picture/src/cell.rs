//! A cell of a grid: its text, its colour, and its links to other cells.

use crate::{CellColour, EmphasisColour};

/// A cell of a grid in a picture: its text, colour, frame, links and tooltip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Lines of text, top to bottom; a terminal shows them on one line with `/` in between.
    pub lines: Vec<String>,
    /// The colour behind the text.
    pub fill: CellColour,
    /// Colour of a heavy frame around the cell; `None` for no frame.
    pub mark: Option<EmphasisColour>,
    /// Link strings. If the pointer is on a cell of the HTML page, all cells that share one of its link strings, in any
    /// panel, get a heavy frame.
    pub links: Vec<String>,
    /// Kin strings. If the pointer is on a cell, all cells that share one of its kin strings get a faint frame.
    pub kin: Vec<String>,
    /// Lines of the tooltip; if empty, the cell's text is shown.
    pub hover: Vec<String>,
}

impl Cell {
    /// Creates a cell with one line of text and no colour.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { lines: vec![text.into()], ..Self::default() }
    }

    /// Creates the placeholder for a grid position where no cell is drawn, such as an empty corner.
    #[must_use]
    pub fn placeholder() -> Self {
        Self { fill: CellColour::Absent, ..Self::default() }
    }

    /// Whether no cell is drawn at this grid position.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.fill == CellColour::Absent
    }

    /// Adds a line of text.
    #[must_use]
    pub fn with_line(mut self, text: impl Into<String>) -> Self {
        self.lines.push(text.into());
        self
    }

    /// Sets the colour behind the text.
    #[must_use]
    pub fn with_fill(mut self, fill: CellColour) -> Self {
        self.fill = fill;
        self
    }

    /// Adds a heavy frame in this colour.
    #[must_use]
    pub fn with_frame(mut self, tone: EmphasisColour) -> Self {
        self.mark = Some(tone);
        self
    }

    /// Adds a link string; the HTML page frames all cells that share a link string with the cell at the pointer.
    #[must_use]
    pub fn with_link(mut self, link: impl Into<String>) -> Self {
        self.links.push(link.into());
        self
    }

    /// Adds link strings; the HTML page frames all cells that share a link string with the cell at the pointer.
    #[must_use]
    pub fn with_links(mut self, links: impl IntoIterator<Item = String>) -> Self {
        self.links.extend(links);
        self
    }

    /// Adds a kin string; if the pointer is on a cell, all cells that share one of its kin strings get a faint frame.
    #[must_use]
    pub fn with_related_group(mut self, kin: impl Into<String>) -> Self {
        self.kin.push(kin.into());
        self
    }

    /// Adds kin strings; if the pointer is on a cell, all cells that share one of its kin strings get a faint frame.
    #[must_use]
    pub fn with_related_groups(mut self, kin: impl IntoIterator<Item = String>) -> Self {
        self.kin.extend(kin);
        self
    }

    /// Adds a line to the tooltip.
    #[must_use]
    pub fn with_tooltip_line(mut self, text: impl Into<String>) -> Self {
        self.hover.push(text.into());
        self
    }

    /// Returns all lines of the text on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.join("/")
    }
}

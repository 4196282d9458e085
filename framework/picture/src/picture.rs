//! The picture model: rows of panels.

use crate::{CellColour, Grid};

/// A picture: rows of panels, independent of how they are rendered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// The main heading of the picture.
    pub title: String,
    /// Lines of text under the title.
    pub caption: Vec<String>,
    /// The legend: each colour with the text of its meaning.
    pub legend: Vec<(CellColour, String)>,
    rows: Vec<Vec<Panel>>,
}

/// A panel of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// The heading over the panel; may be empty.
    pub title: String,
    /// Lines of text under the panel's title.
    pub caption: Vec<String>,
    /// The grid, table or text that the panel shows.
    pub content: PanelContent,
}

/// Content of a panel of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelContent {
    /// A grid of coloured cells.
    Grid(Grid),
    /// A table of texts in columns.
    Table(TextTable),
    /// Lines of text, top to bottom.
    Note(Vec<String>),
    /// A sign such as `=`, drawn between the panels before and after it.
    Operator(String),
}

/// A table of texts in columns with headings. A row may be shorter than the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextTable {
    /// The headings of the columns.
    pub header: Vec<String>,
    /// Texts of each row, in the order of the columns.
    pub rows: Vec<Vec<String>>,
}

impl Picture {
    /// Creates a picture without panels.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a panel to the right end of the last row.
    pub fn add_panel(&mut self, panel: Panel) {
        match self.rows.last_mut() {
            Some(row) => row.push(panel),
            None => self.rows.push(vec![panel]),
        }
    }

    /// Starts a new row for further panels.
    pub fn start_row(&mut self) {
        if self.rows.last().is_some_and(|row| !row.is_empty()) {
            self.rows.push(Vec::new());
        }
    }

    /// Returns the rows of panels, top to bottom; the panels of a row are left to right.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Panel>] {
        &self.rows
    }

    /// Returns all panels, row by row, each row from left to right.
    pub fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flatten()
    }

    /// Replaces every grid by the result of `change`, which may have another number of rows and columns.
    pub fn map_grids(&mut self, mut change: impl FnMut(&Grid) -> Grid) {
        for panel in self.rows.iter_mut().flatten() {
            if let PanelContent::Grid(grid) = &mut panel.content {
                *grid = change(grid);
            }
        }
    }
}

impl TextTable {
    /// Creates a table with these headings and rows.
    #[must_use]
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>, rows: Vec<Vec<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows }
    }
}

impl Panel {
    /// Creates a panel with a grid of coloured cells.
    #[must_use]
    pub fn grid(title: impl Into<String>, grid: Grid) -> Self {
        Self::of(title.into(), PanelContent::Grid(grid))
    }

    /// Creates a panel with a table of texts.
    #[must_use]
    pub fn table(title: impl Into<String>, table: TextTable) -> Self {
        Self::of(title.into(), PanelContent::Table(table))
    }

    /// Creates a panel with lines of text.
    #[must_use]
    pub fn note<T: Into<String>>(title: impl Into<String>, lines: impl IntoIterator<Item = T>) -> Self {
        Self::of(title.into(), PanelContent::Note(lines.into_iter().map(Into::into).collect()))
    }

    /// Creates a panel that is a sign, such as `=`, between its neighbours.
    #[must_use]
    pub fn operator_sign(sign: impl Into<String>) -> Self {
        Self::of(String::new(), PanelContent::Operator(sign.into()))
    }

    /// Adds a line of text under the panel's title.
    #[must_use]
    pub fn with_caption_line(mut self, line: impl Into<String>) -> Self {
        self.caption.push(line.into());
        self
    }

    /// Returns the grid of the panel; `None` if the panel has other content.
    #[must_use]
    pub fn as_grid(&self) -> Option<&Grid> {
        match &self.content {
            PanelContent::Grid(grid) => Some(grid),
            _ => None,
        }
    }

    fn of(title: String, content: PanelContent) -> Self {
        Self { title, caption: Vec::new(), content }
    }
}

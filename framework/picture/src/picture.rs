//! The picture: rows of panels.

use crate::{Fill, Grid};

/// What a renderer draws.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// The heading over all of it.
    pub title: String,
    /// Lines under the title.
    pub caption: Vec<String>,
    /// Colours and what they mean.
    pub legend: Vec<(Fill, String)>,
    rows: Vec<Vec<Panel>>,
}

/// One of a picture's parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// The heading over the panel; may be empty.
    pub title: String,
    /// Lines under the title.
    pub caption: Vec<String>,
    /// What it shows.
    pub content: Content,
}

/// What a panel shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Coloured cells.
    Grid(Grid),
    /// Text in columns.
    Table(Table),
    /// Lines of text.
    Note(Vec<String>),
    /// A sign between two panels: `=`.
    Operator(String),
}

/// Text in columns, under a heading each. A row may be shorter than the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The headings.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Picture {
    /// A picture without panels.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a panel to the right end of the last row.
    pub fn add(&mut self, panel: Panel) {
        match self.rows.last_mut() {
            Some(row) => row.push(panel),
            None => self.rows.push(vec![panel]),
        }
    }

    /// Further panels go to a new row.
    pub fn start_row(&mut self) {
        if self.rows.last().is_some_and(|row| !row.is_empty()) {
            self.rows.push(Vec::new());
        }
    }

    /// The rows of panels, top to bottom.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Panel>] {
        &self.rows
    }

    /// All panels in order.
    pub fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flatten()
    }

    /// Every grid changed by `change`; its rows and columns may become fewer.
    pub fn change_grids(&mut self, mut change: impl FnMut(&Grid) -> Grid) {
        for panel in self.rows.iter_mut().flatten() {
            if let Content::Grid(grid) = &mut panel.content {
                *grid = change(grid);
            }
        }
    }
}

impl Table {
    /// A table with these headings.
    #[must_use]
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>, rows: Vec<Vec<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows }
    }
}

impl Panel {
    /// A panel of coloured cells.
    #[must_use]
    pub fn grid(title: impl Into<String>, grid: Grid) -> Self {
        Self::of(title.into(), Content::Grid(grid))
    }

    /// A panel of text in columns.
    #[must_use]
    pub fn table(title: impl Into<String>, table: Table) -> Self {
        Self::of(title.into(), Content::Table(table))
    }

    /// A panel of lines of text.
    #[must_use]
    pub fn note<T: Into<String>>(title: impl Into<String>, lines: impl IntoIterator<Item = T>) -> Self {
        Self::of(title.into(), Content::Note(lines.into_iter().map(Into::into).collect()))
    }

    /// A sign between two panels.
    #[must_use]
    pub fn operator(sign: impl Into<String>) -> Self {
        Self::of(String::new(), Content::Operator(sign.into()))
    }

    /// With one more line under the title.
    #[must_use]
    pub fn caption(mut self, line: impl Into<String>) -> Self {
        self.caption.push(line.into());
        self
    }

    /// The grid of the panel; `None` for a panel of another kind.
    #[must_use]
    pub fn as_grid(&self) -> Option<&Grid> {
        match &self.content {
            Content::Grid(grid) => Some(grid),
            _ => None,
        }
    }

    fn of(title: String, content: Content) -> Self {
        Self { title, caption: Vec::new(), content }
    }
}

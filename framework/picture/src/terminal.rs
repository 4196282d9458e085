//! A picture as text, with colours where the terminal has them.
//!
//! Plain text aligns and holds no escape sequences. Panels of a row stand side by side where the width
//! allows it and below each other where it does not; a grid that is too wide is cut, and says so.

mod block;
mod grid;

use crate::{Content, Panel, Picture};

use block::Block;

/// Width that plain text keeps panels side by side within.
const PLAIN_WIDTH: usize = 160;

/// How colours are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colours {
    /// Not at all.
    #[default]
    None,
    /// By number, of the 256 that most terminals have.
    Numbered,
    /// As red, green and blue.
    Exact,
}

/// How text is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Style {
    /// How colours are written.
    pub colours: Colours,
    /// Columns of the terminal; grids that are wider are cut. Nothing is cut where it is not known.
    pub width: Option<usize>,
    /// What is said where a grid is cut: how to see the rest.
    pub remedy: String,
}

impl Style {
    /// Text without colours, of any width.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }
}

/// The picture as lines of text.
#[must_use]
pub fn render(picture: &Picture, style: &Style) -> String {
    let mut lines = Block::default();
    lines.text(&picture.title);
    picture.caption.iter().for_each(|line| lines.text(line));
    for row in picture.rows().iter().filter(|row| !row.is_empty()) {
        lines.blank();
        let blocks: Vec<_> = row.iter().map(|panel| panel_block(panel, style)).collect();
        block::side_by_side(&mut lines, blocks, style.width.unwrap_or(PLAIN_WIDTH));
    }
    legend(&mut lines, picture, style);
    lines.finish()
}

fn panel_block(panel: &Panel, style: &Style) -> Block {
    let mut block = Block::default();
    if !panel.title.is_empty() {
        block.text(&panel.title);
    }
    panel.caption.iter().for_each(|line| block.text(line));
    match &panel.content {
        Content::Grid(grid) => grid::write(&mut block, grid, style),
        Content::Table(table) => block::table(&mut block, table),
        Content::Note(lines) => lines.iter().for_each(|line| block.text(line)),
        Content::Operator(sign) => block.sign(sign),
    }
    block
}

fn legend(lines: &mut Block, picture: &Picture, style: &Style) {
    // Without colours a legend of colours says nothing.
    if picture.legend.is_empty() || style.colours == Colours::None {
        return;
    }
    lines.blank();
    for (fill, name) in &picture.legend {
        lines.painted(&grid::painted("  ", *fill, style.colours), &format!(" {name}"));
    }
}

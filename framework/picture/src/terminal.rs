//! Renders a picture as text, with colours if the terminal has them.
//!
//! Plain text is aligned and has no escape sequences. Panels of a row are adjacent if the width allows it, else below
//! each other. A grid that is too wide is cut, with a note.

mod block;
mod grid;

use crate::{Panel, PanelContent, Picture};

use block::Block;

/// Max total width, in characters, of panels side by side if the style has no width.
const PLAIN_WIDTH: usize = 160;

/// How colours are written to the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TerminalColours {
    /// Text is written without colours.
    #[default]
    None,
    /// Colours by index of the 256-colour palette.
    Numbered,
    /// Colours as 24-bit RGB.
    Exact,
}

/// Options of rendering as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextRenderOptions {
    /// How colours are written.
    pub colours: TerminalColours,
    /// Width of the terminal in characters; wider grids are cut. `None` cuts nothing.
    pub width: Option<usize>,
    /// Text under a grid that was cut: a remedy, such as an option that shows the other columns.
    pub remedy: String,
}

impl TextRenderOptions {
    /// Returns options for text without colours, of unlimited width.
    #[must_use]
    pub fn plain() -> Self {
        Self::default()
    }
}

/// Renders the picture as text.
#[must_use]
pub fn render_text(picture: &Picture, style: &TextRenderOptions) -> String {
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

fn panel_block(panel: &Panel, style: &TextRenderOptions) -> Block {
    let mut block = Block::default();
    if !panel.title.is_empty() {
        block.text(&panel.title);
    }
    panel.caption.iter().for_each(|line| block.text(line));
    match &panel.content {
        PanelContent::Grid(grid) => grid::write(&mut block, grid, style),
        PanelContent::Table(table) => block::table(&mut block, table),
        PanelContent::Note(lines) => lines.iter().for_each(|line| block.text(line)),
        PanelContent::Operator(sign) => block.sign(sign),
    }
    block
}

fn legend(lines: &mut Block, picture: &Picture, style: &TextRenderOptions) {
    // The legend explains colours, so it is omitted without them.
    if picture.legend.is_empty() || style.colours == TerminalColours::None {
        return;
    }
    lines.blank();
    for (fill, name) in &picture.legend {
        lines.painted(&grid::painted("  ", *fill, style.colours), &format!(" {name}"));
    }
}

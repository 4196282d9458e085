//! Renders a grid as aligned text.

use crate::text::join;
use crate::{CellColour, Grid, GridAxis, Rgb};

use super::block::Block;
use super::{TerminalColours, TextRenderOptions};

/// Writes a grid as lines of text, cut to the terminal width of the style.
pub(super) fn write(block: &mut Block, grid: &Grid, style: &TextRenderOptions) {
    let plan = Plan::of(grid, style);
    plan.write_axes(block);
    plan.write_headings(block);
    for row in 0..grid.rows() {
        if row > 0 && grid.row_axis.band_starting_at(row).is_some() && plan.has_row_rules() {
            plan.write_rule(block);
        }
        plan.write_row(block, row);
    }
    if plan.shown < grid.columns() {
        let (last, all) = (plan.shown.saturating_sub(1), grid.columns());
        block.text(&format!(
            "(columns 0 to {last} of {all}{}{})",
            if style.remedy.is_empty() { "" } else { "; " },
            style.remedy
        ));
    }
}

/// Widths of a grid's columns, of its row headings and of its band headings, in characters, and the number of columns
/// that fit the terminal.
struct Plan<'a> {
    grid: &'a Grid,
    colours: TerminalColours,
    band: usize,
    heading: usize,
    widths: Vec<usize>,
    shown: usize,
}

/// Number of blanks before and after the text of a cell; in a marked cell `>` and `<` replace them.
const PAD: usize = 1;

impl<'a> Plan<'a> {
    fn of(grid: &'a Grid, style: &TextRenderOptions) -> Self {
        let band = longest(grid.row_axis.bands.iter().map(|band| band.heading.as_str()));
        let heading = longest(grid.row_axis.headings.iter().map(String::as_str));
        let mut widths: Vec<_> =
            (0..grid.columns()).map(|column| longest([grid.column_axis.heading(column)])).collect();
        for (_, column, cell) in grid.cells() {
            widths[column] = widths[column].max(cell.text().chars().count());
        }
        let mut plan = Self { grid, colours: style.colours, band, heading, widths, shown: grid.columns() };
        if let Some(room) = style.width {
            while plan.shown > 1 && plan.wide() > room {
                plan.shown -= 1;
            }
        }
        plan
    }

    fn left(&self) -> usize {
        if self.band > 0 { self.band + 1 + self.heading } else { self.heading }
    }

    fn wide(&self) -> usize {
        let cells: usize = self.widths[..self.shown].iter().map(|wide| wide + 2 * PAD).sum();
        self.left() + cells + (0..self.shown).filter(|&column| self.border(column)).count()
    }

    /// Whether a border is drawn before a column; always before the first.
    fn border(&self, column: usize) -> bool {
        column == 0 || self.grid.column_axis.band_starting_at(column).is_some()
    }

    /// Whether horizontal rules separate row bands; not if each band has one row, since rules would double the height.
    fn has_row_rules(&self) -> bool {
        self.grid.row_axis.bands.len() * 2 <= self.grid.rows()
    }

    fn write_axes(&self, block: &mut Block) {
        let (rows, columns) = (&self.grid.row_axis.name, &self.grid.column_axis.name);
        let named = [("rows", rows), ("columns", columns)].into_iter().filter(|(_, name)| !name.is_empty());
        let line = join(named.map(|(side, name)| format!("{side}: {name}")), ", ");
        if !line.is_empty() {
            block.text(&line);
        }
    }

    fn write_headings(&self, block: &mut Block) {
        if self.grid.column_axis.bands.iter().any(|band| !band.heading.is_empty()) {
            block.text(&self.band_headings());
        }
        if self.grid.column_axis.headings.iter().any(|heading| !heading.is_empty()) {
            let mut line = " ".repeat(self.left());
            for column in 0..self.shown {
                line.push_str(if self.border(column) { "│" } else { "" });
                let wide = self.widths[column] + PAD;
                line.push_str(&format!("{:>wide$} ", self.grid.column_axis.heading(column)));
            }
            block.text(&line);
        }
        self.write_rule(block);
    }

    /// Returns the line with the heading of each column band over its columns, cut to their width.
    fn band_headings(&self) -> String {
        let mut line = " ".repeat(self.left());
        for column in (0..self.shown).filter(|&column| self.border(column)) {
            let end = (column + 1..self.shown).find(|&next| self.border(next)).unwrap_or(self.shown);
            let room: usize = self.widths[column..end].iter().map(|wide| wide + 2 * PAD).sum();
            let heading = band_heading(&self.grid.column_axis, column);
            let cut: String = heading.chars().take(room).collect();
            line.push_str(&format!("│{cut:<room$}"));
        }
        line
    }

    fn write_rule(&self, block: &mut Block) {
        let mut line = "─".repeat(self.left());
        for column in 0..self.shown {
            line.push_str(if self.border(column) { "┼" } else { "" });
            line.push_str(&"─".repeat(self.widths[column] + 2 * PAD));
        }
        block.text(&line);
    }

    fn write_row(&self, block: &mut Block, row: usize) {
        let (band, heading) = (self.band, self.heading);
        let mut line = String::new();
        if band > 0 {
            line.push_str(&format!("{:<band$} ", band_heading(&self.grid.row_axis, row)));
        }
        line.push_str(&format!("{:>heading$}", self.grid.row_axis.heading(row)));
        for (column, cell) in self.grid.row(row).iter().enumerate().take(self.shown) {
            line.push_str(if self.border(column) { "│" } else { "" });
            let wide = self.widths[column];
            let (before, after) = if cell.mark.is_some() { ('>', '<') } else { (' ', ' ') };
            let text = cell.text();
            let blank = " ".repeat(wide - text.chars().count());
            line.push_str(&painted(&format!("{blank}{before}{text}{after}"), cell.fill, self.colours));
        }
        block.escaped(line, self.wide());
    }
}

fn band_heading(axis: &GridAxis, start: usize) -> &str {
    axis.band_starting_at(start).map_or("", |band| band.heading.as_str())
}

/// Returns the length of the longest text in characters.
fn longest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Returns a text with the fill as background, in black or white, whichever is more legible.
pub(super) fn painted(text: &str, fill: CellColour, colours: TerminalColours) -> String {
    let Some(rgb) = fill.rgb().filter(|_| colours != TerminalColours::None) else {
        return text.to_owned();
    };
    let (rgb, back) = match colours {
        TerminalColours::Exact => (rgb, format!("48;2;{};{};{}", rgb.0, rgb.1, rgb.2)),
        _ => {
            let (number, nearest) = numbered(rgb);
            (nearest, format!("48;5;{number}"))
        }
    };
    let front = if rgb.readable_text_colour() == Rgb(255, 255, 255) { "38;5;231" } else { "38;5;16" };
    format!("\u{1b}[{back};{front}m{text}\u{1b}[0m")
}

/// Returns the nearest colour of the 6x6x6 cube of the 256-colour palette, with its index in the palette.
fn numbered(rgb: Rgb) -> (u8, Rgb) {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |channel: u8| (0..6u8).min_by_key(|&level| LEVELS[usize::from(level)].abs_diff(channel)).unwrap_or(0);
    let (r, g, b) = (nearest(rgb.0), nearest(rgb.1), nearest(rgb.2));
    let level = |index: u8| LEVELS[usize::from(index)];
    (16 + 36 * r + 6 * g + b, Rgb(level(r), level(g), level(b)))
}

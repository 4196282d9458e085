//! Blocks of text lines with known widths, stacked vertically or side by side.

use crate::TextTable;

/// Lines of text, each with its width in characters.
#[derive(Debug, Default)]
pub(super) struct Block {
    lines: Vec<(String, usize)>,
    /// Whether this block is an operator sign, which is centred vertically between its neighbours.
    is_sign: bool,
}

impl Block {
    pub fn text(&mut self, text: &str) {
        self.lines.push((text.to_owned(), text.chars().count()));
    }

    pub fn blank(&mut self) {
        self.text("");
    }

    pub fn sign(&mut self, sign: &str) {
        self.text(sign);
        self.is_sign = true;
    }

    /// Adds a line that contains escape sequences; `wide` is the number of its visible characters.
    pub fn escaped(&mut self, text: String, wide: usize) {
        self.lines.push((text, wide));
    }

    /// Adds a line with a colour swatch of two characters and the colour's meaning `name`.
    pub fn painted(&mut self, swatch: &str, name: &str) {
        self.escaped(format!("{swatch}{name}"), 2 + name.chars().count());
    }

    pub fn wide(&self) -> usize {
        self.lines.iter().map(|&(_, wide)| wide).max().unwrap_or(0)
    }

    /// Returns the lines as text, without trailing blanks.
    pub fn finish(self) -> String {
        let mut out = String::new();
        for (line, _) in self.lines {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Appends blocks to `lines`, side by side if they fit into `columns` characters.
pub(super) fn side_by_side(lines: &mut Block, blocks: Vec<Block>, columns: usize) {
    const GAP: usize = 3;
    let all: usize = blocks.iter().map(|block| block.wide() + GAP).sum();
    if all > columns + GAP {
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                lines.blank();
            }
            lines.lines.extend(block.lines);
        }
        return;
    }
    let high = blocks.iter().map(|block| block.lines.len()).max().unwrap_or(0);
    for index in 0..high {
        let (mut line, mut wide) = (String::new(), 0);
        for block in &blocks {
            let at = if block.is_sign { index.checked_sub(high / 2) } else { Some(index) };
            let piece = at.and_then(|at| block.lines.get(at));
            let (text, taken) = piece.map_or(("", 0), |(text, taken)| (text.as_str(), *taken));
            line.push_str(text);
            line.push_str(&" ".repeat(block.wide() + GAP - taken));
            wide += block.wide() + GAP;
        }
        lines.escaped(line, wide);
    }
}

/// Appends a table with left-aligned columns to `block`.
pub(super) fn table(block: &mut Block, table: &TextTable) {
    let rows = || std::iter::once(&table.header).chain(&table.rows);
    let columns = rows().map(Vec::len).max().unwrap_or(0);
    let text = |row: &'_ Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let widths: Vec<_> =
        (0..columns).map(|column| rows().map(|row| text(row, column).chars().count()).max().unwrap_or(0)).collect();
    for (index, row) in rows().enumerate() {
        let cells = widths.iter().enumerate().map(|(column, &wide)| format!("{:<wide$}", text(row, column)));
        block.text(&cells.collect::<Vec<_>>().join("  "));
        if index == 0 {
            block.text(&"─".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1)));
        }
    }
}

//! Computes the layout of a picture: the positions of all its parts, in pixels at scale one.

mod font;
mod grid;

use crate::{Panel, PanelContent, Picture, TextTable};

use font::{BODY, HEADING, LEADING, OPERATOR, TITLE, width};

pub(crate) use grid::{Label, LabelPosition, PlacedGrid};

const MARGIN: f64 = 20.0;
const GAP: f64 = 36.0;
/// Side of a colour swatch in the legend, in pixels.
pub(crate) const SWATCH: f64 = 14.0;

/// A line of text, positioned by the left end of its baseline.
#[derive(Debug)]
pub(crate) struct Line {
    pub x: f64,
    pub y: f64,
    pub size: f64,
    pub bold: bool,
    pub text: String,
}

/// A picture with the position of every part.
#[derive(Debug)]
pub(crate) struct PlacedPicture<'a> {
    pub width: f64,
    pub height: f64,
    pub lines: Vec<Line>,
    /// Left end, top and width of each thin horizontal rule.
    pub rules: Vec<(f64, f64, f64)>,
    /// For each panel, its grid with positions; `None` for a panel without a grid.
    pub grids: Vec<Option<PlacedGrid<'a>>>,
    /// Left end and top of each colour swatch of the legend.
    pub swatches: Vec<(f64, f64)>,
}

/// Computes the positions of all parts of a picture.
pub(crate) fn arrange(picture: &Picture) -> PlacedPicture<'_> {
    let mut done = PlacedPicture {
        width: 0.0,
        height: MARGIN,
        lines: Vec::new(),
        rules: Vec::new(),
        grids: Vec::new(),
        swatches: Vec::new(),
    };
    if !picture.title.is_empty() {
        done.line(MARGIN, TITLE, true, &picture.title);
    }
    for line in &picture.caption {
        done.line(MARGIN, BODY, false, line);
    }
    for row in picture.rows() {
        done.height += 14.0;
        done.panels(row);
    }
    done.legend(picture);
    done.width += MARGIN;
    done.height += MARGIN;
    done
}

impl<'a> PlacedPicture<'a> {
    /// Adds a line of text below all parts placed so far.
    fn line(&mut self, x: f64, size: f64, bold: bool, text: &str) {
        let y = self.height + size;
        self.put(x, y, size, bold, text);
        self.height += size * LEADING;
    }

    fn put(&mut self, x: f64, y: f64, size: f64, bold: bool, text: &str) {
        self.width = self.width.max(x + width(text, size));
        self.lines.push(Line { x, y, size, bold, text: text.to_owned() });
    }

    /// Adds a row of panels below all parts placed so far, with the tops of their contents aligned.
    fn panels(&mut self, row: &'a [Panel]) {
        let top = self.height;
        let heads = row.iter().map(|panel| {
            let title = if panel.title.is_empty() { 0.0 } else { HEADING * LEADING };
            title + panel.caption.len() as f64 * BODY * LEADING
        });
        let head = heads.fold(0.0, f64::max) + 6.0;
        let mut x = MARGIN;
        let mut bottom = top;
        let mut signs = Vec::new();
        for panel in row {
            self.height = top;
            let left = x;
            self.heading(left, panel, &mut x);
            let (right, low) = self.content(left, top + head, panel);
            if let PanelContent::Operator(sign) = &panel.content {
                signs.push((left, sign));
            }
            x = x.max(right) + if matches!(panel.content, PanelContent::Operator(_)) { 18.0 } else { GAP };
            bottom = f64::max(bottom, low);
        }
        for (left, sign) in signs {
            self.put(left, (top + head + bottom) / 2.0 + OPERATOR / 2.0, OPERATOR, true, sign);
        }
        self.height = bottom;
    }

    fn heading(&mut self, left: f64, panel: &Panel, right: &mut f64) {
        if !panel.title.is_empty() {
            self.line(left, HEADING, true, &panel.title);
            *right = right.max(left + width(&panel.title, HEADING));
        }
        for line in &panel.caption {
            self.line(left, BODY, false, line);
            *right = right.max(left + width(line, BODY));
        }
    }

    /// Places a panel's content with its top left corner at (`x`, `y`); returns the content's right and lower ends.
    fn content(&mut self, x: f64, y: f64, panel: &'a Panel) -> (f64, f64) {
        let mut placed = None;
        let (right, low) = match &panel.content {
            PanelContent::Grid(grid) => {
                let grid = grid::arrange(grid, x, y);
                let end = grid.end();
                placed = Some(grid);
                end
            }
            PanelContent::Table(table) => self.table(x, y, table),
            PanelContent::Note(lines) => self.note(x, y, lines),
            PanelContent::Operator(sign) => (x + width(sign, OPERATOR), y),
        };
        self.grids.push(placed);
        self.width = self.width.max(right);
        (right, low)
    }

    fn note(&mut self, x: f64, y: f64, lines: &[String]) -> (f64, f64) {
        let (mut right, mut low) = (x, y);
        for line in lines {
            self.put(x, low + BODY, BODY, false, line);
            right = f64::max(right, x + width(line, BODY));
            low += BODY * LEADING;
        }
        (right, low)
    }

    fn table(&mut self, x: f64, y: f64, table: &TextTable) -> (f64, f64) {
        let columns = table.rows.iter().chain([&table.header]).map(Vec::len).max().unwrap_or(0);
        let mut left = x;
        let mut low = y;
        for column in 0..columns {
            let cells: Vec<_> = table.rows.iter().map(|row| row.get(column).map_or("", String::as_str)).collect();
            let header = table.header.get(column).map_or("", String::as_str);
            let widest = cells.iter().copied().chain([header]).map(|text| width(text, BODY)).fold(0.0, f64::max);
            self.put(left, y + BODY, BODY, true, header);
            for (index, cell) in cells.iter().enumerate() {
                let baseline = y + 6.0 + BODY + (index as f64 + 1.0) * BODY * LEADING;
                self.put(left, baseline, BODY, false, cell);
                low = f64::max(low, baseline + 6.0);
            }
            left += widest + 18.0;
        }
        self.rules.push((x, y + BODY * LEADING, (left - 18.0 - x).max(0.0)));
        (f64::max(left - 18.0, x), f64::max(low, y + BODY * LEADING + 4.0))
    }

    fn legend(&mut self, picture: &Picture) {
        if picture.legend.is_empty() {
            return;
        }
        self.height += 18.0;
        let widest = f64::max(self.width, 640.0);
        let mut x = MARGIN;
        for (_, name) in &picture.legend {
            let need = SWATCH + 6.0 + width(name, BODY) + 18.0;
            if x > MARGIN && x + need > widest {
                x = MARGIN;
                self.height += SWATCH + 6.0;
            }
            self.swatches.push((x, self.height));
            self.put(x + SWATCH + 6.0, self.height + BODY - 1.0, BODY, false, name);
            x += need;
        }
        self.height += SWATCH;
    }
}

//! A picture as SVG.
//!
//! One file that refers to nothing outside itself and scales to whatever shows it. Cells of one
//! colour are one path, so that large grids stay small.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::arrange::{Arranged, HEADING, PlacedGrid, SWATCH, arrange};
use crate::{Anchor, Arrow, Fill, Picture, Rgb};

mod cells;

const SANS: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
const INK: &str = "#222";

/// The picture as an SVG document.
#[must_use]
pub fn render(picture: &Picture) -> String {
    draw(picture, &arrange(picture))
}

/// Draws what has been put in its place. Writing to a string does not fail.
pub(crate) fn draw(picture: &Picture, placed: &Arranged<'_>) -> String {
    let (width, height) = (number(placed.width), number(placed.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"{SANS}\" fill=\"{INK}\">\n"
    );
    if !picture.title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escaped(&picture.title));
    }
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    for line in &placed.lines {
        let weight = if line.bold { " font-weight=\"bold\"" } else { "" };
        let (x, y, size) = (number(line.x), number(line.y), number(line.size));
        let text = escaped(&line.text);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight}>{text}</text>");
    }
    for &(x, y, long) in &placed.rules {
        let _ = writeln!(out, "<path d=\"M{} {}h{}\" stroke=\"#888\"/>", number(x), number(y), number(long));
    }
    for grid in placed.grids.iter().flatten() {
        cells::draw(&mut out, grid);
    }
    for (&(x, y), (fill, _)) in placed.swatches.iter().zip(&picture.legend) {
        let colour = colour(*fill).hex();
        let (x, y) = (number(x), number(y));
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SWATCH}\" height=\"{SWATCH}\" fill=\"{colour}\" stroke=\"#888\" stroke-width=\"0.5\"/>"
        );
    }
    for arrow in &picture.arrows {
        draw_arrow(&mut out, placed, arrow);
    }
    out.push_str("</svg>\n");
    out
}

/// The colour of a fill, white for the background.
pub(crate) fn colour(fill: Fill) -> Rgb {
    fill.rgb().unwrap_or(Rgb(255, 255, 255))
}

/// A curve from cell to cell with a head at its end.
fn draw_arrow(out: &mut String, placed: &Arranged<'_>, arrow: &Arrow) {
    let (Some((x0, y0)), Some((x1, y1))) = (centre(placed, arrow.from), centre(placed, arrow.to)) else {
        return;
    };
    let (dx, dy) = (x1 - x0, y1 - y0);
    let long = dx.hypot(dy).max(1.0);
    // The curve leaves the straight line by a tenth of its length, so that opposite arrows differ.
    let (cx, cy) = ((x0 + x1) / 2.0 - dy * 0.1, (y0 + y1) / 2.0 + dx * 0.1);
    let (ux, uy) = ((x1 - cx) / (x1 - cx).hypot(y1 - cy).max(1.0), (y1 - cy) / (x1 - cx).hypot(y1 - cy).max(1.0));
    let head = (HEADING / 2.0).min(long / 3.0);
    let corner = |side: f64| (x1 - ux * head - uy * side * head * 0.5, y1 - uy * head + ux * side * head * 0.5);
    let ((ax, ay), (bx, by)) = (corner(1.0), corner(-1.0));
    let colour = arrow.tone.rgb().mixed(Rgb(0, 0, 0), 25).hex();
    let line = format!("M{} {}Q{} {} {} {}", number(x0), number(y0), number(cx), number(cy), number(x1), number(y1));
    let tip = format!("M{} {}L{} {}L{} {}z", number(x1), number(y1), number(ax), number(ay), number(bx), number(by));
    let _ = writeln!(
        out,
        "<g><title>{}</title><path d=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\
         <path d=\"{tip}\" fill=\"{colour}\"/></g>",
        escaped(&arrow.label)
    );
}

fn centre(placed: &Arranged<'_>, anchor: Anchor) -> Option<(f64, f64)> {
    let grid: &PlacedGrid<'_> = placed.grids.get(anchor.panel)?.as_ref()?;
    grid.grid.cell(anchor.row, anchor.column)?;
    let x = grid.left_of(anchor.column) + grid.cell_width / 2.0;
    Some((x, grid.top_of(anchor.row) + grid.cell_height / 2.0))
}

/// A number as short as a hundredth of a pixel allows.
pub(crate) fn number(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    format!("{hundredths}")
}

/// Text as XML takes it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// Paths by colour: all of one colour are drawn as one.
type Paths = BTreeMap<Rgb, String>;

//! Renders a picture as SVG.
//!
//! The file is self-contained and scalable. Cells of one colour form one path, so that large grids stay small.

use std::fmt::{self, Display, Write};

use crate::arrange::{PlacedPicture, SWATCH, arrange};
use crate::{CellColour, Picture, Rgb};

mod cells;

const SANS: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
const INK: &str = "#222";

/// Renders the picture as an SVG document.
#[must_use]
pub fn render_svg(picture: &Picture) -> String {
    draw(picture, &arrange(picture))
}

/// Writes a picture with computed positions as SVG. Writing to a string does not fail.
pub(crate) fn draw(picture: &Picture, placed: &PlacedPicture<'_>) -> String {
    let (width, height) = (Px(placed.width), Px(placed.height));
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
        text(&mut out, (line.x, line.y), &format!(" font-size=\"{}\"{weight}", Px(line.size)), &line.text);
    }
    for &(x, y, long) in &placed.rules {
        path(&mut out, &format!("M{} {}h{}", Px(x), Px(y), Px(long)), "stroke=\"#888\"");
    }
    for grid in placed.grids.iter().flatten() {
        cells::draw(&mut out, grid);
    }
    for (&(x, y), (fill, _)) in placed.swatches.iter().zip(&picture.legend) {
        let style = format!("fill=\"{}\" stroke=\"#888\" stroke-width=\"0.5\"", colour(*fill).to_css());
        rect(&mut out, [x, y, SWATCH, SWATCH], &style);
    }
    out.push_str("</svg>\n");
    out
}

fn rect(out: &mut String, [x, y, wide, high]: [f64; 4], style: &str) {
    let (x, y, wide, high) = (Px(x), Px(y), Px(wide), Px(high));
    let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" {style}/>");
}

fn path(out: &mut String, data: &str, style: &str) {
    let _ = writeln!(out, "<path d=\"{data}\" {style}/>");
}

fn text(out: &mut String, (x, y): (f64, f64), style: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{}\" y=\"{}\"{style}>{}</text>", Px(x), Px(y), escaped(text));
}

/// Returns the colour of a fill; white for the background.
fn colour(fill: CellColour) -> Rgb {
    fill.rgb().unwrap_or(Rgb(255, 255, 255))
}

/// A length in pixels, printed with two decimals.
struct Px(f64);

impl Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", (self.0 * 100.0).round() / 100.0)
    }
}

/// Escapes text for XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

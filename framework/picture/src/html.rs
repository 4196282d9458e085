//! Renders a picture as a self-contained HTML page with tooltips, linked highlighting and zoom.
//!
//! The page contains the SVG, the data of each cell as JSON, and a script. A content security policy forbids all
//! external resources.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::arrange::{PlacedPicture, arrange};
use crate::svg::{draw, escaped};
use crate::{Cell, Picture};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Renders the picture as an HTML document.
#[must_use]
pub fn render_html(picture: &Picture) -> String {
    let placed = arrange(picture);
    let title = escaped(&picture.title);
    let image = draw(picture, &placed);
    // `<` is escaped, since the text `</script>` in the data would end the script element.
    let data = data(&placed).to_string().replace('<', "\\u003c");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n\
         <p id=\"help\">wheel: zoom · drag: move · double click: all of it · click: keep the marks · Esc: drop them</p>\n\
         <div id=\"stage\">\n{image}</div>\n<div id=\"tip\" role=\"status\"></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Returns the data that the page's script reads: all strings once, and for every grid its position and its cells'
/// links, kin strings and tooltip lines as indices of strings.
fn data(placed: &PlacedPicture<'_>) -> Json {
    let mut names = Names::default();
    let grids = placed.grids.iter().flatten().map(|grid| {
        let cells: Vec<Json> = grid.grid.cells().map(|(_, _, cell)| names.of_cell(cell)).collect();
        json!({
            "x": grid.x, "y": grid.y, "wide": grid.cell_width, "high": grid.cell_height,
            "rows": grid.grid.rows(), "columns": grid.grid.columns(), "cells": cells,
        })
    });
    let grids = grids.collect::<Vec<_>>();
    json!({ "names": names.all, "grids": grids })
}

/// Interned strings: each distinct string gets an index.
#[derive(Default)]
struct Names<'a> {
    all: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.all.push(name);
            self.all.len() - 1
        })
    }

    fn of_cell(&mut self, cell: &'a Cell) -> Json {
        let text = if cell.hover.is_empty() { &cell.lines } else { &cell.hover };
        let mut numbers = |all: &'a [String]| -> Vec<usize> { all.iter().map(|name| self.number(name)).collect() };
        json!([numbers(&cell.links), numbers(&cell.kin), numbers(text)])
    }
}

//! Comparison of texts and pictures with golden files.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::path::Path;

use tilewright_picture::terminal::TextRenderOptions;
use tilewright_picture::{Picture, svg, terminal};
use tilewright_testkit::golden;

/// Compares a text with the golden file `name`.
pub fn check(name: &str, text: &str) {
    golden::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name), text);
}

/// Compares a picture's SVG and text with their golden files.
pub fn check_both(name: &str, picture: &Picture) {
    check(&format!("{name}.svg"), &svg::render_svg(picture));
    check(&format!("{name}.txt"), &terminal::render_text(picture, &TextRenderOptions::plain()));
}

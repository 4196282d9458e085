//! Texts that are kept as files, to be compared with.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::path::Path;

use tilewright_picture::terminal::Style;
use tilewright_picture::{Picture, svg, terminal};

/// Compares a text with the file of that name, or keeps it where `TILEWRIGHT_BLESS` is set.
pub fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("TILEWRIGHT_BLESS").is_some() {
        std::fs::write(&file, text).expect("a folder that can be written");
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let first = kept.lines().zip(text.lines()).position(|(kept, drawn)| kept != drawn);
    let line = first.map_or("its end".to_owned(), |line| format!("line {}", line + 1));
    assert!(kept == text, "{name} has changed, from {line} on: look at it, and bless it where it is right");
}

/// Compares a picture's SVG and its text.
pub fn check_both(name: &str, picture: &Picture) {
    check(&format!("{name}.svg"), &svg::render(picture));
    check(&format!("{name}.txt"), &terminal::render(picture, &Style::plain()));
}

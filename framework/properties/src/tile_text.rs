//! Property of the text of tile programs: parsing gives a module, or an error at a position; valid modules round-trip.

use std::sync::LazyLock;

use tilewright_tile::op::Dialects;
use tilewright_tile::{text, verify};

static DIALECTS: LazyLock<Dialects> = LazyLock::new(Dialects::neutral);

/// Parses one input as the text of a tile program. A valid module, printed, parsed and printed again, must give the
/// same text; an error must lie at a character of the text.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let source = crate::text(bytes);
    match text::parse(source, &DIALECTS) {
        Err(error) => assert!(source.is_char_boundary(error.at)),
        Ok(module) => {
            if verify(&module).is_ok() {
                let written = text::print(&module);
                let reparsed = text::parse(&written, &DIALECTS).unwrap_or_else(|error| panic!("{error}\n{written}"));
                assert_eq!(text::print(&reparsed), written);
            }
        }
    }
}

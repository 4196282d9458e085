//! Property of the text of tile programs: parsing gives a module, or an error at a position; valid modules round-trip.

use std::sync::LazyLock;

use tilewright_tile::op::Dialects;
use tilewright_tile::{text, verify_module};

static DIALECTS: LazyLock<Dialects> = LazyLock::new(Dialects::neutral);

/// Parses one input as the text of a tile program. A valid module, printed, parsed and printed again, must give the
/// same text; an error must lie at a character of the text.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let source = crate::text(bytes);
    match text::parse_module(source, &DIALECTS) {
        Err(error) => assert!(source.is_char_boundary(error.at)),
        Ok(module) => {
            if verify_module(&module).is_ok() {
                let written = text::print_module(&module);
                let reparsed =
                    text::parse_module(&written, &DIALECTS).unwrap_or_else(|error| panic!("{error}\n{written}"));
                assert_eq!(text::print_module(&reparsed), written);
            }
        }
    }
}

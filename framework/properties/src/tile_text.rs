//! Text of tile programs: it is refused at a place, or read; what keeps the rules is written so that it is read again.

use std::sync::LazyLock;

use tilewright_tile::op::Dialects;
use tilewright_tile::{text, verify};

static DIALECTS: LazyLock<Dialects> = LazyLock::new(Dialects::neutral);

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(bytes: &[u8]) {
    let source = crate::text(bytes);
    match text::parse(source, &DIALECTS) {
        Err(error) => assert!(source.is_char_boundary(error.at)),
        Ok(module) => {
            if verify(&module).is_ok() {
                let written = text::print(&module);
                let again = text::parse(&written, &DIALECTS).unwrap_or_else(|error| panic!("{error}\n{written}"));
                assert_eq!(text::print(&again), written);
            }
        }
    }
}

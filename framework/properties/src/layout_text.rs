//! Attribute text: reading never fails but by an error that points into the text; what is read is
//! written as text that is read as the same; resolving it gives a layout or an error.

use std::sync::LazyLock;

use tilewright_layout::families::Neutral;
use tilewright_layout::{AttributeSyntaxes, Families, parse_definitions, parse_spec};

static SPELLINGS: LazyLock<AttributeSyntaxes> = LazyLock::new(|| AttributeSyntaxes::of_families(&Neutral));

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(bytes: &[u8]) {
    let text = crate::text(bytes);
    if let Err(error) = parse_definitions(text) {
        assert!(text.is_char_boundary(error.at));
    }
    match parse_spec(text) {
        Err(error) => assert!(text.is_char_boundary(error.at)),
        Ok(spec) => {
            let written = SPELLINGS.text(&spec);
            // Names that stood for layouts are gone, and so may be the bound on what is read.
            if let Ok(read) = parse_spec(&written) {
                assert_eq!(SPELLINGS.canonical(&read), SPELLINGS.canonical(&spec), "{written}");
                assert_eq!(SPELLINGS.text(&read), written);
            }
            for shape in [&[16][..], &[8, 32], &[2, 4, 8]] {
                if let Ok(layout) = Neutral.resolve(&spec, shape, &Neutral) {
                    let by_bases = layout.to_spec().map(|spec| Neutral.resolve(&spec, shape, &Neutral));
                    let Some(Ok(found)) = by_bases else { panic!("{written} has no bases: {by_bases:?}") };
                    assert_eq!(found.linear(), layout.linear(), "{written}");
                }
            }
        }
    }
}

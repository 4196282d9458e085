//! Property of attribute text of layouts: parsing gives a value, or an error at a position within the text; values
//! round-trip; resolving gives a layout or an error.

use std::sync::LazyLock;

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{AttributeSyntaxes, Families, parse_definitions, parse_family_spec};

static ATTRIBUTE_SYNTAXES: LazyLock<AttributeSyntaxes> =
    LazyLock::new(|| AttributeSyntaxes::from_families(&NeutralFamilies));

/// Parses one input as the attribute text of a layout. A parsed layout, printed and parsed again, must be equal, and
/// must resolve to the same linear layout from its bases; an error must lie at a character of the text.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let text = crate::text(bytes);
    if let Err(error) = parse_definitions(text) {
        assert!(text.is_char_boundary(error.at));
    }
    match parse_family_spec(text) {
        Err(error) => assert!(text.is_char_boundary(error.at)),
        Ok(spec) => {
            let written = ATTRIBUTE_SYNTAXES.print_spec(&spec);
            // Printing expands aliases, so the printed text may exceed the size limits of the parser.
            if let Ok(read) = parse_family_spec(&written) {
                assert_eq!(
                    ATTRIBUTE_SYNTAXES.to_canonical_spec(&read),
                    ATTRIBUTE_SYNTAXES.to_canonical_spec(&spec),
                    "{written}"
                );
                assert_eq!(ATTRIBUTE_SYNTAXES.print_spec(&read), written);
            }
            for shape in [&[16][..], &[8, 32], &[2, 4, 8]] {
                if let Ok(layout) = NeutralFamilies.resolve(&spec, shape, &NeutralFamilies) {
                    let by_bases = layout.to_spec().map(|spec| NeutralFamilies.resolve(&spec, shape, &NeutralFamilies));
                    let Some(Ok(found)) = by_bases else { panic!("{written} has no bases: {by_bases:?}") };
                    assert_eq!(found.linear(), layout.linear(), "{written}");
                }
            }
        }
    }
}

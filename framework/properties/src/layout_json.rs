//! Property of the JSON of layouts and layout families: reading gives a value or an error, values round-trip, and
//! operations on them give layouts or errors.

use tilewright::LayoutRequest;
use tilewright_layout::{
    LinearLayout, layout_from_json, layout_to_json, parse_family_spec, spec_from_json, spec_to_json,
};

/// Reads one input as the JSON of a layout and of a layout specification (a family with parameters). Each value that is
/// read, written and read again, must be equal; inversion and division of a layout must not panic.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let text = crate::text(bytes);
    let _ = LayoutRequest::from_text(text);
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
        let _ = parse_family_spec(text);
        return;
    };
    if let Ok(spec) = spec_from_json(&value) {
        assert_eq!(spec_from_json(&spec_to_json(&spec)).as_ref(), Ok(&spec));
    }
    if let Ok(layout) = layout_from_json(&value) {
        assert_eq!(layout_from_json(&layout_to_json(&layout)).as_ref(), Ok(&layout));
        operations(&layout);
    }
}

fn operations(layout: &LinearLayout) {
    let _ = layout.to_string();
    if let Ok(inverse) = layout.invert() {
        assert_eq!(inverse.invert().as_ref(), Ok(layout));
    }
    let _ = layout.pseudoinvert();
    let _ = layout.invert_and_compose(layout);
    let _ = layout.direct_sum(layout);
    let _ = layout.divide_left(layout);
    let _ = layout.divide_right(layout);
    assert!(layout.apply_packed(0) == 0);
}

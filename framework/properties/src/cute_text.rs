//! Property of CuTe notation: parsing and printing round-trip, and the conversion to linear layouts agrees with
//! evaluation.

use tilewright_layout::Dim;
use tilewright_layout::cute::{
    ComposedLayout, CuteError, CuteLayout, IntTuple, Swizzle, coalesce, from_linear, to_linear,
};

/// Parses one input as each object of CuTe notation (tuple, swizzle, layout, composed layout); a parsed object, printed
/// and parsed again, must be equal. A composed layout that has a linear form must give the same offsets as that form.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let text = crate::text(bytes);
    let _ = text.parse::<IntTuple>().map(|tuple| assert_eq!(tuple.to_string().parse(), Ok(tuple)));
    let _ = text.parse::<Swizzle>().map(|swizzle| assert_eq!(swizzle.to_string().parse(), Ok(swizzle)));
    let _ = text.parse::<CuteLayout>().map(|layout| {
        assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout));
        let _ = coalesce(&layout);
    });
    match text.parse::<ComposedLayout>() {
        Err(CuteError::Text(error)) => assert!(error.at <= text.len()),
        Err(_) => {}
        Ok(layout) => {
            assert_eq!(layout.to_string().parse().as_ref(), Ok(&layout));
            bridge(&layout);
        }
    }
}

fn bridge(layout: &ComposedLayout) {
    let Ok(linear) = to_linear(layout, Dim::LANE, Dim::OFFSET) else { return };
    let size = layout.layout().size();
    for index in [0, 1, 2, 3, size / 2, size - 1].into_iter().filter(|&index| index < size) {
        assert_eq!(layout.at(index), Ok(linear.apply_packed(index)), "{layout} at {index}");
    }
    if let Ok(back) = from_linear(&linear) {
        assert_eq!(to_linear(&back, Dim::LANE, Dim::OFFSET).as_ref(), Ok(&linear), "{layout}");
    }
}

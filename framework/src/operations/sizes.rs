//! Shapes that are no powers of two: the enclosing shape, and the mask of the real elements.

use serde_json::{Value as Json, json};

use super::error::{LayoutOperationError, wrong};
use super::inputs::{Answer, dim, layout, number_list, points, undefined};
use tilewright_layout::{EnlargedShape, MaskRequirement};

/// Max number of index bits of a dim that the operation `mask` accepts: its answer has an entry for each of the
/// `2^bits` positions.
const MOST_BITS: u32 = 16;

pub(super) fn enlarge(inputs: &Json) -> Answer {
    let enlarged = enlarged(inputs)?;
    let bounds: Vec<_> =
        enlarged.mask_bounds().into_iter().map(|(dim, bound)| json!([dim.to_string(), bound])).collect();
    Ok(json!({ "shape": enlarged.shape(), "bounds": bounds }))
}

pub(super) fn mask(inputs: &Json) -> Answer {
    let (enlarged, layout, dim) = (enlarged(inputs)?, layout(inputs, "layout")?, dim(inputs, "dim")?);
    let bits = layout.in_bits(dim);
    if bits > MOST_BITS {
        return Err(wrong(format!("{dim} has 2^{bits} positions; expected at most 2^{MOST_BITS}")));
    }
    let share = |at| match enlarged.share_at(&layout, dim, at) {
        MaskRequirement::Real => "real",
        MaskRequirement::Mixed => "mixed",
        MaskRequirement::Nothing => "nothing",
    };
    Ok(json!({ "shares": (0..1u64 << bits).map(share).collect::<Vec<_>>() }))
}

pub(super) fn is_real(inputs: &Json) -> Answer {
    let enlarged = enlarged(inputs)?;
    let values: Vec<_> = points(inputs)?.iter().map(|point| enlarged.is_real(point)).collect();
    Ok(json!({ "values": values }))
}

fn enlarged(inputs: &Json) -> Result<EnlargedShape, LayoutOperationError> {
    EnlargedShape::new(&number_list(inputs, "shape")?).map_err(|error| undefined(&error.to_string()))
}

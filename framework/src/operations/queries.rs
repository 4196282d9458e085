//! Operations that return a property of a layout: predicates, rank, contiguity, masks.

use serde_json::{Value as Json, json};

use super::inputs::{Answer, by_dim, dim, dims, layout, value};

pub(super) fn equal_ignoring_out_sizes(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "a")?.equal_ignoring_out_sizes(&layout(inputs, "b")?)))
}

pub(super) fn rank(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.rank()))
}

pub(super) fn is_distributed(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.is_distributed()))
}

pub(super) fn is_memory_layout(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.is_memory_layout()))
}

pub(super) fn is_trivial_over(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.is_trivial_over(&dims(inputs, "dims")?)))
}

pub(super) fn is_identity_on_out(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.is_identity_on_out(dim(inputs, "dim")?)))
}

pub(super) fn sublayout_is_zero(inputs: &Json) -> Answer {
    value(layout(inputs, "layout")?.sublayout_is_zero(&dims(inputs, "ins")?, &dims(inputs, "outs")?))
}

pub(super) fn consecutive_elements(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.consecutive_elements()))
}

pub(super) fn contiguous_along_out(inputs: &Json) -> Answer {
    value(Ok(layout(inputs, "layout")?.contiguous_along_out(dim(inputs, "dim")?)))
}

pub(super) fn free_variable_masks(inputs: &Json) -> Answer {
    Ok(json!({ "masks": by_dim(layout(inputs, "layout")?.free_variable_masks()) }))
}

pub(super) fn output_basis_mask(inputs: &Json) -> Answer {
    value(layout(inputs, "layout")?.output_basis_mask(&dims(inputs, "ins")?, dim(inputs, "out")?))
}

pub(super) fn input_basis_mask(inputs: &Json) -> Answer {
    value(layout(inputs, "layout")?.input_basis_mask(dim(inputs, "dim")?, &dims(inputs, "outs")?))
}

pub(super) fn output_masks(inputs: &Json) -> Answer {
    Ok(json!({ "masks": by_dim(layout(inputs, "layout")?.output_masks()) }))
}

//! Operations that reorder, resize, rename or select the dims of a layout.

use serde_json::Value as Json;

use super::inputs::{Answer, answer, dim, dims, layout, number, sized};

pub(super) fn flatten_ins(inputs: &Json) -> Answer {
    answer(Ok(layout(inputs, "layout")?.flatten_ins()))
}

pub(super) fn flatten_outs(inputs: &Json) -> Answer {
    answer(Ok(layout(inputs, "layout")?.flatten_outs()))
}

pub(super) fn reshape_ins(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.reshape_ins(&sized(inputs, "ins")?))
}

pub(super) fn reshape_outs(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.reshape_outs(&sized(inputs, "outs")?))
}

pub(super) fn transpose_ins(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.transpose_ins(&dims(inputs, "order")?))
}

pub(super) fn transpose_outs(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.transpose_outs(&dims(inputs, "order")?))
}

pub(super) fn squeeze_ins(inputs: &Json) -> Answer {
    answer(Ok(layout(inputs, "layout")?.squeeze_ins()))
}

pub(super) fn squeeze_outs(inputs: &Json) -> Answer {
    answer(Ok(layout(inputs, "layout")?.squeeze_outs()))
}

pub(super) fn unsqueeze_ins(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.unsqueeze_ins(dim(inputs, "dim")?))
}

pub(super) fn unsqueeze_outs(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.unsqueeze_outs(dim(inputs, "dim")?))
}

pub(super) fn rename_in(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.rename_in(dim(inputs, "from")?, dim(inputs, "to")?))
}

pub(super) fn rename_out(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.rename_out(dim(inputs, "from")?, dim(inputs, "to")?))
}

pub(super) fn resize_in(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.resize_in(dim(inputs, "dim")?, number(inputs, "size")?))
}

pub(super) fn resize_out(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.resize_out(dim(inputs, "dim")?, number(inputs, "size")?))
}

pub(super) fn no_larger_than(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.ensure_not_larger_than(&sized(inputs, "sizes")?))
}

pub(super) fn no_smaller_than(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.ensure_not_smaller_than(&sized(inputs, "sizes")?))
}

pub(super) fn sublayout(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.sublayout(&dims(inputs, "ins")?, &dims(inputs, "outs")?))
}

pub(super) fn remove_axis(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.remove_axis(dim(inputs, "dim")?))
}

pub(super) fn remove_zero_bases(inputs: &Json) -> Answer {
    answer(Ok(layout(inputs, "layout")?.remove_zero_bases(dim(inputs, "dim")?)))
}

pub(super) fn concat_ins(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.concat_ins(&layout(inputs, "b")?))
}

pub(super) fn concat_outs(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.concat_outs(&layout(inputs, "b")?))
}

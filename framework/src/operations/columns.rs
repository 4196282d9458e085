//! Selections and orders of the bases of one input dim, such as the registers.

use serde_json::{Value as Json, json};

use super::error::wrong;
use super::inputs::{Answer, answer, dim, flag, layout, number, number_list, optional, undefined};
use tilewright_layout::{ColumnAction, Dim};

pub(super) fn select_bases(inputs: &Json) -> Answer {
    let (layout, dim) = (layout(inputs, "layout")?, dim(inputs, "dim")?);
    let kept: Result<Vec<usize>, _> = number_list(inputs, "kept")?.into_iter().map(usize::try_from).collect();
    let kept = kept.map_err(|_| wrong("`kept` must be a list of indices of bases"))?;
    let bits = layout.in_bits(dim);
    answer(ColumnAction::new(dim, bits, &kept).and_then(|action| action.apply(&layout)))
}

pub(super) fn without_broadcast(inputs: &Json) -> Answer {
    let action = layout(inputs, "layout")?.remove_broadcast_action(dim(inputs, "dim")?);
    Ok(json!({ "kept": kept(&action) }))
}

pub(super) fn order_for_division(inputs: &Json) -> Answer {
    let (divisor, dim, above) = (layout(inputs, "divisor")?, dim(inputs, "dim")?, flag(inputs, "above", false)?);
    match layout(inputs, "layout")?.division_order(&divisor, dim, above) {
        Some(action) => Ok(json!({ "kept": kept(&action) })),
        None => Err(undefined(&format!("no order of the bases of {dim} lets `divisor` divide `layout`"))),
    }
}

pub(super) fn additive_first(inputs: &Json) -> Answer {
    let (action, span) = layout(inputs, "layout")?.order_additive_bases_first(dim(inputs, "dim")?);
    Ok(json!({ "kept": kept(&action), "span": span }))
}

pub(super) fn largest_vector(inputs: &Json) -> Answer {
    let named = |name: &str, default| optional(inputs, name).map_or(Ok(default), |_| dim(inputs, name));
    let (register, offset) = (named("register", Dim::REGISTER)?, named("offset", Dim::OFFSET)?);
    let (elements, action) =
        layout(inputs, "layout")?.widest_vector_access(register, offset, number(inputs, "widest")?);
    Ok(json!({ "elements": elements, "kept": kept(&action) }))
}

fn kept(action: &ColumnAction) -> Vec<usize> {
    action.kept_bases().collect()
}

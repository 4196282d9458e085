//! Constructors of linear layouts, and their algebra.

use serde_json::{Value as Json, json};

use super::error::{LayoutOperationError, wrong};
use super::inputs::{
    Answer, answer, by_dim, dim, dims, field, flag, layout, number, number_list, numbers, optional, points, sized,
    undefined,
};
use tilewright_layout::families::cluster;
use tilewright_layout::{Dim, DimBases, LinearLayout, Space, solve_composition};

pub(super) fn identity(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    answer(LinearLayout::identity(number(inputs, "size")?, from, to))
}

pub(super) fn strided(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    answer(LinearLayout::strided(number(inputs, "size")?, number(inputs, "stride")?, from, to))
}

pub(super) fn zeros(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    let out_size = optional(inputs, "out_dim_size").map_or(Ok(1), |_| number(inputs, "out_dim_size"))?;
    answer(LinearLayout::zeros(number(inputs, "size")?, from, to, out_size))
}

pub(super) fn from_bases(inputs: &Json) -> Answer {
    let bases = field(inputs, "bases")?.as_array();
    let bases: Vec<_> = bases
        .and_then(|list| list.iter().map(named_bases).collect())
        .ok_or_else(|| wrong("`bases` must be a list of [dim, list of coordinate lists]"))?;
    let names = dims(inputs, "out_dim_names")?;
    let surjective = flag(inputs, "require_surjective", true)?;
    let Some(sizes) = optional(inputs, "out_dim_sizes") else {
        if !surjective {
            return Err(undefined("the sizes of out dims can be inferred for a surjective layout only"));
        }
        return answer(LinearLayout::from_bases_inferred(&bases, &names));
    };
    let sizes = numbers(sizes).filter(|sizes| sizes.len() == names.len());
    let sizes = sizes.ok_or_else(|| wrong("`out_dim_sizes` must be null or one integer for each out dim"))?;
    let outs: Vec<_> = names.into_iter().zip(sizes).collect();
    let result = LinearLayout::from_bases(&bases, &outs);
    answer(if surjective { result.and_then(LinearLayout::require_surjective) } else { result })
}

pub(super) fn invert(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.invert())
}

pub(super) fn pseudoinvert(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.pseudoinvert())
}

pub(super) fn compose(inputs: &Json) -> Answer {
    answer(layout(inputs, "inner")?.compose(&layout(inputs, "outer")?))
}

pub(super) fn invert_and_compose(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.invert_and_compose(&layout(inputs, "b")?))
}

pub(super) fn direct_sum(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.direct_sum(&layout(inputs, "b")?))
}

pub(super) fn equal(inputs: &Json) -> Answer {
    Ok(json!({ "value": layout(inputs, "a")? == layout(inputs, "b")? }))
}

pub(super) fn predicates(inputs: &Json) -> Answer {
    let layout = layout(inputs, "layout")?;
    Ok(json!({
        "is_surjective": layout.is_surjective(),
        "is_injective": layout.is_injective(),
        "is_invertible": layout.is_invertible(),
        "num_in_dims": layout.ins().len(),
        "num_out_dims": layout.outs().len(),
    }))
}

pub(super) fn matrix(inputs: &Json) -> Answer {
    Ok(json!({ "rows": layout(inputs, "layout")?.matrix() }))
}

pub(super) fn apply(inputs: &Json) -> Answer {
    let layout = layout(inputs, "layout")?;
    let image = |point: Vec<(Dim, u64)>| {
        let input = layout.ins().pack(&point).map_err(|error| undefined(&error.to_string()))?;
        Ok(by_dim(layout.outs().unpack(layout.apply_packed(input))))
    };
    let images: Vec<_> = points(inputs)?.into_iter().map(image).collect::<Result<_, LayoutOperationError>>()?;
    Ok(json!({ "points": images }))
}

pub(super) fn from_output_masks(inputs: &Json) -> Answer {
    let masks = field(inputs, "masks")?.as_array();
    let masks: Option<Vec<_>> = masks.and_then(|list| list.iter().map(named_masks).collect());
    let masks = masks.ok_or_else(|| wrong("`masks` must be a list of [dim, list of integers]"))?;
    let ins = Space::from_sizes(&sized(inputs, "ins")?);
    answer(ins.and_then(|ins| LinearLayout::from_output_masks(ins, &masks)))
}

pub(super) fn identity_nd(inputs: &Json) -> Answer {
    let (sizes, order) = (number_list(inputs, "shape")?, number_list(inputs, "order")?);
    let mut axes: Vec<_> = order.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect();
    axes.sort_unstable();
    if axes != (0..sizes.len()).collect::<Vec<_>>() || sizes.len() > 16 {
        return Err(wrong("`order` must list each axis of `shape` once, from 0 on; at most 16"));
    }
    let order: Vec<_> = order.into_iter().filter_map(|axis| usize::try_from(axis).ok()).collect();
    answer(cluster::identity_nd(dim(inputs, "in_dim")?, &sizes, &order))
}

pub(super) fn empty(_: &Json) -> Answer {
    answer(Ok(LinearLayout::empty()))
}

pub(super) fn solve_for(inputs: &Json) -> Answer {
    answer(solve_composition(&layout(inputs, "a")?, &layout(inputs, "b")?))
}

pub(super) fn divide_left(inputs: &Json) -> Answer {
    let quotient = layout(inputs, "layout")?.divide_left(&layout(inputs, "divisor")?);
    or_undefined(quotient, "`layout` is no direct sum of `divisor` and a layout above it")
}

pub(super) fn divide_right(inputs: &Json) -> Answer {
    let quotient = layout(inputs, "layout")?.divide_right(&layout(inputs, "divisor")?);
    or_undefined(quotient, "`layout` is no direct sum of a layout and `divisor` above it")
}

pub(super) fn quotient(inputs: &Json) -> Answer {
    let quotient = layout(inputs, "layout")?.quotient(&dims(inputs, "dims")?);
    or_undefined(quotient, "`layout` is not trivial over `dims`: the identity on each, which no other dim reaches")
}

pub(super) fn repetitions(inputs: &Json) -> Answer {
    let repetitions = layout(inputs, "layout")?.divide_out_tile(&layout(inputs, "tile")?);
    or_undefined(repetitions, "the first bases of `layout` are not those of `tile`, or others have a bit of its image")
}

fn or_undefined(found: Option<LinearLayout>, why: &str) -> Answer {
    found.map_or_else(|| Err(undefined(why)), |layout| answer(Ok(layout)))
}

fn ends(inputs: &Json) -> Result<(Dim, Dim), LayoutOperationError> {
    Ok((dim(inputs, "in_dim")?, dim(inputs, "out_dim")?))
}

fn named_masks(pair: &Json) -> Option<(Dim, Vec<u64>)> {
    match pair.as_array()?.as_slice() {
        [name, masks] => Some((Dim::named(name.as_str()?), numbers(masks)?)),
        _ => None,
    }
}

fn named_bases(pair: &Json) -> Option<(Dim, DimBases)> {
    match pair.as_array()?.as_slice() {
        [name, images] => {
            let images: Option<DimBases> = images.as_array()?.iter().map(numbers).collect();
            Some((Dim::named(name.as_str()?), images?))
        }
        _ => None,
    }
}

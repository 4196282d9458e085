//! The operations of the layout algebra in a batch: `inputs` in, a layout or facts about one out.
//!
//! Requests whose form is wrong are `bad_request` or `bad_layout`; an operation that is not defined
//! on well-formed inputs is `undefined`.

use serde_json::{Map, Value as Json, json};

use tilewright::layout::{Bases, Dim, LayoutError, LinearLayout, layout_from_json, layout_to_json};
use tilewright::pipeline::Session;

use super::Refusal;
use super::operations::{Operation, bad, field};

/// The operations by name.
pub const OPERATIONS: [(&str, Operation); 13] = [
    ("apply", apply),
    ("compose", compose),
    ("equal", equal),
    ("from_bases", from_bases),
    ("identity_1d", identity),
    ("invert", invert),
    ("invert_and_compose", invert_and_compose),
    ("matrix", matrix),
    ("mul", direct_sum),
    ("predicates", predicates),
    ("pseudoinvert", pseudoinvert),
    ("strided_1d", strided),
    ("zeros_1d", zeros),
];

fn identity(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let (from, to) = ends(request)?;
    answer(LinearLayout::identity(number(request, "size")?, from, to))
}

fn strided(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let (from, to) = ends(request)?;
    answer(LinearLayout::strided(number(request, "size")?, number(request, "stride")?, from, to))
}

fn zeros(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let (from, to) = ends(request)?;
    answer(LinearLayout::zeros(number(request, "size")?, from, to, number(request, "out_dim_size")?))
}

fn from_bases(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let bases = field(inputs(request)?, "bases")?.as_array();
    let bases: Vec<_> = bases
        .and_then(|list| list.iter().map(named_bases).collect())
        .ok_or_else(|| bad("`bases` must be a list of [dim, list of coordinate lists]"))?;
    let names = field(inputs(request)?, "out_dim_names")?.as_array();
    let names: Vec<_> = names
        .and_then(|list| list.iter().map(|name| name.as_str().map(Dim::named)).collect())
        .ok_or_else(|| bad("`out_dim_names` must be a list of names"))?;
    let surjective = inputs(request)?.get("require_surjective").and_then(Json::as_bool).unwrap_or(true);
    let sizes = inputs(request)?.get("out_dim_sizes").filter(|sizes| !sizes.is_null());
    let Some(sizes) = sizes else {
        if !surjective {
            return Err(undefined("the sizes of out dims can be inferred of a surjective layout only"));
        }
        return answer(LinearLayout::from_bases_inferred(&bases, &names));
    };
    let sizes = numbers(sizes).filter(|sizes| sizes.len() == names.len());
    let sizes = sizes.ok_or_else(|| bad("`out_dim_sizes` must be null or one whole number for each out dim"))?;
    let outs: Vec<_> = names.into_iter().zip(sizes).collect();
    let made = LinearLayout::from_bases(&bases, &outs);
    answer(if surjective { made.and_then(LinearLayout::require_surjective) } else { made })
}

fn invert(_: &Session, request: &Json) -> Result<Json, Refusal> {
    answer(layout(request, "layout")?.invert())
}

fn pseudoinvert(_: &Session, request: &Json) -> Result<Json, Refusal> {
    answer(layout(request, "layout")?.pseudoinvert())
}

fn compose(_: &Session, request: &Json) -> Result<Json, Refusal> {
    answer(layout(request, "inner")?.compose(&layout(request, "outer")?))
}

fn invert_and_compose(_: &Session, request: &Json) -> Result<Json, Refusal> {
    answer(layout(request, "a")?.invert_and_compose(&layout(request, "b")?))
}

fn direct_sum(_: &Session, request: &Json) -> Result<Json, Refusal> {
    answer(layout(request, "a")?.direct_sum(&layout(request, "b")?))
}

fn equal(_: &Session, request: &Json) -> Result<Json, Refusal> {
    Ok(json!({ "value": layout(request, "a")? == layout(request, "b")? }))
}

fn predicates(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let layout = layout(request, "layout")?;
    Ok(json!({
        "is_surjective": layout.is_surjective(),
        "is_injective": layout.is_injective(),
        "is_invertible": layout.is_invertible(),
        "num_in_dims": layout.ins().len(),
        "num_out_dims": layout.outs().len(),
    }))
}

fn matrix(_: &Session, request: &Json) -> Result<Json, Refusal> {
    Ok(json!({ "rows": layout(request, "layout")?.matrix() }))
}

fn apply(_: &Session, request: &Json) -> Result<Json, Refusal> {
    let layout = layout(request, "layout")?;
    let points = field(inputs(request)?, "points")?.as_array();
    let points = points.ok_or_else(|| bad("`points` must be a list of objects"))?;
    let images: Vec<_> = points.iter().map(|point| image(&layout, point)).collect::<Result<_, _>>()?;
    Ok(json!({ "points": images }))
}

fn image(layout: &LinearLayout, point: &Json) -> Result<Json, Refusal> {
    let place = |(name, at): (&String, &Json)| Some((Dim::named(name), at.as_u64()?));
    let input: Option<Vec<_>> = point.as_object().and_then(|point| point.iter().map(place).collect());
    let input = input.ok_or_else(|| bad("a point must be an object of dims and whole numbers"))?;
    let output = layout.apply(&input).map_err(|error| undefined(&error.to_string()))?;
    Ok(Json::Object(output.into_iter().map(|(dim, at)| (dim.to_string(), json!(at))).collect::<Map<_, _>>()))
}

fn inputs(request: &Json) -> Result<&Json, Refusal> {
    field(request, "inputs")
}

fn layout(request: &Json, name: &str) -> Result<LinearLayout, Refusal> {
    layout_from_json(field(inputs(request)?, name)?)
        .map_err(|error| Refusal::new("bad_layout", format!("`{name}`: {}", error.message)))
}

fn ends(request: &Json) -> Result<(Dim, Dim), Refusal> {
    let dim = |name: &str| {
        let value = field(inputs(request)?, name)?.as_str();
        value.map(Dim::named).ok_or_else(|| bad(&format!("`{name}` must be a dim's name")))
    };
    Ok((dim("in_dim")?, dim("out_dim")?))
}

fn number(request: &Json, name: &str) -> Result<u64, Refusal> {
    let value = field(inputs(request)?, name)?.as_u64();
    value.ok_or_else(|| bad(&format!("`{name}` must be a whole number")))
}

fn numbers(value: &Json) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Json::as_u64).collect()
}

fn named_bases(pair: &Json) -> Option<(Dim, Bases)> {
    match pair.as_array()?.as_slice() {
        [name, images] => {
            let images: Option<Bases> = images.as_array()?.iter().map(numbers).collect();
            Some((Dim::named(name.as_str()?), images?))
        }
        _ => None,
    }
}

fn answer(found: Result<LinearLayout, LayoutError>) -> Result<Json, Refusal> {
    found.map(|layout| layout_to_json(&layout)).map_err(|error| undefined(&error.to_string()))
}

fn undefined(why: &str) -> Refusal {
    Refusal::new("undefined", why.to_owned())
}

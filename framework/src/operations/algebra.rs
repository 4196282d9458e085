//! Operations on linear layouts: from JSON `inputs` to a layout or its properties.

use serde_json::{Map, Value as Json, json};

use super::{OperationError, field, find, wrong};
use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout, layout_from_json, layout_to_json};

type Operation = fn(&Json) -> Answer;
type Answer = Result<Json, OperationError>;

/// The function and the names of its inputs, by the name of the operation.
const OPERATIONS: [(&str, (Operation, &[&str])); 13] = [
    ("apply", (apply, &["layout", "points"])),
    ("compose", (compose, &["inner", "outer"])),
    ("equal", (equal, &["a", "b"])),
    ("from_bases", (from_bases, &["bases", "out_dim_names", "out_dim_sizes", "require_surjective"])),
    ("identity_1d", (identity, &["size", "in_dim", "out_dim"])),
    ("invert", (invert, &["layout"])),
    ("invert_and_compose", (invert_and_compose, &["a", "b"])),
    ("matrix", (matrix, &["layout"])),
    ("mul", (direct_sum, &["a", "b"])),
    ("predicates", (predicates, &["layout"])),
    ("pseudoinvert", (pseudoinvert, &["layout"])),
    ("strided_1d", (strided, &["size", "stride", "in_dim", "out_dim"])),
    ("zeros_1d", (zeros, &["size", "in_dim", "out_dim", "out_dim_size"])),
];

/// Performs the operation `name` on linear layouts; `inputs` is a JSON object. Layouts are `{"in_dims", "out_dims",
/// "bases"}` ([`layout_from_json`]), sizes are in elements, dimensions are names. `compose` takes `inner` and `outer`;
/// `invert_and_compose`, `mul` and `equal` take `a` and `b`; `apply` takes `layout` and `points`; constructors take
/// `size`, `in_dim`, `out_dim` and more; all others take `layout`.
///
/// # Errors
/// [`OperationError`].
///
/// ```
/// use serde_json::json;
/// use tilewright::operations::algebra;
/// let inputs = json!({"size": 4, "stride": 2, "in_dim": "lane", "out_dim": "dim0"});
/// assert_eq!(algebra("strided_1d", &inputs)?["bases"], json!({"lane": [[2], [4]]}));
/// assert!(algebra("strided", &inputs).is_err_and(|error| error.to_string().contains("strided_1d")));
/// # Ok::<(), tilewright::operations::OperationError>(())
/// ```
pub fn algebra(name: &str, inputs: &Json) -> Result<Json, OperationError> {
    let (operation, takes) = find(&OPERATIONS, name)?;
    let given = inputs.as_object().ok_or_else(|| wrong("`inputs` must be an object"))?;
    if let Some(strange) = given.keys().find(|given| !takes.contains(&given.as_str())) {
        return Err(wrong(format!("`{strange}` is not an input of `{name}`, which takes {}", takes.join(", "))));
    }
    operation(inputs)
}

fn identity(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    answer(LinearLayout::identity(number(inputs, "size")?, from, to))
}

fn strided(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    answer(LinearLayout::strided(number(inputs, "size")?, number(inputs, "stride")?, from, to))
}

fn zeros(inputs: &Json) -> Answer {
    let (from, to) = ends(inputs)?;
    answer(LinearLayout::zeros(number(inputs, "size")?, from, to, number(inputs, "out_dim_size")?))
}

fn from_bases(inputs: &Json) -> Answer {
    let bases = field(inputs, "bases")?.as_array();
    let bases: Vec<_> = bases
        .and_then(|list| list.iter().map(named_bases).collect())
        .ok_or_else(|| wrong("`bases` must be a list of [dim, list of coordinate lists]"))?;
    let names = field(inputs, "out_dim_names")?.as_array();
    let names: Vec<_> = names
        .and_then(|list| list.iter().map(|name| name.as_str().map(Dim::named)).collect())
        .ok_or_else(|| wrong("`out_dim_names` must be a list of names"))?;
    let surjective = inputs.get("require_surjective").map_or(Some(true), Json::as_bool);
    let surjective = surjective.ok_or_else(|| wrong("`require_surjective` must be true or false"))?;
    let sizes = inputs.get("out_dim_sizes").filter(|sizes| !sizes.is_null());
    let Some(sizes) = sizes else {
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

fn invert(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.invert())
}

fn pseudoinvert(inputs: &Json) -> Answer {
    answer(layout(inputs, "layout")?.pseudoinvert())
}

fn compose(inputs: &Json) -> Answer {
    answer(layout(inputs, "inner")?.compose(&layout(inputs, "outer")?))
}

fn invert_and_compose(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.invert_and_compose(&layout(inputs, "b")?))
}

fn direct_sum(inputs: &Json) -> Answer {
    answer(layout(inputs, "a")?.direct_sum(&layout(inputs, "b")?))
}

fn equal(inputs: &Json) -> Answer {
    Ok(json!({ "value": layout(inputs, "a")? == layout(inputs, "b")? }))
}

fn predicates(inputs: &Json) -> Answer {
    let layout = layout(inputs, "layout")?;
    Ok(json!({
        "is_surjective": layout.is_surjective(),
        "is_injective": layout.is_injective(),
        "is_invertible": layout.is_invertible(),
        "num_in_dims": layout.ins().len(),
        "num_out_dims": layout.outs().len(),
    }))
}

fn matrix(inputs: &Json) -> Answer {
    Ok(json!({ "rows": layout(inputs, "layout")?.matrix() }))
}

fn apply(inputs: &Json) -> Answer {
    let layout = layout(inputs, "layout")?;
    let points = field(inputs, "points")?.as_array();
    let points = points.ok_or_else(|| wrong("`points` must be a list of objects"))?;
    let images: Vec<_> = points.iter().map(|point| image(&layout, point)).collect::<Result<_, _>>()?;
    Ok(json!({ "points": images }))
}

fn image(layout: &LinearLayout, point: &Json) -> Result<Json, OperationError> {
    let coordinate = |(name, at): (&String, &Json)| Some((Dim::named(name), at.as_u64()?));
    let input: Option<Vec<_>> = point.as_object().and_then(|point| point.iter().map(coordinate).collect());
    let input = input.ok_or_else(|| wrong("a point must be an object of dims and integers"))?;
    let input = layout.ins().pack(&input).map_err(|error| undefined(&error.to_string()))?;
    let output = layout.outs().unpack(layout.apply_packed(input));
    Ok(Json::Object(output.map(|(dim, at)| (dim.to_string(), json!(at))).collect::<Map<_, _>>()))
}

fn layout(inputs: &Json, name: &str) -> Result<LinearLayout, OperationError> {
    layout_from_json(field(inputs, name)?)
        .map_err(|error| OperationError::Layout(format!("`{name}`: {}", error.message)))
}

fn ends(inputs: &Json) -> Result<(Dim, Dim), OperationError> {
    let dim = |name: &str| {
        let value = field(inputs, name)?.as_str();
        value.map(Dim::named).ok_or_else(|| wrong(format!("`{name}` must be a dim's name")))
    };
    Ok((dim("in_dim")?, dim("out_dim")?))
}

fn number(inputs: &Json, name: &str) -> Result<u64, OperationError> {
    let value = field(inputs, name)?.as_u64();
    value.ok_or_else(|| wrong(format!("`{name}` must be a non-negative integer")))
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

fn answer(found: Result<LinearLayout, LayoutError>) -> Answer {
    let layout = found.map_err(|error| undefined(&error.to_string()))?;
    // The size 2^64 itself needs 65 bits.
    match layout.ins().iter().chain(layout.outs().iter()).find(|&(_, bits)| bits > 63) {
        Some((dim, _)) => Err(undefined(&format!("{dim} has 2^64 positions: at most 2^63 can be written"))),
        None => Ok(layout_to_json(&layout)),
    }
}

fn undefined(why: &str) -> OperationError {
    OperationError::Undefined(why.to_owned())
}

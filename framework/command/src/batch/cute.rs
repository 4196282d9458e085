//! The CuTe operations of a batch: `op` is `cute.` and a name, `inputs` a list of layouts, tilers
//! (a layout or a list of them), shapes and numbers; the result is text in CuTe's notation, or numbers.

use serde_json::{Value as Json, json};

use tilewright::cute::{self, CuteError, IntTuple, Layout, Swizzle, Tiler};

use super::Refusal;

/// A table lists so many values at most.
const LONGEST_TABLE: u64 = 1 << 16;
/// Tilers nest so deep at most.
const DEEPEST: usize = cute::MAX_DEPTH;

type One = fn(&Layout) -> Result<Layout, CuteError>;
type Two = fn(&Layout, &Layout) -> Result<Layout, CuteError>;
type Cut = fn(&Layout, &Tiler) -> Result<Layout, CuteError>;
type Count = fn(&Layout, u64) -> Result<Layout, CuteError>;

enum Operation {
    One(One),
    Two(Two),
    Cut(Cut),
    Count(Count),
    CoalesceByMode,
    CommonVector,
    TileToShape,
    Table,
    Swizzle,
}

const OPERATIONS: [(&str, Operation); 31] = [
    ("blocked_product", Operation::Two(cute::blocked_product)),
    ("coalesce", Operation::One(cute::coalesce)),
    ("coalesce_by_mode", Operation::CoalesceByMode),
    ("complement", Operation::Count(cute::complement)),
    ("composition", Operation::Two(cute::composition)),
    ("composition_extended", Operation::Two(cute::composition)),
    ("composition_tiler", Operation::Cut(cute::composition_by)),
    ("downcast", Operation::Count(cute::downcast)),
    ("filter", Operation::One(cute::filter)),
    ("filter_zeros", Operation::One(cute::filter_zeros)),
    ("flat_divide", Operation::Cut(cute::flat_divide)),
    ("flat_product", Operation::Cut(cute::flat_product)),
    ("flatten", Operation::One(Layout::flatten)),
    ("left_inverse", Operation::One(cute::left_inverse)),
    ("logical_divide", Operation::Cut(cute::logical_divide)),
    ("logical_divide_tiler", Operation::Cut(cute::logical_divide)),
    ("logical_product", Operation::Cut(cute::logical_product)),
    ("logical_product_tiler", Operation::Cut(cute::logical_product)),
    ("max_common_layout", Operation::Two(cute::max_common_layout)),
    ("max_common_vector", Operation::CommonVector),
    ("nullspace", Operation::One(cute::nullspace)),
    ("raked_product", Operation::Two(cute::raked_product)),
    ("right_inverse", Operation::One(cute::right_inverse)),
    ("swizzle", Operation::Swizzle),
    ("table", Operation::Table),
    ("tile_to_shape", Operation::TileToShape),
    ("tiled_divide", Operation::Cut(cute::tiled_divide)),
    ("tiled_product", Operation::Cut(cute::tiled_product)),
    ("upcast", Operation::Count(cute::upcast)),
    ("zipped_divide", Operation::Cut(cute::zipped_divide)),
    ("zipped_product", Operation::Cut(cute::zipped_product)),
];

/// Answers the operation of that name.
pub fn perform(name: &str, request: &Json) -> Result<Json, Refusal> {
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        let known: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).collect();
        Refusal::new("unknown_op", format!("unknown operation `cute.{name}`; known are {}", known.join(", ")))
    })?;
    let inputs = request.get("inputs").and_then(Json::as_array).ok_or_else(|| bad("`inputs` must be a list"))?;
    let first = || layout(inputs, 0);
    let second = || layout(inputs, 1);
    let result = match &operation.1 {
        Operation::One(one) => one(&first()?),
        Operation::Two(two) => two(&first()?, &second()?),
        Operation::Cut(cut) => cut(&first()?, &tiler(input(inputs, 1)?, 0)?),
        Operation::Count(count) => count(&first()?, number(inputs)?),
        Operation::CoalesceByMode => cute::coalesce_by(&first()?, &tuple(inputs, 1)?),
        Operation::TileToShape => {
            let order = inputs.get(2).map(|_| tuple(inputs, 2)).transpose()?;
            cute::tile_to_shape(&first()?, &tuple(inputs, 1)?, order.as_ref())
        }
        Operation::CommonVector => {
            return cute::max_common_vector(&first()?, &second()?).map(|size| json!(size)).map_err(no_result);
        }
        Operation::Table => return table(&first()?),
        Operation::Swizzle => return swizzled(inputs),
    };
    result.map(|layout| json!(layout.to_string())).map_err(no_result)
}

fn table(layout: &Layout) -> Result<Json, Refusal> {
    if layout.size() > LONGEST_TABLE {
        return Err(bad(&format!("a table of {} values; {LONGEST_TABLE} are listed at most", layout.size())));
    }
    Ok(layout.values().collect())
}

fn swizzled(inputs: &[Json]) -> Result<Json, Refusal> {
    let given = input(inputs, 0)?;
    let part = |name: &str| given.get(name).and_then(Json::as_i64);
    let swizzle = match (given.as_str(), part("B"), part("M"), part("S")) {
        (Some(text), ..) => text.parse().map_err(no_layout)?,
        (None, Some(bits), Some(base), Some(shift)) => {
            let word = |part: i64| u32::try_from(part).map_err(|_| bad("`B` and `M` must be small whole numbers"));
            let shift = i32::try_from(shift).map_err(|_| bad("`S` must be a small integer"))?;
            Swizzle::new(word(bits)?, word(base)?, shift).map_err(no_layout)?
        }
        _ => return Err(bad("the first input must be a swizzle: text, or an object with `B`, `M` and `S`")),
    };
    let numbers =
        input(inputs, 1)?.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    let numbers = numbers.ok_or_else(|| bad("the second input must be a list of whole numbers"))?;
    Ok(numbers.into_iter().map(|number| swizzle.apply(number)).collect())
}

fn input(inputs: &[Json], at: usize) -> Result<&Json, Refusal> {
    inputs.get(at).ok_or_else(|| bad(&format!("`inputs` has {} values: value {at} is missing", inputs.len())))
}

fn text(inputs: &[Json], at: usize) -> Result<&str, Refusal> {
    input(inputs, at)?.as_str().ok_or_else(|| bad(&format!("input {at} must be text")))
}

fn layout(inputs: &[Json], at: usize) -> Result<Layout, Refusal> {
    text(inputs, at)?.parse().map_err(no_layout)
}

fn tuple(inputs: &[Json], at: usize) -> Result<IntTuple, Refusal> {
    text(inputs, at)?.parse().map_err(no_layout)
}

fn number(inputs: &[Json]) -> Result<u64, Refusal> {
    input(inputs, 1)?.as_u64().ok_or_else(|| bad("input 1 must be a whole number"))
}

fn tiler(given: &Json, depth: usize) -> Result<Tiler, Refusal> {
    match given {
        Json::String(text) => Ok(Tiler::Layout(text.parse().map_err(no_layout)?)),
        Json::Array(modes) if depth < DEEPEST => {
            Ok(Tiler::Modes(modes.iter().map(|mode| tiler(mode, depth + 1)).collect::<Result<_, _>>()?))
        }
        _ => Err(bad("a tiler is a layout as text or a list of tilers")),
    }
}

fn bad(message: &str) -> Refusal {
    Refusal::new("bad_request", message.to_owned())
}

fn no_layout(error: CuteError) -> Refusal {
    Refusal::new("bad_layout", error.to_string())
}

/// An operation that is not defined on what was given.
fn no_result(error: CuteError) -> Refusal {
    Refusal::new("unsupported", error.to_string())
}

//! Operations on CuTe layouts: from a list of JSON inputs to a layout as text, or numbers.

use serde_json::{Value as Json, json};

use super::error::{LayoutOperationError, wrong};
use tilewright_layout::cute::{self, CuteError, CuteLayout, IntTuple, SignedLayout, Swizzle, Tiler};

/// Max number of coordinates of a layout that the operation `table` accepts: it returns a value for each.
const LONGEST_TABLE: u64 = 1 << 16;
/// Max nesting depth of tilers in the inputs.
const DEEPEST: usize = cute::MAX_DEPTH;

type One = fn(&CuteLayout) -> Result<CuteLayout, CuteError>;
type Two = fn(&CuteLayout, &CuteLayout) -> Result<CuteLayout, CuteError>;
type Cut = fn(&CuteLayout, &Tiler) -> Result<CuteLayout, CuteError>;
type Count = fn(&CuteLayout, u64) -> Result<CuteLayout, CuteError>;

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

impl Operation {
    fn most_inputs(&self) -> usize {
        match self {
            Self::One(_) | Self::Table => 1,
            Self::TileToShape => 3,
            _ => 2,
        }
    }
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
    ("flatten", Operation::One(CuteLayout::flatten)),
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

/// Performs the operation `name` on CuTe layouts; `inputs` are in the order of CuTe's parameters. Inputs are layouts
/// and shapes as text in CuTe notation, tilers (a layout, or a list of tilers), and numbers.
///
/// # Errors
/// [`LayoutOperationError::Unknown`] if no operation has this name, [`LayoutOperationError::Inputs`] if an input is
/// missing or of the wrong type, [`LayoutOperationError::Layout`] if a text is not a layout or shape,
/// [`LayoutOperationError::Undefined`] if the operation has no result; its message names a coordinate that no candidate
/// layout maps correctly.
///
/// ```
/// use serde_json::json;
/// use tilewright::operations::perform_cute_operation;
/// assert_eq!(perform_cute_operation("composition", &[json!("(4,8):(8,1)"), json!("8:2")])?, json!("(2,4):(16,1)"));
/// assert!(perform_cute_operation("composition", &[json!("(6,4):(4,1)"), json!("(2,3):(4,1)")]).is_err());
/// # Ok::<(), tilewright::operations::LayoutOperationError>(())
/// ```
pub fn perform_cute_operation(name: &str, inputs: &[Json]) -> Result<Json, LayoutOperationError> {
    let operation = find(&OPERATIONS, name)?;
    let most = operation.most_inputs();
    if inputs.len() > most {
        return Err(wrong(format!("`{name}` takes {most} inputs at most, not {}", inputs.len())));
    }
    let is_signed =
        |input: &Json| input.as_str().and_then(|text| text.parse().ok()).filter(SignedLayout::has_negative_strides);
    if let Some(signed) = inputs.first().and_then(is_signed) {
        return perform_signed_operation(name, &signed, inputs);
    }
    let first = || layout(inputs, 0);
    let second = || layout(inputs, 1);
    let result = match operation {
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

/// Performs an operation on a layout with negative strides. Operations that count offsets from 0, such as complements
/// and inverses, are not defined for it.
fn perform_signed_operation(name: &str, layout: &SignedLayout, inputs: &[Json]) -> Result<Json, LayoutOperationError> {
    let result = match name {
        "coalesce" => layout.coalesce(),
        "composition" | "composition_extended" => layout.compose(&self::layout(inputs, 1)?),
        "flatten" => layout.flatten(),
        "table" => {
            check_table_size(layout.size())?;
            let values = (0..layout.size()).map(|index| layout.at(index)).collect::<Result<Vec<_>, _>>();
            return values.map(|values| json!(values)).map_err(no_result);
        }
        _ => {
            let message =
                "negative strides; expected offsets from 0, except for coalesce, composition, flatten and table";
            return Err(LayoutOperationError::Undefined(format!("`{name}` of `{layout}`: {message}")));
        }
    };
    result.map(|layout| json!(layout.to_string())).map_err(no_result)
}

fn table(layout: &CuteLayout) -> Result<Json, LayoutOperationError> {
    check_table_size(layout.size())?;
    Ok(layout.values().collect())
}

fn check_table_size(size: u64) -> Result<(), LayoutOperationError> {
    match size > LONGEST_TABLE {
        true => Err(wrong(format!("a table of {size} values; expected at most {LONGEST_TABLE}"))),
        false => Ok(()),
    }
}

fn swizzled(inputs: &[Json]) -> Result<Json, LayoutOperationError> {
    let given = input(inputs, 0)?;
    let field = |name: &str| given.get(name).and_then(Json::as_i64);
    let swizzle = match (given.as_str(), field("B"), field("M"), field("S")) {
        (Some(text), ..) => text.parse().map_err(no_layout)?,
        (None, Some(bits), Some(base), Some(shift)) => {
            let word = |field: i64| u32::try_from(field).map_err(|_| wrong("`B` and `M` must be small integers"));
            let shift = i32::try_from(shift).map_err(|_| wrong("`S` must be a small integer"))?;
            Swizzle::new(word(bits)?, word(base)?, shift).map_err(no_layout)?
        }
        _ => return Err(wrong("the first input must be a swizzle: text, or an object with `B`, `M` and `S`")),
    };
    let numbers =
        input(inputs, 1)?.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    let numbers = numbers.ok_or_else(|| wrong("the second input must be a list of non-negative integers"))?;
    Ok(numbers.into_iter().map(|number| swizzle.apply(number)).collect())
}

fn input(inputs: &[Json], at: usize) -> Result<&Json, LayoutOperationError> {
    inputs.get(at).ok_or_else(|| wrong(format!("`inputs` has {} values: value {at} is missing", inputs.len())))
}

fn text(inputs: &[Json], at: usize) -> Result<&str, LayoutOperationError> {
    input(inputs, at)?.as_str().ok_or_else(|| wrong(format!("input {at} must be text")))
}

fn layout(inputs: &[Json], at: usize) -> Result<CuteLayout, LayoutOperationError> {
    text(inputs, at)?.parse().map_err(no_layout)
}

fn tuple(inputs: &[Json], at: usize) -> Result<IntTuple, LayoutOperationError> {
    text(inputs, at)?.parse().map_err(no_layout)
}

fn number(inputs: &[Json]) -> Result<u64, LayoutOperationError> {
    input(inputs, 1)?.as_u64().ok_or_else(|| wrong("input 1 must be a non-negative integer"))
}

fn tiler(given: &Json, depth: usize) -> Result<Tiler, LayoutOperationError> {
    match given {
        Json::String(text) => Ok(Tiler::Layout(text.parse().map_err(no_layout)?)),
        Json::Array(modes) if depth < DEEPEST => {
            Ok(Tiler::Modes(modes.iter().map(|mode| tiler(mode, depth + 1)).collect::<Result<_, _>>()?))
        }
        _ => Err(wrong("a tiler is a layout as text or a list of tilers")),
    }
}

fn no_layout(error: CuteError) -> LayoutOperationError {
    LayoutOperationError::Layout(error.to_string())
}

/// Converts an error of the CuTe algebra to [`LayoutOperationError::Undefined`].
fn no_result(error: CuteError) -> LayoutOperationError {
    LayoutOperationError::Undefined(error.to_string())
}

/// Finds an operation by its name in a table.
fn find<T>(table: &'static [(&'static str, T)], name: &str) -> Result<&'static T, LayoutOperationError> {
    table.iter().find(|(known, _)| *known == name).map(|(_, operation)| operation).ok_or_else(|| {
        LayoutOperationError::Unknown { name: name.to_owned(), known: table.iter().map(|(name, _)| *name).collect() }
    })
}

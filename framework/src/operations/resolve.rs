//! Resolves operation inputs that name a layout family (such as `blocked`) to linear layouts with explicit bases.

use serde_json::{Map, Value as Json};

use super::error::LayoutOperationError;
use super::table::{JsonInputKind, LayoutOperationEntry};
use crate::{LayoutRequest, Session};
use tilewright_layout::{Layout, layout_to_json};

/// Replaces each layout input of `operation` that names a family (as text, or as an object with `kind`, `params` or
/// `layout`) by the bases of the layout. The layout is built for a tensor of the `shape` in the object, if it has
/// `params`; otherwise for a tensor of the argument `shape`.
///
/// # Errors
/// [`LayoutOperationError::Layout`] if an input is malformed, or its layout cannot be built or is padded; the message
/// names the input.
///
/// ```
/// use serde_json::json;
/// use tilewright::operations::{LayoutOperationEntry, perform_layout_operation, resolve_layout_inputs};
/// use tilewright::plugin::Registry;
/// use tilewright::Session;
///
/// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
/// let operation = LayoutOperationEntry::find("flattenOuts")?;
/// let mut inputs = json!({"layout": "SwizzledSharedLayout(2, 1, 2, [1, 0])"});
/// resolve_layout_inputs(&session, None, Some(&[2, 4]), operation, &mut inputs)?;
/// assert_eq!(perform_layout_operation(operation.name, &inputs)?["out_dims"], json!([["dim0", 8]]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve_layout_inputs(
    session: &Session,
    target: Option<&str>,
    shape: Option<&[u64]>,
    operation: &LayoutOperationEntry,
    inputs: &mut Json,
) -> Result<(), LayoutOperationError> {
    let Some(given) = inputs.as_object_mut() else { return Ok(()) };
    for input in operation.inputs.iter().filter(|input| input.kind == JsonInputKind::Layout) {
        if let Some(value) = given.get_mut(input.name).filter(|value| !has_bases(value)) {
            let named = |message: String| LayoutOperationError::Layout(format!("`{}`: {message}", input.name));
            *value = bases(session, target, shape, value).map_err(named)?;
        }
    }
    Ok(())
}

/// Whether a layout input names no family and stays as it is: an object with `in_dims`, or a value that is neither text
/// nor an object with `kind`, `params` or `layout`.
fn has_bases(value: &Json) -> bool {
    let family = |fields: &Map<String, Json>| ["kind", "params", "layout"].iter().any(|key| fields.contains_key(*key));
    !(value.is_string() || value.as_object().is_some_and(|fields| family(fields) && !fields.contains_key("in_dims")))
}

fn bases(session: &Session, target: Option<&str>, shape: Option<&[u64]>, value: &Json) -> Result<Json, String> {
    let own_shape = value.get("shape").filter(|_| value.get("params").is_some());
    let own_shape: Option<Vec<u64>> = own_shape
        .map(|shape| serde_json::from_value(shape.clone()).map_err(|_| "`shape` must be a list of integers".to_owned()))
        .transpose()?;
    let request = LayoutRequest::from_json(value).map_err(|error| error.to_string())?;
    if let LayoutRequest::Given(layout) = request {
        return Ok(layout_to_json(&layout));
    }
    let shape = own_shape.as_deref().or(shape);
    let shape = shape.ok_or("a layout by its family needs the tensor's shape: {\"params\": ..., \"shape\": [...]}")?;
    match request.resolve_layout(session, target, shape).map_err(|error| error.to_string())? {
        Layout::Memory(memory) if !memory.padding.is_empty() => Err("is padded; expected no padding".to_owned()),
        layout => Ok(layout_to_json(layout.linear())),
    }
}

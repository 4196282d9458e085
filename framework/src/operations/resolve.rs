//! Replaces layouts by family in the inputs of an operation by their bases.

use serde_json::{Map, Value as Json};

use super::error::OperationError;
use super::table::{InputKind, LayoutOperation};
use crate::{LayoutRequest, Session};
use tilewright_layout::{Layout, layout_to_json};

/// Replaces each layout among the inputs of `operation` that is named by a family (text, or an object with `kind` or
/// `params`) by its bases. The layout's tensor has the `shape` next to `params`, or else the shape that the caller
/// passes.
///
/// # Errors
/// [`OperationError::Layout`] with the name of the input.
///
/// ```
/// use serde_json::json;
/// use tilewright::operations::{LayoutOperation, algebra, resolve_layouts};
/// use tilewright::plugin::Registry;
/// use tilewright::Session;
///
/// let session = Session::new(tilewright_targets::catalogue()?, Registry::new());
/// let operation = LayoutOperation::find("flattenOuts")?;
/// let mut inputs = json!({"layout": "SwizzledSharedLayout(2, 1, 2, [1, 0])"});
/// resolve_layouts(&session, None, Some(&[2, 4]), operation, &mut inputs)?;
/// assert_eq!(algebra(operation.name, &inputs)?["out_dims"], json!([["dim0", 8]]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve_layouts(
    session: &Session,
    target: Option<&str>,
    shape: Option<&[u64]>,
    operation: &LayoutOperation,
    inputs: &mut Json,
) -> Result<(), OperationError> {
    let Some(given) = inputs.as_object_mut() else { return Ok(()) };
    for input in operation.inputs.iter().filter(|input| input.kind == InputKind::Layout) {
        if let Some(value) = given.get_mut(input.name).filter(|value| !has_bases(value)) {
            let named = |message: String| OperationError::Layout(format!("`{}`: {message}", input.name));
            *value = bases(session, target, shape, value).map_err(named)?;
        }
    }
    Ok(())
}

/// Whether a layout input names no family: it has bases, or is of a form that names none, and stays as it is.
fn has_bases(value: &Json) -> bool {
    let family = |fields: &Map<String, Json>| ["kind", "params", "layout"].iter().any(|key| fields.contains_key(*key));
    !(value.is_string() || value.as_object().is_some_and(|fields| family(fields) && !fields.contains_key("in_dims")))
}

fn bases(session: &Session, target: Option<&str>, shape: Option<&[u64]>, value: &Json) -> Result<Json, String> {
    let own_shape = value.get("shape").filter(|_| value.get("params").is_some());
    let own_shape: Option<Vec<u64>> = own_shape
        .map(|shape| serde_json::from_value(shape.clone()).map_err(|_| "`shape` must be a list of integers".to_owned()))
        .transpose()?;
    let spec = match LayoutRequest::from_json(value).map_err(|error| error.to_string())? {
        LayoutRequest::Given(layout) => return Ok(layout_to_json(&layout)),
        LayoutRequest::Family(spec) => spec,
    };
    let shape = own_shape.as_deref().or(shape);
    let shape = shape.ok_or("a layout by its family needs the tensor's shape: {\"params\": ..., \"shape\": [...]}")?;
    match session.layout(target, &spec, shape).map_err(|error| error.to_string())? {
        Layout::Memory(memory) if !memory.padding.is_empty() => Err("is padded; expected no padding".to_owned()),
        layout => Ok(layout_to_json(layout.linear())),
    }
}

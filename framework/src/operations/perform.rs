//! Performs an operation on linear layouts by its name.

use serde_json::Value as Json;

use super::error::{LayoutOperationError, wrong};
use super::table::LayoutOperationEntry;
use tilewright_layout::to_snake_case;

/// Performs the operation `name` of [`LAYOUT_OPERATIONS`](super::LAYOUT_OPERATIONS) on linear layouts; `inputs` is a
/// JSON object. Layouts are `{"in_dims", "out_dims", "bases"}`
/// ([`layout_from_json`](tilewright_layout::layout_from_json)), sizes are in elements, dims are names.
///
/// # Errors
/// [`LayoutOperationError::Unknown`] if no operation has this name, [`LayoutOperationError::Inputs`] if an input is
/// missing, malformed, or not an input of the operation, [`LayoutOperationError::Layout`] if an input is not a layout,
/// [`LayoutOperationError::Undefined`] if the operation has no result for these inputs.
///
/// ```
/// use serde_json::json;
/// use tilewright::operations::perform_layout_operation;
/// let inputs = json!({"size": 4, "stride": 2, "in_dim": "lane", "out_dim": "dim0"});
/// assert_eq!(perform_layout_operation("strided_1d", &inputs)?["bases"], json!({"lane": [[2], [4]]}));
/// assert_eq!(perform_layout_operation("strided1D", &inputs)?["bases"], json!({"lane": [[2], [4]]}));
/// assert!(perform_layout_operation("strided", &inputs).is_err_and(|error| error.to_string().contains("strided_1d")));
/// # Ok::<(), tilewright::operations::LayoutOperationError>(())
/// ```
pub fn perform_layout_operation(name: &str, inputs: &Json) -> Result<Json, LayoutOperationError> {
    let operation = LayoutOperationEntry::find(name)?;
    let given = inputs.as_object().ok_or_else(|| wrong("`inputs` must be an object"))?;
    if let Some(strange) = given.keys().find(|given| operation.input(given).is_none()) {
        return Err(not_an_input(operation, strange));
    }
    (operation.function)(inputs)
}

fn not_an_input(operation: &LayoutOperationEntry, strange: &str) -> LayoutOperationError {
    let name = operation.name;
    if let Some(input) = operation.input(&to_snake_case(strange)) {
        return wrong(format!("`{strange}` is not an input of `{name}`: write `{}`", input.name));
    }
    let takes: Vec<_> = operation.inputs.iter().map(|input| input.name).collect();
    wrong(format!("`{strange}` is not an input of `{name}`, which takes {}", takes.join(", ")))
}

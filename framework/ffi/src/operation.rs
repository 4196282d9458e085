//! Operations on layouts by name, from the table that `tilewright batch` and the command use.

use std::ffi::c_char;

use serde_json::{Map, Value as Json};
use tilewright::operations::{
    JsonInputKind, LAYOUT_OPERATIONS, LayoutOperationEntry, LayoutOperationError, perform_layout_operation,
    resolve_layout_inputs,
};
use tilewright_layout::{layout_from_json, layout_to_json};

use crate::blob::tw_blob;
use crate::boundary::{borrowed, guarded, out_pointer, read_array, read_optional_text, read_text};
use crate::error::{Failure, TW_ERROR_INPUT, tw_error};
use crate::handle::handle;
use crate::layout::tw_layout;
use crate::names::tw_names;
use crate::session::tw_session;

/// Lists the names of the operations of `tw_layout_operation`. Available since 1.2.
///
/// # Safety
/// `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_operations(out: *mut *mut tw_names) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `out` may be written.
        let out = unsafe { out_pointer(out) }?;
        *out = handle(tw_names::of(LAYOUT_OPERATIONS.iter().map(|operation| operation.name.to_owned())));
        Ok(())
    })
}

/// Performs the operation `name`, such as "flatten_outs" or "invert_and_compose"; Triton's names are read, too. The
/// documentation page on layout operations lists their inputs. `layouts` has the first layouts among these inputs, in
/// order; `inputs` has the others as a JSON object, null if there are none. A layout in `inputs` is JSON of its bases,
/// or of a family and its tensor's shape: {"params": ..., "shape": [...]}. `*out_layout` becomes the resulting layout,
/// null if the result is no layout; `*out_json` becomes the result as JSON. One of the two pointers may be null.
/// Available since 1.2.
///
/// # Safety
/// `session` is a handle; `name` and `inputs` are texts; `layouts` points to `layout_count` handles; `out_layout` and
/// `out_json` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_operation(
    session: *const tw_session,
    name: *const c_char,
    layouts: *const *const tw_layout,
    layout_count: usize,
    inputs: *const c_char,
    out_layout: *mut *mut tw_layout,
    out_json: *mut *mut tw_blob,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and `name` a C string.
        let (session, name) = unsafe { (borrowed("session", session)?, read_text("name", name)?) };
        // SAFETY: the caller promises that `layouts` points to `layout_count` handles, and that `inputs` is null or a C
        // string.
        let (handles, inputs) =
            unsafe { (read_array("layouts", layouts, layout_count)?, read_optional_text("inputs", inputs)?) };
        let operation = LayoutOperationEntry::find(name).map_err(refused)?;
        let mut inputs = parsed(inputs)?;
        // SAFETY: the caller promises that the elements of `layouts` are handles, which live as long as the call.
        let given: Vec<&tw_layout> =
            handles.iter().map(|&layout| unsafe { borrowed("layouts", layout) }).collect::<Result<_, _>>()?;
        add_layouts(operation, &given, &mut inputs)?;
        let mut inputs = Json::Object(inputs);
        resolve_layout_inputs(&session.session, None, None, operation, &mut inputs).map_err(refused)?;
        let result = perform_layout_operation(operation.name, &inputs).map_err(refused)?;
        // SAFETY: the caller promises that `out_layout` and `out_json` are null or may be written.
        let (out_layout, out_json) = unsafe { (out_layout.as_mut(), out_json.as_mut()) };
        if out_layout.is_none() && out_json.is_none() {
            return Err(Failure::argument("`out_layout` and `out_json` are null; pass the address of a pointer"));
        }
        if let Some(out) = out_layout {
            let layout = operation.gives_layout().then(|| layout_from_json(&result).ok()).flatten();
            *out = layout.map_or(std::ptr::null_mut(), |layout| handle(tw_layout::of(layout.into())));
        }
        if let Some(out) = out_json {
            *out = handle(tw_blob::of(result.to_string()));
        }
        Ok(())
    })
}

fn parsed(inputs: Option<&str>) -> Result<Map<String, Json>, Failure> {
    let Some(text) = inputs else { return Ok(Map::new()) };
    serde_json::from_str(text)
        .map_err(|error| Failure::new(TW_ERROR_INPUT, format!("`inputs` must be a JSON object: {error}")))
}

/// Adds the caller's layouts to the inputs of an operation, in the order of its layout inputs.
fn add_layouts(
    operation: &LayoutOperationEntry,
    given: &[&tw_layout],
    inputs: &mut Map<String, Json>,
) -> Result<(), Failure> {
    let names: Vec<_> =
        operation.inputs.iter().filter(|input| input.kind == JsonInputKind::Layout).map(|input| input.name).collect();
    if given.len() > names.len() {
        let message = format!("`{}` takes {} layouts, not {}", operation.name, names.len(), given.len());
        return Err(Failure::argument(message));
    }
    for (name, layout) in names.into_iter().zip(given) {
        if inputs.insert(name.to_owned(), layout_to_json(layout.unpadded(name)?)).is_some() {
            return Err(Failure::argument(format!("`{name}` is given twice: as a handle and in `inputs`")));
        }
    }
    Ok(())
}

fn refused(error: LayoutOperationError) -> Failure {
    Failure::new(TW_ERROR_INPUT, error.to_string())
}

//! The table of batch operations: their fields and their handlers.

use serde_json::Value as Json;

use tilewright::LayoutRequest;
use tilewright::operations::{self, LayoutOperationEntry, LayoutOperationError};

use super::conflicts::bank_conflicts;
use super::memory::choose_shared_layout;
use super::movement;
use super::refusal::BatchError;
use super::request::Request;

type Answer = fn(Request<'_>) -> Result<Json, BatchError>;

/// The operations that are performed here: name, fields (besides `id`, `op` and the element width) and handler of each.
/// All other operations are those of the layout algebras.
pub const OPERATIONS: &[(&str, &[&str], Answer)] = &[
    ("access", &["target", "registers", "memory", "shape", "order", "alignment", "num_warps"], movement::plan_accesses),
    ("bank_conflicts", &["target", "distributed", "shared", "shape", "num_warps"], bank_conflicts),
    (
        "choose_memory",
        &["target", "accessors", "shape", "num_warps", "only", "max_bytes", "excess"],
        choose_shared_layout,
    ),
    ("convert", &["target", "src", "dst", "shape", "num_warps"], movement::plan_conversion),
    ("gather", &["target", "src", "indices", "shape", "index_shape", "axis", "num_warps"], movement::plan_gather),
    ("layout", &["params", "shape", "target"], layout),
    ("reduce", &["target", "src", "shape", "axis", "num_warps"], movement::plan_reduction),
    ("scan", &["target", "src", "shape", "axis", "reverse", "num_warps"], movement::plan_scan),
];

/// Answers one request with the handler of its operation.
pub fn dispatch_request(request: Request<'_>) -> Result<Json, BatchError> {
    let name = request.optional_field("op").and_then(Json::as_str).ok_or_else(|| {
        BatchError::invalid_field("`op` is missing: expected an object with `id`, `op` and its fields")
    })?;
    if let Some((_, _, answer)) = OPERATIONS.iter().find(|(known, ..)| *known == name) {
        return answer(request);
    }
    let Some(operation) = name.strip_prefix("cute.") else {
        return on_layouts(request, name);
    };
    Ok(operations::perform_cute_operation(operation, request.list_field("inputs")?)?)
}

/// Performs an operation of the table of layout operations. An input may be a layout by its family, with its tensor's
/// shape.
fn on_layouts(request: Request<'_>, name: &str) -> Result<Json, BatchError> {
    let operation = LayoutOperationEntry::find(name).map_err(|error| unknown(name, error))?;
    let inputs = request.optional_field("inputs").unwrap_or(&Json::Null);
    let mut resolved;
    let inputs = match inputs.as_object() {
        Some(given) if given.values().any(is_family) => {
            resolved = inputs.clone();
            operations::resolve_layout_inputs(request.session, request.target_name()?, None, operation, &mut resolved)?;
            &resolved
        }
        _ => inputs,
    };
    Ok(operations::perform_layout_operation(name, inputs)?)
}

/// Whether an input is an object that names a layout by its family.
fn is_family(input: &Json) -> bool {
    input.get("params").is_some() || input.get("kind").is_some()
}

fn unknown(name: &str, error: LayoutOperationError) -> BatchError {
    let LayoutOperationError::Unknown { known, .. } = error else { return error.into() };
    let mut known: Vec<_> = OPERATIONS.iter().map(|(name, ..)| *name).chain(known).collect();
    known.sort_unstable();
    known.push("cute.*");
    BatchError::new("unknown_op", LayoutOperationError::Unknown { name: name.to_owned(), known })
}

fn layout(request: Request<'_>) -> Result<Json, BatchError> {
    let params = request.field("params")?;
    let given = LayoutRequest::from_json(params).map_err(|error| BatchError::invalid_layout("params", error))?;
    let layout = given.resolve_layout(request.session, request.target_name()?, &request.shape()?)?;
    let linear = layout.linear();
    if let Some((dim, _)) = linear.ins().iter().chain(linear.outs().iter()).find(|&(_, bits)| bits > 63) {
        let message = format_args!("{dim} has 2^64 positions: at most 2^63 can be written");
        return Err(BatchError::new("bad_layout", message));
    }
    let mut answer = crate::layout::any_layout_to_json(&layout);
    // The request has the alignment, so the answer omits it.
    if let Json::Object(fields) = &mut answer
        && matches!(given, LayoutRequest::Family(spec) if spec.attributes.contains_key("alignment"))
    {
        fields.remove("alignment");
    }
    Ok(answer)
}

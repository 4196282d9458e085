//! The operations of a batch.

use serde_json::{Map, Value as Json, json};

use tilewright::operations;
use tilewright::operations::OperationError;
use tilewright::{PipelineError, Session};
use tilewright_layout::{Dim, FamilyError, Layout, LinearLayout, MemoryLayout, layout_to_json, spec_from_json};
use tilewright_plan::movement::MovementError;
use tilewright_plugin::CompileError;

use super::conflicts::bank_conflicts;
use super::memory::choose_memory;
use super::{Refusal, movement};

type Operation = fn(&Session, &Json) -> Result<Json, Refusal>;

/// The operations that need targets; the others are those of the algebras.
const OPERATIONS: [(&str, Operation); 8] = [
    ("access", movement::accessed),
    ("bank_conflicts", bank_conflicts),
    ("choose_memory", choose_memory),
    ("convert", movement::converted),
    ("gather", movement::gathered),
    ("layout", layout),
    ("reduce", movement::reduced),
    ("scan", movement::scanned),
];

/// Answers one request.
pub fn perform(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let name = request.get("op").and_then(Json::as_str).ok_or_else(|| {
        Refusal::new("bad_request", "`op` is missing: expected an object with `id`, `op` and its fields".to_owned())
    })?;
    if let Some((_, operation)) = OPERATIONS.iter().find(|(known, _)| *known == name) {
        return operation(session, request);
    }
    let Some(operation) = name.strip_prefix("cute.") else {
        return match operations::algebra(name, request.get("inputs").unwrap_or(&Json::Null)) {
            Err(OperationError::Unknown { name, known }) => Err(unknown(&name, &known)),
            answer => Ok(answer?),
        };
    };
    let list = field(request, "inputs")?.as_array().ok_or_else(|| bad("`inputs` must be a list"))?;
    Ok(operations::cute(operation, list)?)
}

fn unknown(name: &str, of_algebra: &[&str]) -> Refusal {
    let mut known: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).chain(of_algebra.iter().copied()).collect();
    known.sort_unstable();
    Refusal::new("unknown_op", format!("unknown operation `{name}`; known are {} and cute.*", known.join(", ")))
}

fn layout(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let params = field(request, "params")?;
    let spec = match params.as_str() {
        Some(text) => tilewright_layout::parse_spec(text),
        None => spec_from_json(params),
    };
    let spec = spec.map_err(|error| Refusal::new("bad_layout", format!("`params`: {error}")))?;
    let layout = session.layout(target(request)?, &spec, &shape(request)?)?;
    let linear = layout.linear();
    if let Some((dim, _)) = linear.ins().iter().chain(linear.outs().iter()).find(|&(_, bits)| bits > 63) {
        return Err(Refusal::new("bad_layout", format!("{dim} has 2^64 positions: at most 2^63 can be written")));
    }
    let mut answer = layout_answer(&layout);
    // What the question states is no part of the answer.
    if let Json::Object(fields) = &mut answer
        && spec.attributes.contains_key("alignment")
    {
        fields.remove("alignment");
    }
    Ok(answer)
}

/// The target of a request that may name one.
pub(super) fn target(request: &Json) -> Result<Option<&str>, Refusal> {
    let target = request.get("target").filter(|target| !target.is_null());
    target.map(|name| name.as_str().ok_or_else(|| bad("`target` must be a string"))).transpose()
}

/// The layout, where it is of the tensor's shape and for the number of warps that the request states.
pub(super) fn checked(
    name: &str,
    request: &Json,
    shape: &[u64],
    layout: LinearLayout,
) -> Result<LinearLayout, Refusal> {
    for (axis, &size) in shape.iter().enumerate() {
        let have = 1u64 << layout.out_bits(Dim::tensor(axis)).min(63);
        if have != size {
            return Err(bad(&format!("`{name}` has {have} elements along axis {axis}, `shape` says {size}")));
        }
    }
    if let Some(warps) = request.get("num_warps") {
        let have = 1u64 << layout.in_bits(Dim::WARP);
        if warps.as_u64() != Some(have) {
            return Err(bad(&format!("`{name}` is for {have} warps, `num_warps` says {warps}")));
        }
    }
    Ok(layout)
}

pub(super) fn element_bits(request: &Json) -> Result<u32, Refusal> {
    let bits = field(request, "element_bits")?.as_u64().and_then(|bits| u32::try_from(bits).ok());
    bits.ok_or_else(|| bad("`element_bits` must be a whole number"))
}

pub(super) fn field<'a>(request: &'a Json, name: &str) -> Result<&'a Json, Refusal> {
    request.get(name).ok_or_else(|| bad(&format!("`{name}` is missing")))
}

pub(super) fn shape(request: &Json) -> Result<Vec<u64>, Refusal> {
    let list = field(request, "shape")?.as_array();
    let sizes = list.and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    sizes.filter(|sizes| sizes.len() <= 16).ok_or_else(|| bad("`shape` must be a list of at most 16 whole numbers"))
}

pub(super) fn bad(message: &str) -> Refusal {
    Refusal::new("bad_request", message.to_owned())
}

/// A padded layout of at most so many elements lists the physical offset of each.
const MOST_OFFSETS: u64 = 4096;

/// A layout as an answer: its bases, and for a memory layout alignment and padding.
pub fn layout_answer(layout: &Layout) -> Json {
    let mut answer = match layout_to_json(layout.linear()) {
        Json::Object(map) => map,
        other => return other,
    };
    if let Layout::Memory(memory) = layout {
        if let Some(alignment) = memory.alignment {
            answer.insert("alignment".to_owned(), json!(alignment));
        }
        if !memory.padding.is_empty() {
            padding_answer(memory, &mut answer);
        }
    }
    Json::Object(answer)
}

fn padding_answer(memory: &MemoryLayout, answer: &mut Map<String, Json>) {
    let linear = &memory.linear;
    let elements = 1u64 << linear.in_bits(Dim::OFFSET).min(63);
    let listed = (0..elements.min(MOST_OFFSETS)).map(|offset| {
        let coordinate: Vec<_> = linear.outs().unpack(linear.apply_packed(offset)).map(|(_, c)| c).collect();
        json!([offset, coordinate, memory.physical_offset(offset)])
    });
    answer.insert("physical_offsets".to_owned(), listed.collect());
    answer.insert("allocated_elements".to_owned(), json!(memory.allocated_elements()));
}

impl From<OperationError> for Refusal {
    fn from(error: OperationError) -> Self {
        let code = match &error {
            OperationError::Unknown { .. } => "unknown_op",
            OperationError::Inputs(_) => "bad_request",
            OperationError::Layout(_) => "bad_layout",
            OperationError::Undefined(_) => "undefined",
            _ => "failed",
        };
        Self::new(code, error.to_string())
    }
}

impl From<PipelineError> for Refusal {
    fn from(error: PipelineError) -> Self {
        let code = match &error {
            PipelineError::Target(_) => "unknown_target",
            PipelineError::Family(FamilyError::Plugin(_)) | PipelineError::Plugin(_) => "failed",
            PipelineError::Family(_) | PipelineError::NotDistributed(_) => "bad_layout",
            PipelineError::Movement(MovementError::Impossible { .. }) => "unsupported",
            PipelineError::Movement(_) => "bad_request",
            PipelineError::Compile(CompileError::Unsupported(_)) => "unsupported",
            _ => "failed",
        };
        Self::new(code, error.to_string())
    }
}

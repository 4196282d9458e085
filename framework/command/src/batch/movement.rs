//! Plans in a batch: conversions, reductions, scans, gathers, and accesses of memory.

use serde_json::{Value as Json, json};

use tilewright::{LayoutQuestion, PipelineError, Session};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement;
use tilewright_target::TargetDescription;

use crate::failure::Failure;
use crate::{access, convert, gather, reduce, scan};

use super::Refusal;
use super::conflicts::memory;
use super::operations::{bad, checked, element_bits, field, shape};

/// The plan of a conversion.
pub fn converted(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(session, request)?;
    let (shape, bits) = (shape(request)?, element_bits(request)?);
    let layout = |name: &str| distributed(session, request, name, &shape);
    let (src, dst) = (layout("src")?, layout("dst")?);
    Ok(convert::answer(&session.convert(&target.name, &src, &dst, bits)?))
}

/// The plan of a reduction.
pub fn reduced(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(session, request)?;
    let src = distributed(session, request, "src", &shape(request)?)?;
    let plan = movement::reduce(&src, axis(request)?, &widths(request)?, target).map_err(PipelineError::from)?;
    Ok(reduce::answer(&plan))
}

/// The plan of a scan.
pub fn scanned(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(session, request)?;
    let src = distributed(session, request, "src", &shape(request)?)?;
    let reverse = match request.get("reverse") {
        None => false,
        Some(reverse) => reverse.as_bool().ok_or_else(|| bad("`reverse` must be true or false"))?,
    };
    let direction = scan::direction(reverse);
    let plan = movement::scan(&src, axis(request)?, &widths(request)?, direction, target);
    Ok(scan::answer(&plan.map_err(PipelineError::from)?))
}

/// The plan of a gather; the indices have the tensor's shape where they have none of their own.
pub fn gathered(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(session, request)?;
    let src = distributed(session, request, "src", &shape(request)?)?;
    let of_indices = request.get("index_shape").map(|own| json!({ "shape": own }));
    let of_indices = shape(of_indices.as_ref().unwrap_or(request))?;
    let indices = distributed(session, request, "indices", &of_indices)?;
    let plan = movement::gather(&src, &indices, axis(request)?, element_bits(request)?, target);
    Ok(gather::answer(&plan.map_err(PipelineError::from)?))
}

/// The accesses between registers and memory, both ways: shared memory of the layout `memory` or, where
/// there is none, global memory.
pub fn accessed(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(session, request)?;
    let (shape, bits) = (shape(request)?, element_bits(request)?);
    let registers = distributed(session, request, "registers", &shape)?;
    if request.get("memory").is_some() {
        let memory = memory(session, request, "memory", Some(&target.name), &shape)?;
        let both = access::of_shared(&registers, &memory, bits, target).map_err(PipelineError::from)?;
        return Ok(access::shared_answer(&both));
    }
    let order: Vec<usize> = match request.get("order") {
        None => Vec::new(),
        Some(order) => serde_json::from_value(order.clone()).map_err(|_| bad("`order` must be a list of axes"))?,
    };
    let alignment = match request.get("alignment") {
        None => 16,
        Some(bytes) => bytes.as_u64().ok_or_else(|| bad("`alignment` must be a whole number of bytes"))?,
    };
    let tensor = access::global_tensor(&shape, &order, alignment).map_err(|failure| match failure {
        Failure::Input(message) => bad(&message),
        other => Refusal::new("failed", format!("{other:?}")),
    })?;
    let both = access::of_global(&registers, &tensor, bits, target).map_err(PipelineError::from)?;
    Ok(access::global_answer(&both))
}

fn target<'a>(session: &'a Session, request: &Json) -> Result<&'a TargetDescription, Refusal> {
    let name = field(request, "target")?.as_str().ok_or_else(|| bad("`target` must be a string"))?;
    session.catalogue().get(name).map_err(|error| Refusal::new("unknown_target", error.to_string()))
}

/// The distributed layout in a field, of the tensor's shape.
fn distributed(session: &Session, request: &Json, name: &str, shape: &[u64]) -> Result<LinearLayout, Refusal> {
    let question = LayoutQuestion::from_json(field(request, name)?)
        .map_err(|error| Refusal::new("bad_layout", format!("`{name}`: {error}")))?;
    let layout = question.resolve(session, super::operations::target(request)?, shape)?;
    checked(name, request, shape, layout)
}

/// The axis along which the operation goes.
fn axis(request: &Json) -> Result<Dim, Refusal> {
    let rank = shape(request)?.len();
    let axis = field(request, "axis")?.as_u64().and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.filter(|&axis| axis < rank);
    axis.map(Dim::tensor).ok_or_else(|| bad(&format!("`axis` must be a number below {rank}, the axes of `shape`")))
}

/// The width of the elements of each tensor of a tuple: a number, or a list.
fn widths(request: &Json) -> Result<Vec<u32>, Refusal> {
    let given = field(request, "element_bits")?;
    if given.is_number() {
        return Ok(vec![element_bits(request)?]);
    }
    serde_json::from_value(given.clone()).map_err(|_| bad("`element_bits` must be a whole number or a list of them"))
}

//! Operations of a batch that plan data movement: conversions, reductions, scans, gathers, and memory accesses.

use serde_json::Value as Json;

use tilewright_plan::movement::{self, PlanContext};
use tilewright_target::InstructionKind;

use crate::failure::CommandError;
use crate::{access, convert, gather, reduce, scan};

use super::refusal::BatchError;
use super::request::{Request, shape};

/// Plans a layout conversion; returns the plan as JSON.
pub fn converted(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let (shape, bits) = (request.shape()?, request.element_bits()?);
    let (src, dst) = (request.distributed("src", &shape)?, request.distributed("dst", &shape)?);
    Ok(convert::answer(&request.session.plan_conversion(&target.name, &src, &dst, bits)?))
}

/// Plans a reduction; returns the plan as JSON.
pub fn reduced(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed("src", &request.shape()?)?;
    Ok(reduce::answer(&movement::plan_reduction(&src, request.axis()?, &request.tuple_bits()?, target)?))
}

/// Plans a scan; returns the plan as JSON.
pub fn scanned(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed("src", &request.shape()?)?;
    let reverse = match request.optional("reverse") {
        None => false,
        Some(reverse) => reverse.as_bool().ok_or_else(|| BatchError::bad("`reverse` must be true or false"))?,
    };
    let direction = scan::direction(reverse);
    Ok(scan::answer(&movement::plan_scan(&src, request.axis()?, &request.tuple_bits()?, direction, target)?))
}

/// Plans a gather; returns the plan as JSON. The indices have the tensor's shape unless the request gives another.
pub fn gathered(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed("src", &request.shape()?)?;
    let of_indices = request.optional("index_shape").map_or_else(|| request.shape(), shape)?;
    let indices = request.distributed("indices", &of_indices)?;
    Ok(gather::answer(&movement::plan_gather(&src, &indices, request.axis()?, request.element_bits()?, target)?))
}

/// Plans the store and the load between registers and a memory; returns both plans as JSON. The memory is shared memory
/// with the layout in the field `memory`; without this field, it is global memory.
pub fn accessed(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let (shape, bits) = (request.shape()?, request.element_bits()?);
    let registers = request.distributed("registers", &shape)?;
    if request.optional("memory").is_some() {
        let memory = request.memory("memory", &shape)?;
        let instructions = request.session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
        let context = PlanContext::new(target).with_instructions(&instructions);
        return Ok(access::shared_answer(&access::of_shared(&registers, &memory, bits, context)?));
    }
    let order: Vec<usize> = match request.optional("order") {
        None => Vec::new(),
        Some(order) => {
            serde_json::from_value(order.clone()).map_err(|_| BatchError::bad("`order` must be a list of axes"))?
        }
    };
    let alignment = match request.optional("alignment") {
        None => 16,
        Some(bytes) => bytes.as_u64().ok_or_else(|| BatchError::bad("`alignment` must be a number of bytes"))?,
    };
    let tensor = access::global_tensor(&shape, &order, alignment).map_err(|failure| match failure {
        CommandError::Input(message) => BatchError::bad(message),
        other => BatchError::new("failed", format_args!("{other:?}")),
    })?;
    Ok(access::global_answer(&access::of_global(&registers, &tensor, bits, target)?))
}

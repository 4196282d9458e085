//! Operations of a batch that plan data movement: conversions, reductions, scans, gathers, and memory accesses.

use serde_json::Value as Json;

use tilewright_plan::movement::{self, PlanContext};
use tilewright_target::InstructionKind;

use crate::failure::CommandError;
use crate::{access, convert, gather, reduce, scan};

use super::refusal::BatchError;
use super::request::{Request, parse_shape};

/// Plans a layout conversion; returns the plan as JSON.
pub fn plan_conversion(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let (shape, bits) = (request.shape()?, request.element_bits()?);
    let (src, dst) = (request.distributed_layout("src", &shape)?, request.distributed_layout("dst", &shape)?);
    Ok(convert::plan_to_json(&request.session.plan_conversion(&target.name, &src, &dst, bits)?))
}

/// Plans a reduction; returns the plan as JSON.
pub fn plan_reduction(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed_layout("src", &request.shape()?)?;
    Ok(reduce::plan_to_json(&movement::plan_reduction(&src, request.axis()?, &request.tuple_bits()?, target)?))
}

/// Plans a scan; returns the plan as JSON.
pub fn plan_scan(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed_layout("src", &request.shape()?)?;
    let reverse = match request.optional_field("reverse") {
        None => false,
        Some(reverse) => {
            reverse.as_bool().ok_or_else(|| BatchError::invalid_field("`reverse` must be true or false"))?
        }
    };
    let direction = scan::scan_direction(reverse);
    Ok(scan::plan_to_json(&movement::plan_scan(&src, request.axis()?, &request.tuple_bits()?, direction, target)?))
}

/// Plans a gather; returns the plan as JSON. The indices have the tensor's shape unless the request gives another.
pub fn plan_gather(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let src = request.distributed_layout("src", &request.shape()?)?;
    let of_indices = request.optional_field("index_shape").map_or_else(|| request.shape(), parse_shape)?;
    let indices = request.distributed_layout("indices", &of_indices)?;
    Ok(gather::plan_to_json(&movement::plan_gather(&src, &indices, request.axis()?, request.element_bits()?, target)?))
}

/// Plans the store and the load between registers and a memory; returns both plans as JSON. The memory is shared memory
/// with the layout in the field `memory`; without this field, it is global memory.
pub fn plan_accesses(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let (shape, bits) = (request.shape()?, request.element_bits()?);
    let registers = request.distributed_layout("registers", &shape)?;
    if request.optional_field("memory").is_some() {
        let memory = request.memory_layout("memory", &shape)?;
        let instructions = request.session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
        let context = PlanContext::new(target).with_instructions(&instructions);
        return Ok(access::shared_accesses_to_json(&access::plan_shared_accesses(&registers, &memory, bits, context)?));
    }
    let order: Vec<usize> = match request.optional_field("order") {
        None => Vec::new(),
        Some(order) => serde_json::from_value(order.clone())
            .map_err(|_| BatchError::invalid_field("`order` must be a list of axes"))?,
    };
    let alignment = match request.optional_field("alignment") {
        None => 16,
        Some(bytes) => {
            bytes.as_u64().ok_or_else(|| BatchError::invalid_field("`alignment` must be a number of bytes"))?
        }
    };
    let tensor = access::contiguous_global_tensor(&shape, &order, alignment).map_err(|failure| match failure {
        CommandError::Input(message) => BatchError::invalid_field(message),
        other => BatchError::new("failed", format_args!("{other:?}")),
    })?;
    Ok(access::global_accesses_to_json(&access::plan_global_accesses(&registers, &tensor, bits, target)?))
}

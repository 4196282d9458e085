//! The operation `choose_memory` of a batch: chooses the shared-memory layout of a tensor for its stores and loads.

use serde_json::Value as Json;

use tilewright_plan::movement::{
    GlobalTensor, PlanContext, SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor,
    WarpAddressedSharedCopy, choose_shared_layout as choose,
};
use tilewright_target::{Direction, InstructionKind};

use crate::memory::{choice_to_json, parse_layout_kind};

use super::refusal::BatchError;
use super::request::Request;

/// Chooses the layout for the request's `accessors` (register layouts, each stored or loaded). The fields `only` (kinds
/// of layouts), `max_bytes` and `excess` (tolerated wavefronts above the bound) restrict the choice.
pub fn choose_shared_layout(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target()?;
    let shape = request.shape()?;
    let accessors = request.list_field("accessors")?.iter().map(|one| accessor(request, &shape, one));
    let accessors = accessors.collect::<Result<Vec<_>, _>>()?;
    let instructions = request.session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
    let context = PlanContext::new(target).with_instructions(&instructions);
    Ok(choice_to_json(&choose(&accessors, request.element_bits()?, &constraints(request)?, context)?))
}

fn accessor(request: Request<'_>, shape: &[u64], fields: &Json) -> Result<SharedMemoryAccessor, BatchError> {
    let nested_request = Request { fields, ..request };
    let layout = request.resolve_distributed_layout("layout", nested_request.field("layout")?, shape)?;
    let direction = match nested_request.field("direction")?.as_str() {
        Some("store") => Direction::Store,
        Some("load") => Direction::Load,
        _ => return Err(BatchError::invalid_field("`direction` must be `store` or `load`")),
    };
    let copy = match nested_request.integer_field("copy_bits")?.map(u32::try_from) {
        None => None,
        Some(Ok(access_bits)) => {
            Some(WarpAddressedSharedCopy { global: GlobalTensor::row_major(shape, 16), access_bits })
        }
        Some(Err(_)) => return Err(BatchError::invalid_field("`copy_bits` is more than any access has")),
    };
    Ok(SharedMemoryAccessor { layout, direction, weight: nested_request.integer_field("weight")?.unwrap_or(1), copy })
}

fn constraints(request: Request<'_>) -> Result<SharedLayoutSearchOptions, BatchError> {
    let named = |name: &Json| {
        parse_layout_kind(name.as_str().unwrap_or_default())
            .map_err(|error| BatchError::invalid_field(format_args!("`only`: {error}")))
    };
    let kinds = match request.optional_field("only").filter(|only| !only.is_null()) {
        None => SharedLayoutKind::ALL.to_vec(),
        Some(Json::Array(names)) => names.iter().map(named).collect::<Result<_, _>>()?,
        Some(_) => return Err(BatchError::invalid_field("`only` must be a list of kinds")),
    };
    let excess = request.integer_field("excess")?.unwrap_or(0);
    Ok(SharedLayoutSearchOptions {
        kinds,
        max_bytes: request.integer_field("max_bytes")?,
        excess,
        ..SharedLayoutSearchOptions::default()
    })
}

//! The operation `bank_conflicts` of a batch: counts the wavefronts due to shared-memory bank conflicts.

use serde_json::{Value as Json, json};

use tilewright_plan::movement::{BankModel, count_bank_conflicts};

use super::refusal::BatchError;
use super::request::Request;

/// Returns the excess wavefronts of accesses between the register layout `distributed` and the memory layout `shared`,
/// on the banks of `target`; if the request has no `target`, on 32 banks of four bytes.
pub fn bank_conflicts(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target_name()?.map(|name| request.session.catalogue().get(name)).transpose()?;
    let model = target.map_or(BankModel::Plain, BankModel::Target);
    let shape = request.shape()?;
    let registers = request.distributed_layout("distributed", &shape)?;
    let memory = request.memory_layout("shared", &shape)?;
    let found = count_bank_conflicts(&registers, &memory, request.element_bits()?, model)
        .map_err(|error| BatchError::new("undefined", error))?;
    Ok(json!({ "excess": found.excess }))
}

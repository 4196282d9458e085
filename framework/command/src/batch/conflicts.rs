//! `bank_conflicts` in a batch: how often the banks of shared memory hold a warp up.

use serde_json::{Value as Json, json};

use tilewright_plan::movement::{BankModel, conflicts};

use super::refusal::BatchError;
use super::request::Request;

/// The excess wavefronts of an access between `distributed` and `shared`, on the banks of `target`
/// or, where that is absent, on 32 banks of four bytes.
pub fn bank_conflicts(request: Request<'_>) -> Result<Json, BatchError> {
    let target = request.target_name()?.map(|name| request.session.catalogue().get(name)).transpose()?;
    let model = target.map_or(BankModel::Plain, BankModel::Target);
    let shape = request.shape()?;
    let registers = request.distributed("distributed", &shape)?;
    let memory = request.memory("shared", &shape)?;
    let found = conflicts(&registers, &memory, request.element_bits()?, model)
        .map_err(|error| BatchError::new("undefined", error))?;
    Ok(json!({ "excess": found.excess }))
}

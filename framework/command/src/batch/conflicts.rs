//! `bank_conflicts` in a batch: how often the banks of shared memory hold a warp up.

use serde_json::{Value as Json, json};

use tilewright::{LayoutQuestion, Session};
use tilewright_layout::{Dim, Layout, MemoryLayout, spec_from_json};
use tilewright_plan::movement::{BankModel, conflicts};

use super::Refusal;
use super::operations::{bad, checked, element_bits, field, shape, target};

/// The excess wavefronts of an access between `distributed` and `shared`, on the banks of `target`
/// or, where that is absent, on 32 banks of four bytes.
pub fn bank_conflicts(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = target(request)?;
    let description = target.map(|name| session.catalogue().get(name)).transpose();
    let description = description.map_err(|error| Refusal::new("unknown_target", error.to_string()))?;
    let model = description.map_or(BankModel::Plain, BankModel::Target);
    let shape = shape(request)?;
    let question = LayoutQuestion::from_json(field(request, "distributed")?)
        .map_err(|error| Refusal::new("bad_layout", format!("`distributed`: {error}")))?;
    let registers = question.resolve(session, target, &shape)?;
    let registers = checked("distributed", request, &shape, registers)?;
    let memory = memory(session, request, "shared", target, &shape)?;
    let found = conflicts(&registers, &memory, element_bits(request)?, model)
        .map_err(|error| Refusal::new("undefined", error.to_string()))?;
    Ok(json!({ "excess": found.excess }))
}

/// The memory layout in the field `name`: one that is given by its bases, or a family's.
pub(super) fn memory(
    session: &Session,
    request: &Json,
    name: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<MemoryLayout, Refusal> {
    let value = field(request, name)?;
    let wrong = |error: String| Refusal::new("bad_layout", format!("`{name}`: {error}"));
    // Padding is no part of the bases: only the parameters say it.
    let params = value.get("params").filter(|params| value.get("layout").is_none() || is_padded(params));
    let question = LayoutQuestion::from_json(params.unwrap_or(value)).map_err(|error| wrong(error.to_string()))?;
    let memory = match question {
        LayoutQuestion::Given(linear) => MemoryLayout::linear(*linear),
        LayoutQuestion::Family(spec) => match session.layout(target, &spec, shape)? {
            Layout::Memory(memory) => memory,
            _ => return Err(wrong(format!("{} is no memory layout", spec.name))),
        },
    };
    for (axis, &size) in shape.iter().enumerate() {
        if 1u64 << memory.linear.out_bits(Dim::tensor(axis)).min(63) != size {
            return Err(bad(&format!("`{name}` has another size along axis {axis} than `shape`, which says {size}")));
        }
    }
    Ok(memory)
}

fn is_padded(params: &Json) -> bool {
    spec_from_json(params).is_ok_and(|spec| spec.name == "padded_shared")
}

//! `choose_memory` in a batch: the layout in shared memory for those who store and load a tensor.

use serde_json::Value as Json;

use tilewright::{LayoutQuestion, PipelineError, Session};
use tilewright_plan::movement::{Accessor, ConsecutiveCopy, Constraints, GlobalTensor, Kind, choose_memory as choose};
use tilewright_target::Direction;

use crate::input;
use crate::memory::{answer, kind};

use super::Refusal;
use super::operations::{bad, checked, element_bits, field, shape};

/// The choice for `accessors`, each a layout with a direction, within `only`, `max_bytes` and `excess`.
pub fn choose_memory(session: &Session, request: &Json) -> Result<Json, Refusal> {
    let target = field(request, "target")?.as_str().ok_or_else(|| bad("`target` must be a string"))?;
    let description = session.catalogue().get(target);
    let description = description.map_err(|error| Refusal::new("unknown_target", error.to_string()))?;
    let shape = shape(request)?;
    let list = field(request, "accessors")?.as_array().ok_or_else(|| bad("`accessors` must be a list"))?;
    let accessors = list.iter().map(|one| accessor(session, request, target, &shape, one));
    let accessors = accessors.collect::<Result<Vec<_>, _>>()?;
    let served = session.served(target)?;
    let means = input::means(description, served.as_ref());
    let choice = choose(&accessors, element_bits(request)?, &constraints(request)?, means);
    Ok(answer(&choice.map_err(PipelineError::Movement)?))
}

fn accessor(session: &Session, request: &Json, target: &str, shape: &[u64], value: &Json) -> Result<Accessor, Refusal> {
    let question = LayoutQuestion::from_json(field(value, "layout")?)
        .map_err(|error| Refusal::new("bad_layout", format!("`layout`: {error}")))?;
    let layout = checked("layout", request, shape, question.resolve(session, Some(target), shape)?)?;
    let direction = match field(value, "direction")?.as_str() {
        Some("store") => Direction::Store,
        Some("load") => Direction::Load,
        _ => return Err(bad("`direction` must be `store` or `load`")),
    };
    let copy = match number(value, "copy_bits")?.map(u32::try_from) {
        None => None,
        Some(Ok(access_bits)) => Some(ConsecutiveCopy { global: GlobalTensor::row_major(shape, 16), access_bits }),
        Some(Err(_)) => return Err(bad("`copy_bits` is more than any access has")),
    };
    Ok(Accessor { layout, direction, weight: number(value, "weight")?.unwrap_or(1), copy })
}

fn constraints(request: &Json) -> Result<Constraints, Refusal> {
    let kinds = match request.get("only").filter(|only| !only.is_null()) {
        None => Kind::ALL.to_vec(),
        Some(only) => {
            let names = only.as_array().ok_or_else(|| bad("`only` must be a list of kinds"))?;
            let of =
                |name: &Json| kind(name.as_str().unwrap_or_default()).map_err(|error| bad(&format!("`only`: {error}")));
            names.iter().map(of).collect::<Result<_, _>>()?
        }
    };
    let excess = number(request, "excess")?.unwrap_or(0);
    Ok(Constraints { kinds, max_bytes: number(request, "max_bytes")?, excess, ..Constraints::default() })
}

/// A whole number that may be left out.
fn number(value: &Json, name: &str) -> Result<Option<u64>, Refusal> {
    let given = value.get(name).filter(|given| !given.is_null());
    given.map(|given| given.as_u64().ok_or_else(|| bad(&format!("`{name}` must be a whole number")))).transpose()
}

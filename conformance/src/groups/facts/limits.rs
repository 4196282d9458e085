//! Checks the limits in a target's description, such as bytes of shared memory: each equals the value in the known
//! answers.

use super::super::law::{LawResult, law_failure, require};
use crate::{Context, KnownAnswer};

pub(super) fn check(context: &Context, row: &KnownAnswer) -> LawResult {
    let target = context.target().description();
    let known: [(&str, u64); 7] = [
        ("lanes", target.lanes.default.into()),
        ("lanes_per_block", target.limits.lanes_per_block.into()),
        ("registers_per_lane", target.limits.registers_per_lane.into()),
        ("registers_per_block", target.limits.registers_per_block.into()),
        ("shared_bytes", target.shared.bytes.into()),
        ("tensor_rows", target.tensor.as_ref().map_or(0, |memory| memory.rows.into())),
        ("tensor_columns", target.tensor.as_ref().map_or(0, |memory| memory.columns.into())),
    ];
    let mut compared = 0;
    for (name, found) in known {
        let Some(expected) = row.parse_json()[name].as_u64() else { continue };
        require(found == expected, || format!("`{name}` is {found}, known is {expected}"))?;
        compared += 1;
    }
    if compared > 0 { Ok(()) } else { Err(law_failure(format!("row {} has no known limit", row.id))) }
}

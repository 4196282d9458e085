//! How often loops turn, and what stands in them happens.

use crate::LOOP_WEIGHT;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::op::name::scf;
use tilewright_tile::{Body, Op};

/// How often a loop turns.
pub(super) fn trips(body: &Body, facts: &AxisInfoMap, op: Op) -> u64 {
    known_trips(body, facts, op).unwrap_or(LOOP_WEIGHT)
}

/// The same where the bounds are numbers.
pub(crate) fn known_trips(body: &Body, facts: &AxisInfoMap, op: Op) -> Option<u64> {
    let bound = |number: usize| facts.get(body.op(op).operands[number])?.range.single();
    match (bound(0)?, bound(1)?, bound(2)?) {
        (begin, end, step) if step > 0 => {
            Some(u64::try_from(end.saturating_sub(begin)).unwrap_or(0).div_ceil(step as u64))
        }
        _ => None,
    }
}

/// How often an operation happens: the turns of all loops that it stands in.
pub(super) fn times(body: &Body, facts: &AxisInfoMap, op: Op) -> u64 {
    let mut times = 1u64;
    for of in body.walk(body.root()).into_iter().filter(|of| body.op(*of).name() == scf::FOR) {
        if body.op(of).regions.iter().any(|region| body.walk(*region).contains(&op)) {
            times = times.saturating_mul(trips(body, facts, of));
        }
    }
    times
}

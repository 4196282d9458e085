//! Refines axis information by attributes such as `tt.divisibility`, whose values the program's author guarantees.

use super::{AxisInfo, IndexBitPosition};
use crate::{Attribute, Attributes};

/// Refines axis information by the attributes of an operation or argument.
pub(super) fn refine(mut info: AxisInfo, attributes: &Attributes) -> AxisInfo {
    let power = |number: u64| if number == 0 { 1 } else { 1u64 << number.trailing_zeros().min(62) };
    let numbers = |name: &str| -> Vec<u64> {
        match attributes.get(name) {
            Some(Attribute::Dense(dense)) if dense.elements.len() == 1 => vec![dense.elements[0]; info.rank()],
            Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
            Some(other) => other.as_integer().and_then(|value| u64::try_from(value).ok()).into_iter().collect(),
            None => Vec::new(),
        }
    };
    let (contiguity, constancy, divisibility) =
        (numbers("tt.contiguity"), numbers("tt.constancy"), numbers("tt.divisibility"));
    let unit = info.unit;
    let mut set_steps = |sizes: Vec<u64>, step: &dyn Fn(u32) -> i64| {
        for (axis, size) in sizes.into_iter().enumerate() {
            for bit in 0..power(size).ilog2() {
                info.refine_step(IndexBitPosition { axis, bit }, step(bit));
            }
        }
    };
    set_steps(contiguity, &|bit| unit.checked_shl(bit).unwrap_or(0));
    set_steps(constancy, &|_| 0);
    // Every base is the first element of a group along each axis, so the divisor that is given for any axis divides it.
    info.divisibility = divisibility.into_iter().map(power).fold(info.divisibility, u64::max);
    info
}

/// Whether the attributes of an operation have hints about the steps of its result.
pub(super) fn hints_at_steps(attributes: &Attributes) -> bool {
    ["tt.contiguity", "tt.constancy"].iter().any(|name| attributes.get(name).is_some())
}

impl AxisInfo {
    /// Sets the step of an index bit to `step` if it is unknown.
    fn refine_step(&mut self, at: IndexBitPosition, step: i64) {
        if self.bits.get(at.axis).is_some_and(|bits| at.bit < *bits) {
            let position = self.start_of(at.axis) + at.bit as usize;
            self.steps[position].get_or_insert(step);
        }
    }
}

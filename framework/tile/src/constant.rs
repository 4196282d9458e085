//! Queries for values that are constants.

use super::{Attribute, FunctionBody, Value, ValueOrigin};
use crate::op::name::{arith, tt, ttg};

impl FunctionBody {
    /// The value of an `arith.constant`; `None` for other values.
    #[must_use]
    pub fn constant_attribute(&self, value: Value) -> Option<&Attribute> {
        let ValueOrigin::Result(op, _) = self.value_origin(value) else { return None };
        let operation = self.op(op);
        operation.attributes.get("value").filter(|_| operation.name() == arith::CONSTANT)
    }

    /// The integer of an `arith.constant`; `None` for other values.
    #[must_use]
    pub fn constant_integer(&self, value: Value) -> Option<i64> {
        self.constant_attribute(value).and_then(Attribute::as_integer)
    }

    /// Whether a condition is known to be true: a constant other than zero.
    pub(crate) fn is_always(&self, condition: Value) -> bool {
        self.constant_integer(condition).is_some_and(|value| value != 0)
    }

    /// Whether all elements of a value are known to be zero: it is a zero constant, or a splat, broadcast,
    /// transposition, `tt.expand_dims` or layout conversion of one.
    #[must_use]
    pub fn is_known_zero(&self, value: Value) -> bool {
        let passes = [tt::SPLAT, tt::BROADCAST, tt::EXPAND_DIMS, tt::TRANS, ttg::CONVERT_LAYOUT];
        self.all_elements(value, &passes, |bits| bits == 0)
    }

    /// Whether no element of a value is zero: it is a constant without zeros, or a splat of one.
    pub(crate) fn is_nonzero(&self, value: Value) -> bool {
        self.all_elements(value, &[tt::SPLAT], |bits| bits != 0)
    }

    /// Whether a value is a constant whose elements' bits all satisfy `holds`. The value may also be the result of
    /// operations named in `passes` on such a constant.
    fn all_elements(&self, value: Value, passes: &[&str], holds: fn(u64) -> bool) -> bool {
        match self.constant_attribute(value) {
            Some(Attribute::Number(number)) => holds(number.bits),
            Some(Attribute::Dense(dense)) => dense.elements.iter().all(|&bits| holds(bits)),
            Some(Attribute::Bool(value)) => holds(u64::from(*value)),
            Some(_) => false,
            None => {
                let ValueOrigin::Result(op, _) = self.value_origin(value) else { return false };
                let operation = self.op(op);
                let from = operation.operands.first().filter(|_| passes.contains(&operation.name()));
                from.is_some_and(|&from| self.all_elements(from, passes, holds))
            }
        }
    }
}

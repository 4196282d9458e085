//! Values that are known to be zero.

use super::{Attribute, Body, Value, ValueOrigin};
use crate::op::name::{arith, tt, ttg};

impl Body {
    /// Whether all elements of a value are zero, as memory has it.
    #[must_use]
    pub fn is_zero(&self, value: Value) -> bool {
        let ValueOrigin::Result(op, _) = self.origin(value) else { return false };
        let operation = self.op(op);
        match operation.name() {
            arith::CONSTANT => match operation.attributes.get("value") {
                Some(Attribute::Number(number)) => number.bits == 0,
                Some(Attribute::Dense(dense)) => dense.elements.iter().all(|&bits| bits == 0),
                Some(Attribute::Bool(value)) => !value,
                _ => false,
            },
            tt::SPLAT | tt::BROADCAST | tt::EXPAND_DIMS | tt::TRANS | ttg::CONVERT_LAYOUT => {
                operation.operands.first().is_some_and(|&operand| self.is_zero(operand))
            }
            _ => false,
        }
    }
}

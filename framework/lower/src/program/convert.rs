//! A tensor in another layout.

use std::sync::Arc;

use tilewright_kernel::{Cast, Element, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{self, Plan};

use super::error::Lowered;
use super::lowered::Registers;
use super::lowering::Lowering;
use super::types::{integer, stored};

impl Lowering<'_> {
    /// The registers of a tensor in a layout: as they are where it is its own, else by the cheapest conversion.
    pub(super) fn convert(&mut self, tensor: &Registers, to: &Arc<LinearLayout>) -> Lowered<Arc<[Value]>> {
        if Arc::ptr_eq(&tensor.layout, to) || tensor.layout == *to {
            return Ok(tensor.values.clone());
        }
        // What is the same everywhere is the same in every layout.
        if let [first, rest @ ..] = &tensor.values[..]
            && rest.iter().all(|value| value == first)
            && self.is_uniform(*first)
        {
            return Ok(vec![*first; 1 << to.in_bits(tilewright_layout::Dim::REGISTER)].into());
        }
        let Some(&first) = tensor.values.first() else { return Ok(tensor.values.clone()) };
        let bits = stored(self.builder.type_of(first)).bits();
        let plan = movement::convert(&tensor.layout, to, bits, self.machine.context)?;
        Ok(self.convert_by(&plan, &tensor.values).into())
    }

    /// The registers that a plan makes of others.
    pub(super) fn convert_by(&mut self, plan: &Plan, values: &[Value]) -> Vec<Value> {
        let Some(&first) = values.first() else { return Vec::new() };
        let ty = self.builder.type_of(first);
        let words: Vec<Value> = values.iter().map(|&value| self.as_word(value)).collect();
        let moved = plan.emit(&mut self.builder, &words);
        moved.into_iter().map(|value| self.typed_word(value, ty)).collect()
    }

    /// A scalar as an integer of whole bytes, as which it moves.
    pub(super) fn as_word(&mut self, value: Value) -> Value {
        let ty = self.builder.type_of(value);
        match ty {
            Type::Scalar(Element::I1) => self.builder.cast(Cast::ExtendU, value, Type::Scalar(Element::I8)),
            _ => self.builder.cast(Cast::Bits, value, integer(ty.bits())),
        }
    }

    /// The scalar of a type that an integer stands for.
    pub(super) fn typed_word(&mut self, value: Value, ty: Type) -> Value {
        match ty {
            Type::Scalar(Element::I1) => self.builder.cast(Cast::Truncate, value, ty),
            _ => self.builder.cast(Cast::Bits, value, ty),
        }
    }
}

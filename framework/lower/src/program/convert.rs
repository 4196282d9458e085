//! Lowers layout conversions of tensors in registers.

use std::collections::HashMap;
use std::sync::Arc;

use tilewright_assign::layouts::replicate_axes_in_blocks;
use tilewright_kernel::{Cast, Element, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{self, ConversionKind, ConversionPlan};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::Registers;
use super::lowering::Lowering;
use super::types::{integer, stored};

impl Lowering<'_> {
    /// Converts the registers of a tensor to another layout, by the conversion plan of least cost. If the tensor has
    /// this layout, the registers are returned unchanged.
    pub(super) fn convert(&mut self, tensor: &Registers, to: &Arc<LinearLayout>) -> Lowered<Arc<[Value]>> {
        if Arc::ptr_eq(&tensor.layout, to) || tensor.layout == *to {
            return Ok(tensor.values.clone());
        }
        // A uniform value needs no conversion.
        if let [first, rest @ ..] = &tensor.values[..]
            && rest.iter().all(|value| value == first)
            && self.is_uniform(*first)
        {
            return Ok(vec![*first; 1 << to.in_bits(tilewright_layout::Dim::REGISTER)].into());
        }
        let Some(&first) = tensor.values.first() else { return Ok(tensor.values.clone()) };
        let bits = stored(self.builder.type_of(first)).bits();
        let plan = movement::plan_conversion(&tensor.layout, to, bits, self.config.context)?;
        if plan.path == ConversionKind::Cluster && self.has_groups() {
            return Err(LowerErrorReason::unsupported(
                "a layout conversion across blocks in a program with warp partitions",
            ));
        }
        Ok(self.convert_by(&plan, &tensor.values).into())
    }

    /// Converts a tensor to a layout that gives each block of a cluster all elements along the axes that
    /// `is_replicated` selects.
    pub(super) fn replicate_in_blocks(
        &mut self,
        tensor: &Registers,
        is_replicated: impl Fn(usize) -> bool,
    ) -> Lowered<Registers> {
        let Some(layout) = replicate_axes_in_blocks(&tensor.layout, is_replicated)? else { return Ok(tensor.clone()) };
        let layout = Arc::new(layout);
        let values = self.convert(tensor, &layout)?;
        Ok(Registers::new(layout, values))
    }

    /// Emits the conversion of a tensor's registers to another layout without shared memory; an error if a warp needs
    /// elements of another warp.
    pub(super) fn convert_without_memory(&mut self, tensor: &Registers, to: &Arc<LinearLayout>) -> Lowered<Vec<Value>> {
        let Some(&first) = tensor.values.first() else { return Ok(Vec::new()) };
        let bits = stored(self.builder.type_of(first)).bits();
        let plan = movement::plan_conversion(&tensor.layout, to, bits, self.config.context.with_scratch_bytes(0))?;
        Ok(self.convert_by(&plan, &tensor.values))
    }

    /// Converts registers by a given plan. Registers that are only renamed stay the same kernel values.
    pub(super) fn convert_by(&mut self, plan: &ConversionPlan, values: &[Value]) -> Vec<Value> {
        let Some(&first) = values.first() else { return Vec::new() };
        let ty = self.builder.type_of(first);
        let words: Vec<Value> = values.iter().map(|&value| self.emit_integer_bits(value)).collect();
        let moved = plan.emit(&mut self.builder, &words);
        let mut known: HashMap<Value, Value> = words.into_iter().zip(values.iter().copied()).collect();
        let mut restore = |word| *known.entry(word).or_insert_with(|| self.emit_from_integer_bits(word, ty));
        moved.into_iter().map(&mut restore).collect()
    }

    /// Emits the conversion of a scalar to an integer with the same bits, whose width is rounded up to whole bytes, for
    /// data movement.
    pub(super) fn emit_integer_bits(&mut self, value: Value) -> Value {
        let ty = self.builder.type_of(value);
        match ty {
            Type::Scalar(Element::I1) => self.builder.cast(Cast::ExtendU, value, Type::Scalar(Element::I8)),
            _ => self.builder.cast(Cast::Bits, value, integer(ty.bits())),
        }
    }

    /// Emits the conversion of an integer, produced by [`Self::emit_integer_bits`], back to the scalar's type.
    pub(super) fn emit_from_integer_bits(&mut self, value: Value, ty: Type) -> Value {
        match ty {
            Type::Scalar(Element::I1) => self.builder.cast(Cast::Truncate, value, ty),
            _ => self.builder.cast(Cast::Bits, value, ty),
        }
    }
}

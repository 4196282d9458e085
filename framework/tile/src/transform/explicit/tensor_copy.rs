//! Bulk tensor copies (TMA): creates the tensor maps that they read, and issues them.

use crate::op::name::{arith, ttg, tw};
use std::sync::Arc;

use super::choices::{ElementDistance, ScaledOffsetTerm};
use super::expander::{Expander, UNRESOLVED_LAYOUT};
use crate::transform::pipeliner::{Buffers, shared_memory};
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{LayoutAttribute, MemDescType, Op, TensorDescriptorType, TileType, Value};
use tilewright_layout::FamilySpec;

impl Expander<'_> {
    /// Whether a copy becomes a bulk tensor copy.
    pub(super) fn is_box(&self, copy: Op) -> bool {
        self.choices.tensor_copies.contains_key(&copy)
    }

    /// Number of bytes that a copy transfers.
    pub(super) fn bytes_of(copy: Op, cloner: &IrCloner<'_, '_, '_>) -> u64 {
        let target = cloner.from.value_type(cloner.from.op(copy).operands[1]);
        let elements: u64 = target.shape().unwrap_or_default().iter().product();
        elements * u64::from(target.element().element_bits().unwrap_or(8)) / 8
    }

    /// Emits the tensor map of the global memory that a copy reads or writes.
    pub(super) fn map(&self, copy: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let Some(mapped) = self.choices.tensor_copies.get(&copy) else {
            return Err(violation(cloner, copy, "the tensor that it copies boxes of is unknown"));
        };
        let copied = copy_end(copy, cloner);
        let (shape, element) = (copied.shape().unwrap_or_default().to_vec(), copied.element().clone());
        let strides = mapped.strides.iter().map(|stride| match *stride {
            ElementDistance::Number(number) => {
                cloner.to.integer(i64::try_from(number).unwrap_or(i64::MAX), &TileType::integer(32))
            }
            ElementDistance::Value(value) => Ok(cloner.clone_of(value)),
        });
        let strides: Vec<Value> = strides.collect::<Result<_, _>>()?;
        let base = cloner.clone_of(mapped.base);
        let ty = TileType::Descriptor(Arc::new(TensorDescriptorType { shape, element, layout: None }));
        Ok(cloner
            .to
            .build_op(tw::DERIVED_TENSOR_MAP)
            .operands("base", &[base])
            .operands("strides", &strides)
            .result(ty)
            .value()?)
    }

    /// Emits a bulk tensor copy into the current buffer, which arrives at `mbarrier`.
    pub(super) fn fill_box(
        &mut self,
        op: Op,
        mbarrier: Option<Value>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let (Some(&map), Some(mapped)) = (self.maps.get(&op), self.choices.tensor_copies.get(&op)) else {
            return Err(violation(cloner, op, "boxes are copied only in loops with stages"));
        };
        let indices = mapped.begins.iter().map(|terms| sum(cloner, terms)).collect::<Result<Vec<_>, _>>()?;
        let buffer = self.emit_buffer_view(cloner.from.op(op).operands[1], op, cloner)?;
        let new_op = cloner.to.build_op(tw::BULK_TENSOR_LOAD).operands("desc", &[map]).operands("indices", &indices);
        let new_op = new_op.operands("dst", &[buffer]).operands("mbarrier", mbarrier.as_slice()).build()?;
        self.replacements.copies.push((op, new_op));
        Ok(())
    }

    /// Emits a copy to global memory as a bulk tensor copy. Registers are stored to a shared tensor of their own first.
    pub(super) fn store_box(&mut self, op: Op, source: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let Some(mapped) = self.choices.tensor_copies.get(&op) else {
            return Err(violation(cloner, op, "the tensor that it copies boxes of is unknown"));
        };
        let buffer = match cloner.from.value_type(source) {
            TileType::Memory(_) => self.emit_buffer_view(source, op, cloner)?,
            _ => self.store_to_scratch(op, source, cloner)?,
        };
        let map = self.map(op, cloner)?;
        let indices = mapped.begins.iter().map(|terms| sum(cloner, terms)).collect::<Result<Vec<_>, _>>()?;
        let new_op = cloner.to.build_op(tw::BULK_TENSOR_STORE).operands("desc", &[map]).operands("indices", &indices);
        let new_op = new_op.operands("src", &[buffer]).build()?;
        self.replacements.copies.push((op, new_op));
        Ok(())
    }

    /// Stores the tensor in registers that a copy stores to a shared tensor, and returns this tensor.
    fn store_to_scratch(&mut self, op: Op, source: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let target = cloner.from.op(op).operands[1];
        let value = self.registers_to_store(op, source, target, cloner)?;
        let ty = cloner.to.ty(value);
        let layout = LayoutAttribute::new(FamilySpec::new("auto"), UNRESOLVED_LAYOUT);
        let memory = MemDescType {
            shape: ty.shape().unwrap_or_default().to_vec(),
            element: ty.element().clone(),
            layout,
            space: shared_memory(),
            mutable: true,
            allocation: None,
        };
        let scratch = Buffers::emit_allocation(memory, 1, cloner.to)?.all;
        self.replacements.tensors.push((op, scratch));
        let store = cloner.to.build_op(ttg::LOCAL_STORE).operand(value).operand(scratch).build()?;
        self.replacements.copies.push((op, store));
        Ok(scratch)
    }
}

/// Returns the type of the tile that a copy transfers: of the end that is not global memory.
fn copy_end<'a>(copy: Op, cloner: &'a IrCloner<'_, '_, '_>) -> &'a TileType {
    let [source, target] = [0, 1].map(|operand| cloner.from.value_type(cloner.from.op(copy).operands[operand]));
    if matches!(source, TileType::View(_)) { target } else { source }
}

/// Emits the sum of the terms of an offset; 0 if there are none.
fn sum(cloner: &mut IrCloner<'_, '_, '_>, terms: &[ScaledOffsetTerm]) -> Rewritten<Value> {
    let ty = TileType::integer(32);
    let mut all = None;
    for term in terms {
        let mut value = cloner.clone_of(term.value);
        let divide = if term.is_remainder { arith::REMSI } else { arith::DIVSI };
        for (name, by) in [(arith::MULI, ElementDistance::Number(term.times)), (divide, term.over)] {
            let by = match by {
                ElementDistance::Number(1) => continue,
                ElementDistance::Number(by) => cloner.to.integer(i64::try_from(by).unwrap_or(i64::MAX), &ty)?,
                ElementDistance::Value(by) => cloner.clone_of(by),
            };
            value = cloner.to.binary(name, value, by)?;
        }
        all = Some(cloner.to.combine(arith::ADDI, all, value)?);
    }
    Ok(all.map_or_else(|| cloner.to.constant_i32(0), Ok)?)
}

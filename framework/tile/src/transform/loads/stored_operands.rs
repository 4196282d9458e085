//! Stores MMA operands that are the same in each iteration of a loop to shared memory before the loop. MMAs read them
//! there, or lanes load them in each iteration, for MMAs that read registers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{HoistedSharedOperand, PrefetchConsumer};
use crate::op::name::ttg;
use crate::op_attrs::{IS_PENDING, OPERAND_STAYS_IN_SMEM};
use crate::transform::pipeliner::shared_memory;
use crate::transform::{IrCloner, Rewritten};
use crate::{Attribute, LayoutAttribute, MemDescType, Op, TileType, Value, ValueOrigin, Values};

/// The buffers of stored operands.
#[derive(Default)]
pub(super) struct HoistedOperands {
    /// The operands that MMAs read, by dot and operand (A 0, B 1).
    buffers: BTreeMap<(Op, usize), Value>,
    /// The operands that lanes load, by the operand.
    loaded: BTreeMap<Value, Value>,
}

impl HoistedOperands {
    /// Emits the stores of operands, before their loop.
    pub fn emit_stores(
        &mut self,
        operands: &[HoistedSharedOperand],
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        for of in operands {
            let value = of.operand.value;
            let memory = TileType::Memory(Arc::new(buffer_type(cloner.from.value_type(value), &of.memory)));
            let stored = cloner.clone_of(value);
            let buffer = cloner.to.build_op(ttg::LOCAL_ALLOC).operand(stored).result(memory).value()?;
            for (read, view) in of.operand.reads.iter().zip(&of.views) {
                let PrefetchConsumer::MmaOperand(dot, side) = read.reader else {
                    self.loaded.insert(read.value, buffer);
                    continue;
                };
                let view = view.as_ref().map(|view| buffer_type(cloner.from.value_type(read.value), view));
                let view = view.map(|view| emit_reinterpreted(buffer, view, cloner)).transpose()?;
                self.buffers.insert((dot, side), view.unwrap_or(buffer));
            }
        }
        Ok(())
    }

    /// Emits a dot with its stored operands; `overlapped` states whether its MMAs are in flight in the next iteration.
    ///
    /// Returns false, and emits nothing, if `op` has no stored operands and is not overlapped.
    pub fn rewrite_dot(&self, op: Op, overlapped: bool, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        let in_place = [0, 1].map(|side| self.buffers.get(&(op, side)).copied());
        let loaded = [0, 1].map(|side| self.loaded.get(operation.operands.get(side)?).copied());
        if !overlapped && in_place == [None; 2] && loaded == [None; 2] {
            return Ok(false);
        }
        let mut operands: Values = cloner.all(&operation.operands);
        for side in 0..2 {
            let Some(buffer) = in_place[side].or(loaded[side]) else { continue };
            let ty = cloner.from.value_type(operation.operands[side]).clone();
            let read = cloner.to.build_op(ttg::LOCAL_LOAD).operand(buffer).result(ty);
            operands[side] = match in_place[side] {
                Some(_) => read.attribute(OPERAND_STAYS_IN_SMEM, Attribute::Unit).value()?,
                None => read.value()?,
            };
        }
        cloner.clone_op_with(op, operands, Vec::new());
        if let ValueOrigin::Result(new_op, _) = cloner.to.body().value_origin(cloner.clone_of(operation.results[0]))
            && overlapped
        {
            cloner.to.body_mut().op_mut(new_op).attributes.set(IS_PENDING, Attribute::Unit);
        }
        Ok(true)
    }
}

/// Emits a view of a buffer in shared memory as a buffer of this type.
pub(super) fn emit_reinterpreted(
    buffer: Value,
    ty: MemDescType,
    cloner: &mut IrCloner<'_, '_, '_>,
) -> Rewritten<Value> {
    let view = TileType::Memory(Arc::new(ty));
    Ok(cloner.to.build_op(ttg::MEMDESC_REINTERPRET).operand(buffer).result(view).value()?)
}

/// The type of a buffer in shared memory with the shape and the elements of `ty`.
pub(in crate::transform) fn buffer_type(ty: &TileType, layout: &LayoutAttribute) -> MemDescType {
    MemDescType {
        shape: ty.shape().unwrap_or_default().to_vec(),
        element: ty.element().clone(),
        layout: layout.clone(),
        space: shared_memory(),
        mutable: true,
        allocation: None,
    }
}

//! Expands copies between global memory, shared memory and registers.

use crate::op::name::{tt, ttg};

use super::expander::Expander;
use super::tile::mask;
use crate::op_attrs::{IS_PENDING, IS_PREFETCH};
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Attribute, Op, TileType, Value};

impl Expander<'_> {
    pub(super) fn copy(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let source = operation.operands[0];
        let target = cloner.from.operand(op, "dst");
        let is_view = |value: Value| matches!(cloner.from.value_type(value), TileType::View(_));
        let is_memory = |value: Value| matches!(cloner.from.value_type(value), TileType::Memory(_));
        match target {
            None if is_view(source) => self.load(op, cloner),
            None => self.load_shared(op, source, cloner),
            Some(_) if is_view(source) && self.is_box(op) => self.fill_pending(op, cloner),
            Some(target) if is_view(source) => {
                let is_asynchronous = self.fill(op, target, cloner)?;
                if is_asynchronous {
                    cloner.to.commit_group()?;
                }
                if is_asynchronous && operation.attributes.get(IS_PENDING).is_none() {
                    cloner.to.wait_for_groups(0)?;
                }
                Ok(())
            }
            Some(_) if self.is_box(op) => self.store_box(op, source, cloner),
            Some(target) => {
                let value = match is_memory(source) {
                    true => self.out_of_shared(op, source, cloner)?,
                    false => self.registers_to_store(op, source, target, cloner)?,
                };
                self.write(op, value, target, cloner).map(drop)
            }
        }
    }

    /// Expands a copy from global memory to registers.
    fn load(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let (source, result) = (cloner.from.op(op).operands[0], cloner.from.op(op).results[0]);
        let loaded = self.loaded(op, source, cloner)?;
        self.give(result, loaded, cloner)
    }

    /// Emits the load of a tile of global memory, and returns the loaded value; masked elements are zero.
    ///
    /// Elements narrower than a byte remain packed in bytes.
    pub(super) fn loaded(&mut self, op: Op, source: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let (pointers, mask) = self.emit_pointers(op, source, cloner)?;
        let pointee = cloner.to.ty(pointers).pointee_type();
        let ty = pointee.ok_or_else(|| violation(cloner, op, "a view is not memory"))?;
        let other = mask.map(|_| cloner.to.zeros(&ty)).transpose()?;
        let load = cloner.to.build_op(tt::LOAD).operands("ptr", &[pointers]);
        let load = load.operands("mask", mask.as_slice()).operands("other", other.as_slice()).result(ty);
        // Loads of copies through registers are prefetches: nothing waits for them at the issue point.
        let is_prefetched = self.choices.copies.get(&op).is_some_and(|choice| choice.through_registers);
        let load = if is_prefetched { load.attribute(IS_PREFETCH, Attribute::Unit) } else { load };
        let value = load.value()?;
        self.record_copy(op, value, cloner);
        Ok(value)
    }

    /// Emits the pointers of a tile in global memory and a mask, which is true for pointers to elements in bounds
    /// (`None` without bounds). If bytes pack elements, a pointer is to a byte.
    fn emit_pointers(
        &mut self,
        op: Op,
        view: Value,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<(Value, Option<Value>)> {
        let tile = self.tile(view, op, cloner)?;
        let per_pointee = tile.elements_per_pointee;
        let along = self.packed_axes.get(&view).copied().filter(|_| per_pointee > 1);
        let bounds = cloner.all(cloner.from.operands(op, "bounds"));
        let pointers = tile.emit_pointers(cloner.to, along)?;
        let shape = cloner.to.ty(pointers).shape().unwrap_or_default().to_vec();
        let mask = mask(cloner.to, &shape, &bounds, along.map(|axis| (axis, per_pointee)))?;
        Ok((pointers, mask))
    }

    /// Expands a copy from global to shared memory, and returns whether the copy is asynchronous.
    pub(super) fn fill(&mut self, op: Op, target: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let source = cloner.from.op(op).operands[0];
        let choice = self.choices.copies.get(&op).cloned().unwrap_or_default();
        if choice.through_registers {
            let loaded = self.loaded(op, source, cloner)?;
            self.write(op, loaded, target, cloner)?;
            return Ok(false);
        }
        let (pointers, mask) = self.emit_pointers(op, source, cloner)?;
        if let Some(layout) = choice.layout {
            for value in [Some(pointers), mask].into_iter().flatten() {
                let ty = cloner.to.ty(value).with_layout(Some(layout.clone()));
                cloner.to.body_mut().set_type(value, ty);
            }
        }
        let buffer = self.emit_buffer_view(target, op, cloner)?;
        let copy = cloner.to.build_op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL).operands("src", &[pointers]);
        let new_op =
            copy.operands("result", &[buffer]).operands("mask", mask.as_slice()).result(TileType::Token).build()?;
        self.replacements.copies.push((op, new_op));
        Ok(true)
    }

    /// Expands a copy from shared memory to registers.
    fn load_shared(&mut self, op: Op, source: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let result = cloner.from.op(op).results[0];
        if self.is_read_in_shared(cloner.from, result) {
            return Ok(());
        }
        let loaded = self.out_of_shared(op, source, cloner)?;
        self.give(result, loaded, cloner)
    }

    pub(super) fn out_of_shared(
        &mut self,
        op: Op,
        source: Value,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Value> {
        let buffer = self.emit_buffer_view(source, op, cloner)?;
        let ty = cloner.to.ty(buffer);
        let ty = TileType::tensor(ty.shape().unwrap_or_default(), ty.element().clone(), None);
        let loaded = cloner.to.unary(ttg::LOCAL_LOAD, buffer, ty)?;
        self.record_copy(op, loaded, cloner);
        Ok(loaded)
    }

    /// Expands a copy from registers to global or shared memory.
    pub(super) fn write(
        &mut self,
        op: Op,
        value: Value,
        target: Value,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Op> {
        let new_op = if matches!(cloner.from.value_type(target), TileType::View(_)) {
            let (pointers, mask) = self.emit_pointers(op, target, cloner)?;
            let store = cloner.to.build_op(tt::STORE).operands("ptr", &[pointers]).operands("value", &[value]);
            store.operands("mask", mask.as_slice()).build()
        } else {
            let buffer = self.emit_buffer_view(target, op, cloner)?;
            cloner.to.build_op(ttg::LOCAL_STORE).operand(value).operand(buffer).build()
        };
        let new_op = new_op?;
        self.replacements.copies.push((op, new_op));
        Ok(new_op)
    }

    /// Returns the value that a copy stores from registers, after the layout conversion that is chosen for the copy.
    ///
    /// It is an error if elements are narrower than a byte, since memory packs them and registers do not.
    pub(super) fn registers_to_store(
        &self,
        op: Op,
        source: Value,
        target: Value,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Value> {
        if self.packed_axes.contains_key(&target) {
            let element = cloner.from.value_type(target).element();
            return Err(violation(
                cloner,
                op,
                format!("registers of `{element}` are not packed into bytes: cast them"),
            ));
        }
        let value = cloner.clone_of(source);
        let ty = cloner.to.ty(value).with_layout(None);
        match self.choices.copies.get(&op).is_some_and(|choice| choice.converted) {
            true => Ok(cloner.to.unary(ttg::CONVERT_LAYOUT, value, ty)?),
            false => Ok(value),
        }
    }

    /// Binds the result of a copy to a loaded value; elements narrower than a byte are unpacked, one per byte.
    fn give(&mut self, result: Value, loaded: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let ty = cloner.from.value_type(result).clone();
        let given = match self.packed_axes.get(&result) {
            Some(&axis) => cloner.to.unpacked(loaded, ty.element(), axis)?,
            None => loaded,
        };
        // Keep the layout that the program states for the result.
        if let Some(layout) = ty.layout() {
            let explicit_type = cloner.to.ty(given).with_layout(Some(layout.clone()));
            cloner.to.body_mut().set_type(given, explicit_type);
        }
        cloner.bind(result, given);
        Ok(())
    }

    fn record_copy(&mut self, op: Op, value: Value, cloner: &IrCloner<'_, '_, '_>) {
        if let crate::ValueOrigin::Result(new_op, _) = cloner.to.body().value_origin(value) {
            self.replacements.copies.push((op, new_op));
        }
    }
}

//! Copies between global memory, shared memory and registers.

use crate::op::name::{tt, ttg};

use super::expander::Expander;
use super::tile::mask;
use crate::marks::AHEAD;
use crate::transform::{Copier, Rewritten, violation};
use crate::{Attribute, Op, TileType, Value};

impl Expander<'_> {
    pub(super) fn copy(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let source = operation.operands[0];
        let target = copier.from.operand(op, "dst");
        let is_view = |value: Value| matches!(copier.from.ty(value), TileType::View(_));
        let is_memory = |value: Value| matches!(copier.from.ty(value), TileType::Memory(_));
        match target {
            None if is_view(source) => self.load(op, copier),
            None => self.load_shared(op, source, copier),
            Some(target) if is_view(source) => {
                let waits = self.fill(op, target, copier)?;
                if waits {
                    copier.to.commit_group()?;
                    copier.to.wait_for_groups(0)?;
                }
                Ok(())
            }
            Some(target) => {
                let value = match is_memory(source) {
                    true => self.out_of_shared(op, source, copier)?,
                    false => self.whole(op, source, target, copier)?,
                };
                self.write(op, value, target, copier).map(drop)
            }
        }
    }

    /// From global memory to registers.
    fn load(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let (source, result) = (copier.from.op(op).operands[0], copier.from.op(op).results[0]);
        let loaded = self.loaded(op, source, copier)?;
        self.give(result, loaded, copier)
    }

    /// What a tile of global memory holds, as memory has it; zeros where it is not there.
    pub(super) fn loaded(&mut self, op: Op, source: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Value> {
        let (pointers, mask) = self.places(op, source, copier)?;
        let pointee = copier.to.ty(pointers).pointee();
        let ty = pointee.ok_or_else(|| violation(copier, op, "a view is no memory"))?;
        let other = mask.map(|_| copier.to.zeros(&ty)).transpose()?;
        let load = copier.to.op(tt::LOAD).operands("ptr", &[pointers]);
        let load = load.operands("mask", mask.as_slice()).operands("other", other.as_slice()).result(ty);
        // What goes to shared memory by way of registers is loaded before it is wanted.
        let goes_ahead = self.choices.copies.get(&op).is_some_and(|choice| choice.through_registers);
        let load = if goes_ahead { load.attribute(AHEAD, Attribute::Unit) } else { load };
        let made = load.value()?;
        self.made_copy(op, made, copier);
        Ok(made)
    }

    /// Where the elements of a tile are, and which are there.
    fn places(&mut self, op: Op, view: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<(Value, Option<Value>)> {
        let tile = self.tile(view, op, copier)?;
        let in_unit = tile.in_unit;
        let along = self.packed_axes.get(&view).copied().filter(|_| in_unit > 1);
        let bounds = copier.all(copier.from.operands(op, "bounds"));
        let pointers = tile.pointers(copier.to, along)?;
        let shape = copier.to.ty(pointers).shape().unwrap_or_default().to_vec();
        let mask = mask(copier.to, &shape, &bounds, along.map(|axis| (axis, in_unit)))?;
        Ok((pointers, mask))
    }

    /// From global to shared memory; says whether it goes on while the program does.
    pub(super) fn fill(&mut self, op: Op, target: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let source = copier.from.op(op).operands[0];
        let choice = self.choices.copies.get(&op).cloned().unwrap_or_default();
        if choice.through_registers {
            let loaded = self.loaded(op, source, copier)?;
            self.write(op, loaded, target, copier)?;
            return Ok(false);
        }
        let (pointers, mask) = self.places(op, source, copier)?;
        if let Some(layout) = choice.layout {
            for value in [Some(pointers), mask].into_iter().flatten() {
                let ty = copier.to.ty(value).with_layout(Some(layout.clone()));
                copier.to.body_mut().set_type(value, ty);
            }
        }
        let buffer = self.buffer(target, op, copier)?;
        let copy = copier.to.op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL).operands("src", &[pointers]);
        let made =
            copy.operands("result", &[buffer]).operands("mask", mask.as_slice()).result(TileType::Token).done()?;
        self.made.copies.push((op, made));
        Ok(true)
    }

    /// From shared memory to registers.
    fn load_shared(&mut self, op: Op, source: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let result = copier.from.op(op).results[0];
        let loaded = self.out_of_shared(op, source, copier)?;
        self.give(result, loaded, copier)
    }

    pub(super) fn out_of_shared(&mut self, op: Op, source: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Value> {
        let buffer = self.buffer(source, op, copier)?;
        let ty = copier.to.ty(buffer);
        let ty = TileType::tensor(ty.shape().unwrap_or_default(), ty.element().clone(), None);
        let loaded = copier.to.unary(ttg::LOCAL_LOAD, buffer, ty)?;
        self.made_copy(op, loaded, copier);
        Ok(loaded)
    }

    /// From registers to global or shared memory.
    pub(super) fn write(
        &mut self,
        op: Op,
        value: Value,
        target: Value,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<Op> {
        let made = if matches!(copier.from.ty(target), TileType::View(_)) {
            let (pointers, mask) = self.places(op, target, copier)?;
            let store = copier.to.op(tt::STORE).operands("ptr", &[pointers]).operands("value", &[value]);
            store.operands("mask", mask.as_slice()).done()
        } else {
            let buffer = self.buffer(target, op, copier)?;
            copier.to.op(ttg::LOCAL_STORE).operand(value).operand(buffer).done()
        };
        let made = made?;
        self.made.copies.push((op, made));
        Ok(made)
    }

    /// What registers hold, for memory of whole bytes: elements in registers are not packed.
    fn whole(&self, op: Op, source: Value, target: Value, copier: &Copier<'_, '_, '_>) -> Rewritten<Value> {
        let element = copier.from.ty(target).element();
        match self.packed_axes.contains_key(&target) {
            false => Ok(copier.value(source)),
            true => {
                Err(violation(copier, op, format!("registers of `{element}` are not packed into bytes: cast them")))
            }
        }
    }

    /// What a copy gives, of narrow elements each in a byte of its own.
    fn give(&mut self, result: Value, loaded: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let ty = copier.from.ty(result).clone();
        let given = match self.packed_axes.get(&result) {
            Some(&axis) => copier.to.unpacked(loaded, ty.element(), axis)?,
            None => loaded,
        };
        // What the program says of the layout stays said.
        if let Some(layout) = ty.layout() {
            let said = copier.to.ty(given).with_layout(Some(layout.clone()));
            copier.to.body_mut().set_type(given, said);
        }
        copier.bind(result, given);
        Ok(())
    }

    fn made_copy(&mut self, op: Op, value: Value, copier: &Copier<'_, '_, '_>) {
        if let crate::ValueOrigin::Result(made, _) = copier.to.body().origin(value) {
            self.made.copies.push((op, made));
        }
    }
}

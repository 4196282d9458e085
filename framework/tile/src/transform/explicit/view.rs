//! Expands views of global memory, and tiles of them.

use super::expander::Expander;
use super::packed;
use super::tile::{Leaf, Stride, Tile};
use crate::op::name::tt;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::view_layout::{DynamicCuteLayout, ModeStride, ViewMode};
use crate::{Attribute, Op, Value};

impl Expander<'_> {
    pub(super) fn global_view(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let text = operation.attributes.get("layout").and_then(Attribute::as_text).unwrap_or_default();
        let layout = DynamicCuteLayout::parse(text).map_err(|error| violation(cloner, op, error.to_string()))?;
        let strides = cloner.all(cloner.from.operands(op, "strides"));
        let leaf = |mode: &ViewMode| {
            let stride = match mode.stride {
                ModeStride::Elements(stride) => Stride::Elements(stride),
                ModeStride::Operand(operand_index) => Stride::Value(*strides.get(operand_index)?),
            };
            Some(Leaf { size: mode.size, stride })
        };
        let axes: Option<Vec<Vec<Leaf>>> =
            layout.axes.iter().map(|modes| modes.iter().map(leaf).collect::<Option<_>>()).collect();
        let axes = axes.ok_or_else(|| violation(cloner, op, "a stride is missing"))?;
        let result = operation.results[0];
        let per_pointee = match self.packed_axes.contains_key(&result) {
            true => packed::in_byte(cloner.from.value_type(result).element()),
            false => 1,
        };
        let pointer = cloner.clone_of(operation.operands[0]);
        let listed = vec![None; axes.len()];
        self.views.insert(result, Tile { pointer, axes, listed, elements_per_pointee: per_pointee });
        Ok(())
    }

    /// Expands a gather: the tile's indices along one axis are those in a list.
    pub(super) fn gather(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let [view, list] = [operation.operands[0], operation.operands[1]];
        let axis = operation.attributes.get("axis").and_then(Attribute::as_integer).unwrap_or(0);
        let mut tile = self.tile(view, op, cloner)?;
        let axis = usize::try_from(axis).ok().filter(|axis| *axis < tile.axes.len());
        let axis = axis.ok_or_else(|| violation(cloner, op, "the view has no such axis"))?;
        if tile.elements_per_pointee > 1 && self.packed_axes.get(&view) == Some(&axis) {
            return Err(violation(cloner, op, "neighbours along this axis share a byte: list another axis"));
        }
        if tile.listed[axis].is_some() {
            return Err(violation(cloner, op, "the coordinates along this axis are listed already"));
        }
        tile.listed[axis] = Some(cloner.clone_of(list));
        let result = cloner.from.op(op).results[0];
        self.views.insert(result, tile);
        Ok(())
    }

    pub(super) fn slice(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let mut tile = self.tile(operation.operands[0], op, cloner)?;
        let indices = cloner.all(cloner.from.operands(op, "index"));
        let sliced = tile.axes.split_off(tile.axes.len().saturating_sub(indices.len()));
        if tile.listed.split_off(tile.axes.len()).iter().any(Option::is_some) {
            return Err(violation(cloner, op, "an axis with listed coordinates is sliced"));
        }
        for (modes, index) in sliced.iter().zip(indices) {
            let offset = cloner.to.along(modes, index)?;
            let Some(offset) = offset else { continue };
            let offset = cloner.to.emit_pointee_count(offset, tile.elements_per_pointee)?;
            tile.pointer = cloner.to.binary(tt::ADDPTR, tile.pointer, offset)?;
        }
        let result = cloner.from.op(op).results[0];
        self.views.insert(result, tile);
        Ok(())
    }

    /// The tile of global memory that a view denotes; an error at `op` if `value` is not derived from a
    /// `tw.global_view`.
    pub(super) fn tile(&self, value: Value, op: Op, cloner: &IrCloner<'_, '_, '_>) -> Rewritten<Tile> {
        self.views.get(&value).cloned().ok_or_else(|| {
            violation(
                cloner,
                op,
                "the view is none of `tw.global_view`: views are not carried round loops and branches",
            )
        })
    }
}

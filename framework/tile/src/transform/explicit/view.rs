//! Views of global memory, and tiles of them.

use super::expander::Expander;
use super::packed;
use super::tile::{Leaf, Stride, Tile};
use crate::op::name::tt;
use crate::transform::{Copier, Rewritten, violation};
use crate::view_layout::{ModeStride, ViewLayout, ViewMode};
use crate::{Attribute, Op, Value};

impl Expander<'_> {
    pub(super) fn global_view(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let text = operation.attributes.get("layout").and_then(Attribute::as_text).unwrap_or_default();
        let layout = ViewLayout::parse(text).map_err(|error| violation(copier, op, error.to_string()))?;
        let strides = copier.all(copier.from.operands(op, "strides"));
        let leaf = |mode: &ViewMode| {
            let stride = match mode.stride {
                ModeStride::Elements(stride) => Stride::Elements(stride),
                ModeStride::Operand(number) => Stride::Value(*strides.get(number)?),
            };
            Some(Leaf { size: mode.size, stride })
        };
        let axes: Option<Vec<Vec<Leaf>>> =
            layout.axes.iter().map(|modes| modes.iter().map(leaf).collect::<Option<_>>()).collect();
        let axes = axes.ok_or_else(|| violation(copier, op, "a stride is missing"))?;
        let result = operation.results[0];
        let in_unit = match self.packed_axes.contains_key(&result) {
            true => packed::in_byte(copier.from.ty(result).element()),
            false => 1,
        };
        let pointer = copier.value(operation.operands[0]);
        let listed = vec![None; axes.len()];
        self.views.insert(result, Tile { pointer, axes, listed, in_unit });
        Ok(())
    }

    /// The places along one axis become those of a list.
    pub(super) fn gather(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let [view, list] = [operation.operands[0], operation.operands[1]];
        let axis = operation.attributes.get("axis").and_then(Attribute::as_integer).unwrap_or(0);
        let mut tile = self.tile(view, op, copier)?;
        let axis = usize::try_from(axis).ok().filter(|axis| *axis < tile.axes.len());
        let axis = axis.ok_or_else(|| violation(copier, op, "the view has no such axis"))?;
        if tile.in_unit > 1 && self.packed_axes.get(&view) == Some(&axis) {
            return Err(violation(copier, op, "neighbours along this axis lie within a byte: list another axis"));
        }
        if tile.listed[axis].is_some() {
            return Err(violation(copier, op, "the places along this axis are listed already"));
        }
        tile.listed[axis] = Some(copier.value(list));
        let result = copier.from.op(op).results[0];
        self.views.insert(result, tile);
        Ok(())
    }

    pub(super) fn slice(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let mut tile = self.tile(operation.operands[0], op, copier)?;
        let indices = copier.all(copier.from.operands(op, "index"));
        let sliced = tile.axes.split_off(tile.axes.len().saturating_sub(indices.len()));
        if tile.listed.split_off(tile.axes.len()).iter().any(Option::is_some) {
            return Err(violation(copier, op, "the places along an axis that is sliced are listed"));
        }
        for (modes, index) in sliced.iter().zip(indices) {
            let offset = copier.to.along(modes, index)?;
            let Some(offset) = offset else { continue };
            let offset = copier.to.units(offset, tile.in_unit)?;
            tile.pointer = copier.to.binary(tt::ADDPTR, tile.pointer, offset)?;
        }
        let result = copier.from.op(op).results[0];
        self.views.insert(result, tile);
        Ok(())
    }

    /// What a view stands for.
    pub(super) fn tile(&self, value: Value, op: Op, copier: &Copier<'_, '_, '_>) -> Rewritten<Tile> {
        self.views.get(&value).cloned().ok_or_else(|| {
            violation(
                copier,
                op,
                "the view is none of `tw.global_view`: views are not carried round loops and branches",
            )
        })
    }
}

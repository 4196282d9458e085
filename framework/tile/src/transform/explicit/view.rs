//! Tiles of global memory: where their elements are, and which of them are there.

use super::{Expander, Maker, packed, violation};
use crate::op::name::{arith, tt};
use crate::view_layout::{Mode, ModeStride, ViewLayout};
use crate::{Attribute, Op, Type, Value, Violation};

use super::super::Copier;

/// What a view stands for.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Where the first element is.
    pointer: Value,
    /// The modes of each axis; of a size that is not known none but the last.
    axes: Vec<Vec<Leaf>>,
    /// Of an axis whose places are listed, the list.
    listed: Vec<Option<Value>>,
    /// Elements that a unit of memory holds, more than one where they are narrower than a byte.
    pub(super) in_unit: u64,
}

/// A mode of an axis.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    size: Option<u64>,
    stride: Stride,
}

/// How far the next element is, in elements.
#[derive(Debug, Clone, Copy)]
enum Stride {
    Elements(u64),
    Value(Value),
}

impl Expander<'_> {
    pub(super) fn global_view(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let operation = copier.from.op(op);
        let text = operation.attributes.get("layout").and_then(Attribute::as_text).unwrap_or_default();
        let layout = ViewLayout::parse(text).map_err(|error| violation(copier, op, error.to_string()))?;
        let strides = copier.all(copier.from.operands(op, "strides"));
        let leaf = |mode: &Mode| {
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
    pub(super) fn gather(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
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

    pub(super) fn slice(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let operation = copier.from.op(op);
        let mut tile = self.tile(operation.operands[0], op, copier)?;
        let indices = copier.all(copier.from.operands(op, "index"));
        let sliced = tile.axes.split_off(tile.axes.len().saturating_sub(indices.len()));
        if tile.listed.split_off(tile.axes.len()).iter().any(Option::is_some) {
            return Err(violation(copier, op, "the places along an axis that is sliced are listed"));
        }
        let mut maker = Maker { copier, at: op };
        for (modes, index) in sliced.iter().zip(indices) {
            let offset = maker.along(modes, index)?;
            let Some(offset) = offset else { continue };
            let offset = maker.units(offset, tile.in_unit)?;
            tile.pointer = maker.binary(tt::ADDPTR, tile.pointer, offset)?;
        }
        let result = maker.copier.from.op(op).results[0];
        self.views.insert(result, tile);
        Ok(())
    }

    /// What a view stands for.
    pub(super) fn tile(&self, value: Value, op: Op, copier: &Copier<'_, '_, '_>) -> Result<Tile, Violation> {
        self.views.get(&value).cloned().ok_or_else(|| {
            violation(
                copier,
                op,
                "the view is none of `tw.global_view`: views are not carried round loops and branches",
            )
        })
    }
}

impl Tile {
    /// Where each element is, in the shape in which memory has it.
    pub(super) fn pointers(
        &self,
        maker: &mut Maker<'_, '_, '_, '_>,
        packed: Option<usize>,
    ) -> Result<Value, Violation> {
        let shape = self.shape(packed, maker);
        let mut offsets = None;
        let moves = |axis: usize| shape[axis] > 1 || self.listed[axis].is_some();
        for (axis, modes) in self.axes.iter().enumerate().filter(|(axis, _)| moves(*axis)) {
            let range = match self.listed[axis] {
                Some(list) => list,
                None => maker.range(shape[axis])?,
            };
            let offset = match packed {
                // The neighbours of a unit move together.
                Some(along) if along == axis => Some(range),
                _ => match maker.along(modes, range)? {
                    Some(offset) => Some(maker.units(offset, self.in_unit)?),
                    None => None,
                },
            };
            let Some(offset) = offset else { continue };
            let offset = maker.spread(offset, axis, &shape)?;
            offsets = Some(match offsets {
                Some(others) => maker.binary(arith::ADDI, others, offset)?,
                None => offset,
            });
        }
        let base = maker.splat(self.pointer, &shape)?;
        match offsets {
            Some(offsets) => maker.binary(tt::ADDPTR, base, offsets),
            None => Ok(base),
        }
    }

    /// The sizes in memory: of the axis along which bytes hold neighbours that of bytes.
    fn shape(&self, packed: Option<usize>, maker: &Maker<'_, '_, '_, '_>) -> Vec<u64> {
        let size = |(modes, list): (&Vec<Leaf>, &Option<Value>)| match list {
            Some(list) => maker.copier.to.ty(*list).shape().unwrap_or_default().iter().product::<u64>(),
            None => modes.iter().map(|leaf| leaf.size.unwrap_or(1)).product(),
        };
        let mut shape: Vec<u64> = self.axes.iter().zip(&self.listed).map(size).collect();
        if let Some(axis) = packed {
            shape[axis] = (shape[axis] / self.in_unit).max(1);
        }
        shape
    }
}

/// Which elements are there: those before a bound along each axis.
pub(super) fn mask(
    maker: &mut Maker<'_, '_, '_, '_>,
    shape: &[u64],
    bounds: &[Value],
    packed: Option<(usize, u64)>,
) -> Result<Option<Value>, Violation> {
    let mut whole = None;
    for (axis, &bound) in bounds.iter().enumerate() {
        let range = maker.range(shape[axis])?;
        let bound = match packed {
            Some((along, in_unit)) if along == axis => maker.units(bound, in_unit)?,
            _ => bound,
        };
        let bound = maker.splat(bound, &shape[axis..=axis])?;
        let there = maker.compare("slt", range, bound)?;
        let there = maker.spread(there, axis, shape)?;
        whole = Some(match whole {
            Some(others) => maker.binary(arith::ANDI, others, there)?,
            None => there,
        });
    }
    Ok(whole)
}

impl Maker<'_, '_, '_, '_> {
    /// 0, 1, 2, ...
    fn range(&mut self, size: u64) -> Result<Value, Violation> {
        let end = i32::try_from(size).unwrap_or(i32::MAX);
        let ty = Type::tensor([size], Type::integer(32), None);
        let made = self.copier.to.op(tt::MAKE_RANGE).attribute("start", 0).attribute("end", end).result(ty).value();
        self.checked(made)
    }

    /// How far the elements at indices along an axis are; nothing where they are all at one place.
    fn along(&mut self, modes: &[Leaf], index: Value) -> Result<Option<Value>, Violation> {
        let ty = self.copier.to.ty(index).clone();
        let (mut sum, mut before) = (None, 1u64);
        for (number, leaf) in modes.iter().enumerate() {
            let mut own = index;
            if before > 1 {
                let by = self.integer(before as i64, &ty)?;
                own = self.binary(arith::DIVUI, own, by)?;
            }
            if let Some(size) = leaf.size.filter(|_| number + 1 < modes.len()) {
                let by = self.integer(size as i64, &ty)?;
                own = self.binary(arith::REMUI, own, by)?;
            }
            before = before.saturating_mul(leaf.size.unwrap_or(1));
            let moved = match leaf.stride {
                Stride::Elements(0) => continue,
                Stride::Elements(1) => own,
                Stride::Elements(stride) => {
                    let by = self.integer(stride as i64, &ty)?;
                    self.binary(arith::MULI, own, by)?
                }
                Stride::Value(value) => {
                    let by = match ty.shape() {
                        Some(shape) => self.splat(value, shape)?,
                        None => value,
                    };
                    self.binary(arith::MULI, own, by)?
                }
            };
            sum = Some(match sum {
                Some(others) => self.binary(arith::ADDI, others, moved)?,
                None => moved,
            });
        }
        Ok(sum)
    }

    /// Units of memory instead of elements, of which a unit holds so many.
    fn units(&mut self, elements: Value, in_unit: u64) -> Result<Value, Violation> {
        if in_unit == 1 {
            return Ok(elements);
        }
        let ty = self.copier.to.ty(elements).clone();
        let by = self.integer(i64::from(in_unit.trailing_zeros()), &ty)?;
        self.binary(arith::SHRSI, elements, by)
    }

    /// A vector along an axis, the same along all others.
    fn spread(&mut self, vector: Value, axis: usize, shape: &[u64]) -> Result<Value, Violation> {
        let element = self.copier.to.ty(vector).element().clone();
        let mut value = vector;
        let mut sizes = vec![shape[axis]];
        for other in 0..shape.len() {
            if other == axis {
                continue;
            }
            let at = if other < axis { other } else { sizes.len() };
            sizes.insert(at, 1);
            let ty = Type::tensor(sizes.clone(), element.clone(), None);
            let at = i32::try_from(at).unwrap_or(0);
            let made = self.copier.to.op(tt::EXPAND_DIMS).operand(value).attribute("axis", at).result(ty).value();
            value = self.checked(made)?;
        }
        if sizes == shape {
            return Ok(value);
        }
        self.unary(tt::BROADCAST, value, Type::tensor(shape, element, None))
    }
}

//! Tiles of global memory: the pointers of their elements, and which elements are there.

use crate::op::name::{arith, tt};
use crate::{BuildError, FunctionBuilder, TileType, Value};

/// The part of a tensor that a view names.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Where the first element is.
    pub pointer: Value,
    /// The modes of each axis; of a size that is not known none but the last.
    pub axes: Vec<Vec<Leaf>>,
    /// Of an axis whose places are listed, the list.
    pub listed: Vec<Option<Value>>,
    /// Elements that a unit of memory holds, more than one where they are narrower than a byte.
    pub in_unit: u64,
}

/// A mode of an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub size: Option<u64>,
    pub stride: Stride,
}

/// How far the next element is, in elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stride {
    Elements(u64),
    Value(Value),
}

impl Tile {
    /// Where each element is, in the shape in which memory has it.
    pub fn pointers(&self, to: &mut FunctionBuilder<'_>, packed: Option<usize>) -> Result<Value, BuildError> {
        let shape = self.shape(packed, to);
        let mut offsets = None;
        let moves = |axis: usize| shape[axis] > 1 || self.listed[axis].is_some();
        for (axis, modes) in self.axes.iter().enumerate().filter(|(axis, _)| moves(*axis)) {
            let range = match self.listed[axis] {
                Some(list) => list,
                None => to.range(shape[axis])?,
            };
            let offset = match packed {
                // The neighbours of a unit move together.
                Some(along) if along == axis => Some(range),
                _ => match to.along(modes, range)? {
                    Some(offset) => Some(to.units(offset, self.in_unit)?),
                    None => None,
                },
            };
            let Some(offset) = offset else { continue };
            let offset = to.spread(offset, axis, &shape)?;
            offsets = Some(to.combined(arith::ADDI, offsets, offset)?);
        }
        let base = to.splat(self.pointer, &shape)?;
        match offsets {
            Some(offsets) => to.binary(tt::ADDPTR, base, offsets),
            None => Ok(base),
        }
    }

    /// The sizes in memory: of the axis along which bytes hold neighbours that of bytes.
    fn shape(&self, packed: Option<usize>, to: &FunctionBuilder<'_>) -> Vec<u64> {
        let size = |(modes, list): (&Vec<Leaf>, &Option<Value>)| match list {
            Some(list) => to.ty(*list).shape().unwrap_or_default().iter().product::<u64>(),
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
    to: &mut FunctionBuilder<'_>,
    shape: &[u64],
    bounds: &[Value],
    packed: Option<(usize, u64)>,
) -> Result<Option<Value>, BuildError> {
    let mut whole = None;
    for (axis, &bound) in bounds.iter().enumerate() {
        let range = to.range(shape[axis])?;
        let bound = match packed {
            Some((along, in_unit)) if along == axis => to.units(bound, in_unit)?,
            _ => bound,
        };
        let bound = to.splat(bound, &shape[axis..=axis])?;
        let there = to.compare("slt", range, bound)?;
        let there = to.spread(there, axis, shape)?;
        whole = Some(to.combined(arith::ANDI, whole, there)?);
    }
    Ok(whole)
}

impl FunctionBuilder<'_> {
    /// 0, 1, 2, ...
    fn range(&mut self, size: u64) -> Result<Value, BuildError> {
        let end = i32::try_from(size).unwrap_or(i32::MAX);
        let ty = TileType::tensor([size], TileType::integer(32), None);
        self.op(tt::MAKE_RANGE).attribute("start", 0).attribute("end", end).result(ty).value()
    }

    /// How far the elements at indices along an axis are; nothing where they are all at one place.
    pub(super) fn along(&mut self, modes: &[Leaf], index: Value) -> Result<Option<Value>, BuildError> {
        let ty = self.ty(index).clone();
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
            sum = Some(self.combined(arith::ADDI, sum, moved)?);
        }
        Ok(sum)
    }

    /// Units of memory instead of elements, of which a unit holds so many.
    pub(super) fn units(&mut self, elements: Value, in_unit: u64) -> Result<Value, BuildError> {
        if in_unit == 1 {
            return Ok(elements);
        }
        let ty = self.ty(elements).clone();
        let by = self.integer(i64::from(in_unit.trailing_zeros()), &ty)?;
        self.binary(arith::SHRSI, elements, by)
    }

    /// A vector along an axis, the same along all others.
    fn spread(&mut self, vector: Value, axis: usize, shape: &[u64]) -> Result<Value, BuildError> {
        let element = self.ty(vector).element().clone();
        let mut value = vector;
        let mut sizes = vec![shape[axis]];
        for other in 0..shape.len() {
            if other == axis {
                continue;
            }
            let at = if other < axis { other } else { sizes.len() };
            sizes.insert(at, 1);
            let ty = TileType::tensor(sizes.clone(), element.clone(), None);
            let at = i32::try_from(at).unwrap_or(0);
            value = self.op(tt::EXPAND_DIMS).operand(value).attribute("axis", at).result(ty).value()?;
        }
        if sizes == shape {
            return Ok(value);
        }
        self.unary(tt::BROADCAST, value, TileType::tensor(shape, element, None))
    }
}

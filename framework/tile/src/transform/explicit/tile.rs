//! Emits the pointers and masks of the elements of a tile of global memory.

use crate::op::name::{arith, tt};
use crate::{BuildError, FunctionBuilder, Value};

/// A tile of a tensor in global memory.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Pointer to the first element.
    pub pointer: Value,
    /// For each axis, its modes (size and stride), fastest first.
    ///
    /// Only the last mode of an axis may have an unknown size.
    pub axes: Vec<Vec<Leaf>>,
    /// For each axis, the list of its indices if it is gathered; otherwise `None`.
    pub listed: Vec<Option<Value>>,
    /// Number of elements at the address of one pointer; more than one if bytes pack them.
    pub elements_per_pointee: u64,
}

/// A mode of an axis of a tile: its size (`None` if unknown) and stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub size: Option<u64>,
    pub stride: Stride,
}

/// The stride of a mode, in elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stride {
    Elements(u64),
    Value(Value),
}

impl Tile {
    /// Emits the pointers of the tile, each to `elements_per_pointee` elements.
    ///
    /// `packed` is the axis along which these elements are adjacent; `None` if a pointer is to one element.
    pub fn emit_pointers(&self, to: &mut FunctionBuilder<'_>, packed: Option<usize>) -> Result<Value, BuildError> {
        let shape = self.shape(packed, to);
        let mut offsets = None;
        let moves = |axis: usize| shape[axis] > 1 || self.listed[axis].is_some();
        for (axis, modes) in self.axes.iter().enumerate().filter(|(axis, _)| moves(*axis)) {
            let range = match self.listed[axis] {
                Some(list) => list,
                None => to.range(shape[axis])?,
            };
            let offset = match packed {
                // Along this axis, the elements of one pointer follow each other, so the index counts pointers.
                Some(along) if along == axis => Some(range),
                _ => match to.along(modes, range)? {
                    Some(offset) => Some(to.emit_pointee_count(offset, self.elements_per_pointee)?),
                    None => None,
                },
            };
            let Some(offset) = offset else { continue };
            let offset = to.spread(offset, axis, &shape)?;
            offsets = Some(to.combine(arith::ADDI, offsets, offset)?);
        }
        let base = to.splat(self.pointer, &shape)?;
        match offsets {
            Some(offsets) => to.binary(tt::ADDPTR, base, offsets),
            None => Ok(base),
        }
    }

    /// Returns the number of pointers along each axis; `packed` is the axis along which a pointer is to several
    /// elements (`None` without such an axis).
    fn shape(&self, packed: Option<usize>, to: &FunctionBuilder<'_>) -> Vec<u64> {
        let size = |(modes, list): (&Vec<Leaf>, &Option<Value>)| match list {
            Some(list) => to.ty(*list).shape().unwrap_or_default().iter().product::<u64>(),
            None => modes.iter().map(|leaf| leaf.size.unwrap_or(1)).product(),
        };
        let mut shape: Vec<u64> = self.axes.iter().zip(&self.listed).map(size).collect();
        if let Some(axis) = packed {
            shape[axis] = (shape[axis] / self.elements_per_pointee).max(1);
        }
        shape
    }
}

/// Emits the mask of the elements below the bound of each axis; `None` if there are no bounds.
///
/// `shape` has the number of pointers along each axis. `packed` is the axis along which each pointer is to several
/// adjacent elements, and their number; `None` if each is to one element. Bounds count elements.
pub(super) fn mask(
    to: &mut FunctionBuilder<'_>,
    shape: &[u64],
    bounds: &[Value],
    packed: Option<(usize, u64)>,
) -> Result<Option<Value>, BuildError> {
    let mut in_bounds = None;
    for (axis, &bound) in bounds.iter().enumerate() {
        let range = to.range(shape[axis])?;
        let bound = match packed {
            Some((along, per_pointee)) if along == axis => to.emit_pointee_count(bound, per_pointee)?,
            _ => bound,
        };
        let bound = to.splat(bound, &shape[axis..=axis])?;
        let there = to.compare("slt", range, bound)?;
        let there = to.spread(there, axis, shape)?;
        in_bounds = Some(to.combine(arith::ANDI, in_bounds, there)?);
    }
    Ok(in_bounds)
}

impl FunctionBuilder<'_> {
    /// Emits the offsets, in elements, of the indices `index` along an axis with these modes; `None` if all are zero.
    pub(super) fn along(&mut self, modes: &[Leaf], index: Value) -> Result<Option<Value>, BuildError> {
        let ty = self.ty(index).clone();
        let (mut sum, mut before) = (None, 1u64);
        for (leaf_index, leaf) in modes.iter().enumerate() {
            let mut leaf_index_value = index;
            if before > 1 {
                let by = self.integer(before as i64, &ty)?;
                leaf_index_value = self.binary(arith::DIVUI, leaf_index_value, by)?;
            }
            if let Some(size) = leaf.size.filter(|_| leaf_index + 1 < modes.len()) {
                let by = self.integer(size as i64, &ty)?;
                leaf_index_value = self.binary(arith::REMUI, leaf_index_value, by)?;
            }
            before = before.saturating_mul(leaf.size.unwrap_or(1));
            let moved = match leaf.stride {
                Stride::Elements(0) => continue,
                Stride::Elements(1) => leaf_index_value,
                Stride::Elements(stride) => {
                    let by = self.integer(stride as i64, &ty)?;
                    self.binary(arith::MULI, leaf_index_value, by)?
                }
                Stride::Value(value) => {
                    let by = match ty.shape() {
                        Some(shape) => self.splat(value, shape)?,
                        None => value,
                    };
                    self.binary(arith::MULI, leaf_index_value, by)?
                }
            };
            sum = Some(self.combine(arith::ADDI, sum, moved)?);
        }
        Ok(sum)
    }

    /// Emits the quotient of a number of elements by `per_pointee`, a power of two, rounded down.
    pub(super) fn emit_pointee_count(&mut self, elements: Value, per_pointee: u64) -> Result<Value, BuildError> {
        if per_pointee == 1 {
            return Ok(elements);
        }
        let ty = self.ty(elements).clone();
        let by = self.integer(i64::from(per_pointee.trailing_zeros()), &ty)?;
        self.binary(arith::SHRSI, elements, by)
    }
}

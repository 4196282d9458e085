//! Defines the list functions of import terms that cut tensors in registers into parts, and join parts.
//!
//! All consist of reshapes, transpositions, splits and joins, which only rename registers if lanes and warps hold the
//! same elements before and after. Intermediate tensors have no layout, so that layout assignment can choose it.

use super::plain;
use super::write::ReplacementWriter;
use crate::op::name::{arith, math, tt, ttg, tw};
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Attribute, FloatType, TileType, Value, Values};

/// A new axis of two elements into which a split divides `axis`, or which a join merges into `axis`.
#[derive(Debug, Clone, Copy)]
struct Pair {
    axis: usize,
    /// Whether the two elements are adjacent along `axis`; otherwise the first is in the first half of `axis`, the
    /// second in the second half.
    adjacent: bool,
}

impl ReplacementWriter<'_> {
    /// Returns the part of the tensor `full` that is the foreign operation's result, at the offsets in the attribute
    /// `static_offsets`.
    pub(super) fn extracted(&self, cloner: &mut IrCloner<'_, '_, '_>, full: Value) -> Rewritten<Value> {
        let operation = cloner.from.op(self.op);
        let offsets = match operation.attributes.get("static_offsets") {
            Some(Attribute::Array(_, offsets)) => offsets.clone(),
            _ => Vec::new(),
        };
        let result =
            operation.results.first().and_then(|result| cloner.from.value_type(*result).shape().map(<[u64]>::to_vec));
        let (Some(shape), Some(from)) = (result, shape_of(cloner, full)) else {
            return Err(violation(cloner, self.op, "a part is taken of something that is not a tensor"));
        };
        if offsets.len() != shape.len() || shape.len() != from.len() {
            return Err(violation(cloner, self.op, format!("{} offsets for {} axes", offsets.len(), from.len())));
        }
        let mut part = full;
        for (axis, ((&offset, &size), &all)) in offsets.iter().zip(&shape).zip(&from).enumerate() {
            if offset.checked_add(size).is_none_or(|end| end > all) {
                let message = format!("elements {offset} to {} of the {all} along axis {axis}", offset + size);
                return Err(violation(cloner, self.op, message));
            }
            part = self.range(cloner, part, axis, offset, size)?;
        }
        Ok(part)
    }

    /// Returns the `size` elements of a tensor from `offset` on along an axis.
    fn range(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        full: Value,
        axis: usize,
        offset: u64,
        size: u64,
    ) -> Rewritten<Value> {
        // The size of the tiles: a power of two that divides `offset`, so that each tile starts at a multiple of its
        // size.
        let tile = if offset == 0 { size } else { size.min(offset & offset.wrapping_neg()) };
        let tiles = (offset..offset + size).step_by(usize::try_from(tile).unwrap_or(usize::MAX).max(1));
        let tiles = tiles.map(|start| self.tile(cloner, full, axis, start, tile)).collect::<Rewritten<Vec<_>>>()?;
        self.joined(cloner, &tiles, axis)
    }

    /// Returns the `size` elements from `start`, a multiple of `size`, along an axis: halves the tensor until only
    /// these remain.
    fn tile(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        mut full: Value,
        axis: usize,
        mut start: u64,
        size: u64,
    ) -> Rewritten<Value> {
        while let Some(half) = shape_of(cloner, full).map(|shape| shape[axis] / 2).filter(|half| *half >= size) {
            let [low, high] = self.split(cloner, full, Pair { axis, adjacent: false })?;
            full = if start < half { low } else { high };
            start %= half.max(1);
        }
        Ok(full)
    }

    /// Returns the foreign operation's result, composed of `parts` of one shape side by side along all axes; the last
    /// axis is the fastest.
    pub(super) fn concatenated(&self, cloner: &mut IrCloner<'_, '_, '_>, parts: &[Value]) -> Rewritten<Value> {
        let result = cloner.from.op(self.op).results.first().copied();
        let shape =
            result.and_then(|result| cloner.from.value_type(result).shape().map(<[u64]>::to_vec)).unwrap_or_default();
        let part = parts.first().and_then(|part| shape_of(cloner, *part)).unwrap_or_default();
        let counts: Vec<u64> = shape.iter().zip(&part).map(|(all, one)| all / (*one).max(1)).collect();
        if shape.len() != part.len() || counts.iter().product::<u64>() != parts.len() as u64 {
            let message = format!("{} tensors of {part:?} do not fill {shape:?}", parts.len());
            return Err(violation(cloner, self.op, message));
        }
        let mut parts = parts.to_vec();
        for (axis, count) in counts.iter().enumerate().rev() {
            let rows = parts.chunks(usize::try_from(*count).unwrap_or(usize::MAX).max(1));
            parts = rows.map(|row| self.joined(cloner, row, axis)).collect::<Rewritten<_>>()?;
        }
        parts.first().copied().ok_or_else(|| violation(cloner, self.op, "there is nothing to concatenate"))
    }

    /// Concatenates tensors along an axis; their number must be a power of two.
    fn joined(&self, cloner: &mut IrCloner<'_, '_, '_>, parts: &[Value], axis: usize) -> Rewritten<Value> {
        if let [one] = parts {
            return Ok(*one);
        }
        if !parts.len().is_power_of_two() {
            return Err(violation(cloner, self.op, format!("{} parts are not a power of two", parts.len())));
        }
        let (first, second) = parts.split_at(parts.len() / 2);
        let pair_values = [self.joined(cloner, first, axis)?, self.joined(cloner, second, axis)?];
        self.join(cloner, pair_values, Pair { axis, adjacent: false })
    }

    /// Loads bytes, each with two four-bit elements along one axis, and packs the elements along another axis.
    ///
    /// The result has twice as many bytes along the first axis, and half as many along the other.
    pub(super) fn repacked(&self, cloner: &mut IrCloner<'_, '_, '_>, memory: Value) -> Rewritten<Value> {
        let result = cloner.from.op(self.op).results.first().copied();
        let to =
            result.and_then(|result| cloner.from.value_type(result).shape().map(<[u64]>::to_vec)).unwrap_or_default();
        let ty = cloner.to.ty(memory).as_memory().map(|memory| (memory.shape.clone(), memory.element.clone()));
        let (from, element) = ty.unwrap_or((Vec::new(), TileType::integer(8)));
        let axis = |holds: &dyn Fn(u64, u64) -> bool| from.iter().zip(&to).position(|(from, to)| holds(*from, *to));
        let (unpacked, packed) = (axis(&|from, to| to == 2 * from), axis(&|from, to| from == 2 * to));
        let (Some(unpacked), Some(packed)) = (unpacked, packed) else {
            let message = format!("bytes of {from:?} do not become bytes of {to:?}, packed along another axis");
            return Err(violation(cloner, self.op, message));
        };
        let bytes = cloner.to.unary(ttg::LOCAL_LOAD, memory, TileType::tensor(from, element, None))?;
        let ty = cloner.to.ty(bytes).clone();
        let (mask, four) = (cloner.to.integer(15, &ty)?, cloner.to.integer(4, &ty)?);
        let nibbles = [cloner.to.binary(arith::ANDI, bytes, mask)?, cloner.to.binary(arith::SHRUI, bytes, four)?];
        let nibbles = self.join(cloner, nibbles, Pair { axis: unpacked, adjacent: true })?;
        self.pack(cloner, nibbles, packed)
    }

    /// Packs four-bit codes in bytes: each byte has two adjacent codes along the axis, the first in the low bits.
    fn pack(&self, cloner: &mut IrCloner<'_, '_, '_>, codes: Value, axis: usize) -> Rewritten<Value> {
        let [low, high] = self.split(cloner, codes, Pair { axis, adjacent: true })?;
        let four = cloner.to.integer(4, &cloner.to.ty(high).clone())?;
        let high = cloner.to.binary(arith::SHLI, high, four)?;
        Ok(cloner.to.binary(arith::ORI, low, high)?)
    }

    /// Converts numbers to `f32` and divides them by powers of two.
    ///
    /// `scales` has these powers in encoding E8M0, each for several elements along an axis.
    pub(super) fn quotients(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        numbers: Value,
        scales: Value,
    ) -> Rewritten<Value> {
        let ty = cloner.to.ty(numbers).with_element(TileType::Float(FloatType::F32));
        let numbers = match *cloner.to.ty(numbers) == ty {
            true => numbers,
            false => cloner.to.unary(tt::FP_TO_FP, numbers, ty.clone())?,
        };
        let scales = self.power(cloner, scales)?;
        let scales = self.repeated(cloner, scales, ty.shape().unwrap_or_default())?;
        let scales = cloner.to.unary(ttg::CONVERT_LAYOUT, scales, ty)?;
        Ok(cloner.to.binary(arith::DIVF, numbers, scales)?)
    }

    /// Repeats each element of a tensor along its axes so that the result has this shape; sizes must be multiples.
    fn repeated(&self, cloner: &mut IrCloner<'_, '_, '_>, mut value: Value, shape: &[u64]) -> Rewritten<Value> {
        for axis in 0..shape.len() {
            let Some(mut from) = shape_of(cloner, value).filter(|from| from.len() == shape.len()) else {
                return Err(violation(cloner, self.op, "the scales have other axes than the tensor"));
            };
            let times = shape[axis] / from[axis].max(1);
            if times == 1 {
                continue;
            }
            let mut to = from.clone();
            to[axis] = shape[axis];
            from.insert(axis + 1, 1);
            let single = self.reshape(cloner, value, from.clone())?;
            from[axis + 1] = times;
            let ty = type_without_layout(cloner, single, from);
            let many = cloner.to.unary(tt::BROADCAST, single, ty)?;
            value = self.reshape(cloner, many, to)?;
        }
        Ok(value)
    }

    /// Converts an operand to the element type of the foreign operation's result: from `f16` or `bf16` to `f32`, or not
    /// at all if the types are equal.
    ///
    /// Other conversions round or unpack numbers, and are errors: they have no neutral counterpart.
    pub(super) fn widened(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value) -> Rewritten<Value> {
        let result =
            cloner.from.op(self.op).results.first().map(|result| cloner.from.value_type(*result).element().clone());
        let ty = cloner.to.ty(value).clone();
        let (own, Some(result)) = (ty.element(), result) else { return Ok(value) };
        let is_half = [FloatType::F16, FloatType::Bf16].into_iter().any(|half| *own == TileType::Float(half));
        match (*own == result, is_half && result == TileType::Float(FloatType::F32)) {
            (true, _) => Ok(value),
            (false, true) => Ok(cloner.to.unary(tt::FP_TO_FP, value, ty.with_element(result))?),
            (false, false) => {
                let message = format!("an operand of `{own}` for a result of `{result}` has no neutral operation");
                Err(violation(cloner, self.op, &message))
            }
        }
    }

    /// Converts an `f32` tensor to E2M1 codes, two along the foreign operation's `axis` in each byte.
    ///
    /// The numbers are rounded to nearest even and limited to magnitudes of at most 6.
    pub(super) fn packed_e2m1(&self, cloner: &mut IrCloner<'_, '_, '_>, numbers: Value) -> Rewritten<Value> {
        let axis = cloner.from.op(self.op).attributes.get("axis").and_then(Attribute::as_integer);
        let rank = shape_of(cloner, numbers).map_or(0, |shape| shape.len());
        let axis = axis.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
        let axis = axis.ok_or_else(|| violation(cloner, self.op, "`axis` is not an axis of the tensor"))?;
        let ty = cloner.to.ty(numbers).clone();
        let (words, bytes) = (ty.with_element(TileType::integer(32)), ty.with_element(TileType::integer(8)));
        let bits = cloner.to.unary(tt::BITCAST, numbers, words.clone())?;
        let shift = cloner.to.integer(28, &words)?;
        let sign = cloner.to.binary(arith::SHRUI, bits, shift)?;
        let eight = cloner.to.integer(8, &words)?;
        let sign = cloner.to.binary(arith::ANDI, sign, eight)?;
        let magnitude = cloner.to.unary(math::ABSF, numbers, ty.clone())?;
        let mut code = cloner.to.unary(arith::TRUNCI, sign, bytes.clone())?;
        for (bound, predicate) in E2M1_BOUNDS {
            let bound = FloatType::F32.encode(bound).unwrap_or(0);
            let bound = cloner.to.add_constant(Attribute::of_bits(bound, ty.clone()))?;
            let beyond = cloner.to.build_op(arith::CMPF).attribute("predicate", Attribute::Keyword(predicate.into()));
            let beyond = beyond.operands("lhs", &[magnitude]).operands("rhs", &[bound]).value()?;
            let step = cloner.to.unary(arith::EXTUI, beyond, bytes.clone())?;
            code = cloner.to.binary(arith::ADDI, code, step)?;
        }
        self.pack(cloner, code, axis)
    }

    /// Emits a copy of the block of each descriptor to the memory at the same position in the other list, if the
    /// descriptor's predicate is true.
    pub(super) fn fused_copies(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        descriptors: &[Value],
        memories: &[Value],
    ) -> Rewritten<Values> {
        for (&descriptor, &memory) in descriptors.iter().zip(memories) {
            let condition = cloner.to.build_op(tw::DESCRIPTOR_PRED).operand(descriptor).value()?;
            match cloner.to.body().is_always(condition) {
                true => self.block_copy(cloner, descriptor, memory)?,
                false => cloner.emit_if(condition, |cloner| self.block_copy(cloner, descriptor, memory))?,
            };
        }
        Ok(Values::new())
    }

    fn block_copy(&self, cloner: &mut IrCloner<'_, '_, '_>, descriptor: Value, memory: Value) -> Rewritten<Values> {
        let Some(to) = cloner.to.ty(memory).as_memory().cloned() else {
            return Err(violation(cloner, self.op, "a block is copied to something that is not memory"));
        };
        let rank = shape_of(cloner, descriptor).map_or(0, |shape| shape.len());
        let zeros = (0..rank).map(|_| cloner.to.constant_i32(0)).collect::<Result<Values, _>>()?;
        let load = cloner.to.build_op(tt::DESCRIPTOR_LOAD).operand(descriptor).operands("indices", &zeros);
        let block = load.result(plain::tensor(&to, self.module)).value()?;
        cloner.to.build_op(ttg::LOCAL_STORE).operand(block).operand(memory).build()?;
        Ok(Values::new())
    }

    fn split(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value, pair: Pair) -> Rewritten<[Value; 2]> {
        let mut shape = shape_of(cloner, value).unwrap_or_default();
        shape[pair.axis] /= 2;
        let half = type_without_layout(cloner, value, shape.clone());
        shape.insert(pair.axis + usize::from(pair.adjacent), 2);
        let value = self.reshape(cloner, value, shape.clone())?;
        let at = pair.axis + usize::from(pair.adjacent);
        let order: Vec<usize> = (0..shape.len()).filter(|axis| *axis != at).chain([at]).collect();
        let value = self.transpose(cloner, value, &order)?;
        let pair_values = cloner.to.build_op(tt::SPLIT).operand(value).result(half.clone()).result(half).values()?;
        match pair_values[..] {
            [first, second] => Ok([first, second]),
            _ => Err(violation(cloner, self.op, "a split has two results")),
        }
    }

    fn join(&self, cloner: &mut IrCloner<'_, '_, '_>, pair_values: [Value; 2], pair: Pair) -> Rewritten<Value> {
        let mut shape = shape_of(cloner, pair_values[0]).unwrap_or_default();
        let rank = shape.len();
        let mut full = shape.clone();
        full[pair.axis] *= 2;
        shape.push(2);
        let ty = type_without_layout(cloner, pair_values[0], shape);
        let joined = cloner.to.build_op(tt::JOIN).operand(pair_values[0]).operand(pair_values[1]).result(ty).value()?;
        let mut order: Vec<usize> = (0..rank).collect();
        order.insert(pair.axis + usize::from(pair.adjacent), rank);
        let value = self.transpose(cloner, joined, &order)?;
        self.reshape(cloner, value, full)
    }

    fn reshape(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value, shape: Vec<u64>) -> Rewritten<Value> {
        let ty = type_without_layout(cloner, value, shape);
        Ok(cloner.to.unary(tt::RESHAPE, value, ty)?)
    }

    fn transpose(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value, order: &[usize]) -> Rewritten<Value> {
        let shape = shape_of(cloner, value).unwrap_or_default();
        let ty = type_without_layout(cloner, value, order.iter().map(|axis| shape[*axis]).collect());
        let order = order.iter().map(|axis| *axis as u64).collect();
        let transposition = cloner.to.build_op(tt::TRANS).operand(value);
        Ok(transposition.attribute("order", Attribute::Array(TileType::integer(32), order)).result(ty).value()?)
    }
}

/// For each two adjacent E2M1 magnitudes, their midpoint, and the comparison that rounds a tie to the even code.
///
/// All comparisons are true for a NaN, which so becomes the largest magnitude, since the format has no NaN.
const E2M1_BOUNDS: [(f64, &str); 7] =
    [(0.25, "ugt"), (0.75, "uge"), (1.25, "ugt"), (1.75, "uge"), (2.5, "ugt"), (3.5, "uge"), (5.0, "ugt")];

fn shape_of(cloner: &IrCloner<'_, '_, '_>, value: Value) -> Option<Vec<u64>> {
    cloner.to.ty(value).shape().map(<[u64]>::to_vec)
}

/// A tensor type of this shape with the element type of `value` and no layout.
fn type_without_layout(cloner: &IrCloner<'_, '_, '_>, value: Value, shape: Vec<u64>) -> TileType {
    TileType::tensor(shape, cloner.to.ty(value).element().clone(), None)
}

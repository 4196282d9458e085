//! Copies that can be bulk tensor copies (TMA): tiles of rank two whose tensor map the launch can build from a function
//! argument.
//!
//! TMA fills out-of-bounds elements with zeros and does not store them, so a tile must provably stay within the rows of the tensor. It does if
//! its offset along the row is zero and it is no wider than a row, if the bounds of a loop limit its offset, or if its offset
//! reaches an aligned part of a row, within which the loop moves it. The bounds of the loop are constants, or the upper bound is the
//! row length divided by the step.

use std::collections::HashMap;

use crate::LaunchConfig;
use crate::bulk_store::is_observed;
use crate::shared_buffer::bulk_copy_instructions;
use tilewright_target::Direction;
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap};
use tilewright_tile::op::name::{arith, scf, tt, tw};
use tilewright_tile::transform::explicit::{
    ElementDistance, ScaledOffsetTerm, SharedCopyLoop, TensorMapTileAddress, find_pending_copies, is_pending_copy,
};
use tilewright_tile::view_layout::{DynamicCuteLayout, ModeStride};
use tilewright_tile::{Attribute, Function, FunctionBody, Op, TileType, Value, ValueOrigin};

/// The copies of a program that can be bulk tensor copies.
#[derive(Default)]
pub(super) struct TensorCopyCandidates {
    /// The tensor map of each.
    pub maps: HashMap<Op, TensorMapTileAddress>,
    /// The copies to global memory among them, in the order of the program.
    pub stores: Vec<Op>,
    /// The pending copies among them; empty if not all pending copies of the program are.
    pub pending: Vec<Op>,
    /// The copies to and from shared memory that are not among them, each with the reason; empty if the target has no bulk tensor
    /// copies.
    pub rejected: Vec<(Op, String)>,
}

impl TensorCopyCandidates {
    /// Finds the candidates; `loops` are the loops of the function that fill tensors in shared memory.
    pub(super) fn find(
        function: &Function,
        axis_info: &AxisInfoMap,
        loops: &[SharedCopyLoop],
        config: &LaunchConfig<'_>,
    ) -> Self {
        let Some(body) = &function.body else { return Self::default() };
        if required_alignment(2, Direction::Store, config).is_none() {
            return Self::default();
        }
        let mut found = Self::default();
        let outermost = body.blocks(body.root()).first().map_or(&[][..], |entry| body.ops(*entry));
        let pipelined = loops.iter().filter(|of| of.rejected.is_none());
        for copy in body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == tw::COPY) {
            let Some(direction) = shared_access(body, copy) else { continue };
            let of = pipelined.clone().find(|of| of.copies.contains(&copy));
            let is_pending = is_pending_copy(body, copy);
            let map = match (direction, of) {
                (Direction::Store, Some(of)) if !outermost.contains(&of.outermost()) => {
                    Err("a producer or prologue would be within another operation than a loop".to_owned())
                }
                (Direction::Store, Some(_)) if is_pending => Err("its loop is pipelined without its wait".to_owned()),
                (Direction::Store, None) if !is_pending => {
                    Err("it is neither prefetched nor marked `tw.pending`".to_owned())
                }
                _ => find_tensor_map(body, axis_info, copy, config).and_then(|map| check_strides(body, map)),
            };
            // Most tensors in registers are stored by lanes, so that only copies between memories are explained.
            let is_explained = matches!(body.value_type(body.op(copy).operands[0]), TileType::Memory(_))
                || direction == Direction::Store;
            let list = match direction {
                Direction::Load => Some(&mut found.stores),
                Direction::Store => is_pending.then_some(&mut found.pending),
            };
            match map {
                // A bulk store is complete when the kernel ends.
                Ok(map) if direction == Direction::Load && is_observed(body, copy, map.base) => {
                    let reason = "the program may read the stored memory afterwards, or has atomic operations";
                    found.rejected.extend(is_explained.then(|| (copy, reason.to_owned())));
                }
                Ok(map) => {
                    list.into_iter().for_each(|list| list.push(copy));
                    found.maps.insert(copy, map);
                }
                Err(reason) => found.rejected.extend(is_explained.then_some((copy, reason))),
            }
        }
        found.check_pending(function);
        found
    }

    /// Rejects all pending copies if one of them was rejected, or if their order relative to the waits is unknown.
    fn check_pending(&mut self, function: &Function) {
        let all = find_pending_copies(function).and_then(|all| match self.pending.len() == all.copies.len() {
            true => Ok(()),
            false => Err("another pending copy cannot be one".to_owned()),
        });
        let Err(reason) = all else { return };
        for copy in std::mem::take(&mut self.pending) {
            self.maps.remove(&copy);
            self.rejected.push((copy, reason.clone()));
        }
    }
}

/// Checks that all strides of a tensor map are known before all loops: the launch encodes the map.
fn check_strides(body: &FunctionBody, map: TensorMapTileAddress) -> Result<TensorMapTileAddress, String> {
    let entry = body.blocks(body.root()).first().copied();
    let is_before_loops = |value: Value| match body.value_origin(value) {
        ValueOrigin::Argument(block, _) => Some(block) == entry,
        ValueOrigin::Result(op, _) => entry.is_some_and(|entry| body.ops(entry).contains(&op)),
    };
    match map.strides.iter().all(|stride| stride.value().is_none_or(is_before_loops)) {
        true => Ok(map),
        false => Err("a stride is computed in a loop".to_owned()),
    }
}

/// Returns the tensor map by which a copy from global to shared memory, or to global memory, can be a bulk tensor copy.
///
/// # Errors
/// The reason as text: the target has no such copy, or a requirement is not known to hold.
fn find_tensor_map(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    copy: Op,
    config: &LaunchConfig<'_>,
) -> Result<TensorMapTileAddress, String> {
    let operation = body.op(copy);
    let direction = shared_access(body, copy).ok_or("no end of it is global memory")?;
    let ends = (operation.operands[0], body.operand(copy, "dst").ok_or("it fills registers")?);
    let (view, copied) = if direction == Direction::Store { ends } else { (ends.1, ends.0) };
    let ty = body.value_type(copied);
    let Some(shape) = ty.shape().filter(|shape| shape.len() == 2) else {
        return Err("its tile has not two axes".into());
    };
    let bits = ty.element_bits().filter(|bits| *bits >= 8).ok_or("its elements are narrower than a byte")?;
    if !body.operands(copy, "bounds").is_empty() {
        return Err("it masks elements beyond bounds".to_owned());
    }
    if operation.attributes.get("instruction").is_some() {
        return Err("the program names another instruction".to_owned());
    }
    let required_alignment = required_alignment(shape.len(), direction, config).ok_or("the target has none")?;
    let tile = Tile::of(body, view).ok_or("its tile is gathered, or an axis has several strides or none")?;
    let program = Program { body, axis_info };
    let along = (0..2).find(|&axis| tile.strides[axis] == ElementDistance::Number(1) && shape[axis] > 1);
    let along = along.ok_or("no elements of its tile are contiguous in global memory")?;
    let row = Row { along, across: 1 - along, width: shape[along], pitch: tile.strides[1 - along] };
    let (base, offsets) = program.base(tile.pointer).ok_or("its memory is not behind an argument of the function")?;
    let begins = program.begins(&tile, offsets, &row).ok_or_else(|| row.crossing_reason())?;
    let row_bytes = program.pitch_divisor(&row) * u64::from(bits / 8);
    if !program.divisor(base).is_multiple_of(required_alignment) || !row_bytes.is_multiple_of(required_alignment) {
        return Err(format!("its rows are not known to begin at multiples of {required_alignment} bytes"));
    }
    let is_word = |value: Value| *body.value_type(value) == TileType::integer(32);
    let is_word_distance = |distance| !matches!(distance, ElementDistance::Value(value) if !is_word(value));
    match begins.iter().flatten().all(|term| is_word(term.value) && is_word_distance(term.over)) {
        true => Ok(TensorMapTileAddress { base, strides: tile.strides, begins: begins.into() }),
        false => Err("its indices are not `i32`".to_owned()),
    }
}

/// Returns how a copy accesses shared memory if it is a bulk tensor copy: a copy from global to shared memory stores to
/// it, a copy to global memory loads from it. `None` for other copies.
fn shared_access(body: &FunctionBody, copy: Op) -> Option<Direction> {
    let is_view = |value: Value| matches!(body.value_type(value), TileType::View(_));
    match (is_view(*body.op(copy).operands.first()?), is_view(body.operand(copy, "dst")?)) {
        (true, false) => Some(Direction::Store),
        (false, true) => Some(Direction::Load),
        _ => None,
    }
}

/// Returns the alignment that a tensor map requires of its address and strides, in bytes; `None` if no instruction
/// copies boxes of this rank.
fn required_alignment(rank: usize, direction: Direction, config: &LaunchConfig<'_>) -> Option<u64> {
    bulk_copy_instructions(rank, direction, config).map(|(_, operand)| u64::from(operand.global_alignment.max(1))).max()
}

/// A tile of rank two in global memory: its base pointer and the strides of its axes. `steps` are the indices by which
/// it is sliced from a view, each with its stride.
struct Tile {
    pointer: Value,
    strides: Vec<ElementDistance>,
    steps: Vec<(Value, ElementDistance)>,
}

impl Tile {
    fn of(body: &FunctionBody, value: Value) -> Option<Self> {
        let mut slices = Vec::new();
        let mut view = value;
        let view_op = loop {
            let ValueOrigin::Result(op, _) = body.value_origin(view) else { return None };
            match body.op(op).name() {
                tw::SLICE => {
                    slices.push(body.operands(op, "index").to_vec());
                    view = body.op(op).operands[0];
                }
                tw::GLOBAL_VIEW => break op,
                _ => return None,
            }
        };
        let text = body.op(view_op).attributes.get("layout").and_then(Attribute::as_text)?;
        let layout = DynamicCuteLayout::parse(text).ok()?;
        let operands = body.operands(view_op, "strides");
        let mut strides = Vec::new();
        for modes in &layout.axes {
            let [mode] = modes[..] else { return None };
            strides.push(match mode.stride {
                ModeStride::Elements(0) => return None,
                ModeStride::Elements(number) => ElementDistance::Number(number),
                ModeStride::Operand(number) => ElementDistance::Value(*operands.get(number)?),
            });
        }
        let mut steps = Vec::new();
        for indices in slices.into_iter().rev() {
            let sliced = strides.split_off(strides.len().checked_sub(indices.len())?);
            steps.extend(indices.into_iter().zip(sliced));
        }
        (strides.len() == 2).then_some(Self { pointer: body.op(view_op).operands[0], strides, steps })
    }
}

/// The position of a tile relative to the rows of memory.
struct Row {
    /// The axis that runs along rows; `across` is the other axis.
    along: usize,
    across: usize,
    /// Number of elements of the tile along a row.
    width: u64,
    /// Number of elements between the starts of consecutive rows.
    pitch: ElementDistance,
}

impl Row {
    /// Returns the reason why a tile that may cross the end of a row is no bulk tensor copy, and the remedy.
    fn crossing_reason(&self) -> String {
        let width = self.width;
        match self.pitch {
            ElementDistance::Number(pitch) => format!(
                "its tile may cross the end of a row: it has {width} of {pitch} elements, and its offset is not known to be a \
                 multiple of {width}"
            ),
            ElementDistance::Value(_) => format!(
                "its tile may cross the end of a row: state `tt.divisibility = {width}` of the row length, and count tiles along \
                 it from 0 to the row length divided by {width}"
            ),
        }
    }
}

struct Program<'p> {
    body: &'p FunctionBody,
    axis_info: &'p AxisInfoMap,
}

impl Program<'_> {
    fn divisor(&self, value: Value) -> u64 {
        self.axis_info.get(value).map_or(1, AxisInfo::divisibility)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        self.axis_info.get(value)?.range.constant_value().and_then(|number| u64::try_from(number).ok())
    }

    /// Returns the two operands of the operation that defines a value; `None` if the operation is not named `name`.
    fn defining_operands(&self, value: Value, name: &str) -> Option<[Value; 2]> {
        let ValueOrigin::Result(op, _) = self.body.value_origin(value) else { return None };
        let operation = self.body.op(op);
        (operation.name() == name).then(|| <[Value; 2]>::try_from(&*operation.operands).ok()).flatten()
    }

    /// Returns the function argument on which a pointer is based, and the added offsets in elements. `None` if the base
    /// is no argument.
    fn base(&self, pointer: Value) -> Option<(Value, Vec<Value>)> {
        let (mut pointer, mut offsets) = (pointer, Vec::new());
        while let Some([from, offset]) = self.defining_operands(pointer, tt::ADDPTR) {
            pointer = from;
            let mut open = vec![offset];
            while let Some(offset) = open.pop() {
                match self.defining_operands(offset, arith::ADDI) {
                    Some(both) => open.extend(both),
                    None => offsets.push(offset),
                }
            }
        }
        let entry = *self.body.blocks(self.body.root()).first()?;
        let is_given = self.body.arguments(entry).contains(&pointer);
        is_given.then_some((pointer, offsets))
    }

    /// Converts an offset in elements to a number of rows; `None` if it is not known to be a multiple of the row pitch.
    fn rows_of(&self, offset: Value, pitch: ElementDistance) -> Option<ScaledOffsetTerm> {
        match pitch {
            ElementDistance::Number(pitch) => self.is_multiple(offset, pitch).then_some(ScaledOffsetTerm {
                value: offset,
                times: 1,
                over: ElementDistance::Number(pitch),
                is_remainder: false,
            }),
            ElementDistance::Value(pitch) => {
                let [a, b] = self.defining_operands(offset, arith::MULI)?;
                match [(a, b), (b, a)].into_iter().find(|(_, by)| *by == pitch) {
                    Some((rows, _)) => Some(ScaledOffsetTerm::multiple(rows, 1)),
                    // The offset of a matrix in a batch, for example, multiplies several sizes.
                    None => self.multiplies(offset, pitch).then_some(ScaledOffsetTerm {
                        value: offset,
                        times: 1,
                        over: ElementDistance::Value(pitch),
                        is_remainder: false,
                    }),
                }
            }
        }
    }

    /// Whether multiplications compute `offset` from `pitch`, so that it is a multiple of `pitch`.
    fn multiplies(&self, offset: Value, pitch: Value) -> bool {
        let mut open = vec![offset];
        while let Some(value) = open.pop() {
            if value == pitch {
                return true;
            }
            open.extend(self.defining_operands(value, arith::MULI).into_iter().flatten());
        }
        false
    }

    /// Whether a value is known to be a multiple of `pitch`. Axis information has only powers of two, so that the constant
    /// operand of a product is considered, too.
    fn is_multiple(&self, value: Value, pitch: u64) -> bool {
        let is_divided = |[a, b]: [Value; 2]| {
            let product = self.constant(a).and_then(|a| a.checked_mul(self.divisor(b)));
            product.is_some_and(|product| product.is_multiple_of(pitch))
        };
        let operands = self.defining_operands(value, arith::MULI);
        self.divisor(value).is_multiple_of(pitch)
            || operands.is_some_and(|[a, b]| is_divided([a, b]) || is_divided([b, a]))
    }

    /// Returns a divisor of the row pitch.
    fn pitch_divisor(&self, row: &Row) -> u64 {
        match row.pitch {
            ElementDistance::Number(pitch) => pitch,
            ElementDistance::Value(pitch) => self.divisor(pitch),
        }
    }

    /// Returns, for each axis of a tile, the terms whose sum is its offset; `offsets` are those of its pointer, in elements.
    /// `None` if the tile is not known to stay within a row.
    fn begins(&self, tile: &Tile, offsets: Vec<Value>, row: &Row) -> Option<[Vec<ScaledOffsetTerm>; 2]> {
        let (mut begins, mut within_rows) = ([Vec::new(), Vec::new()], Vec::new());
        let split = |offset| {
            let term = |is_remainder| ScaledOffsetTerm { value: offset, times: 1, over: row.pitch, is_remainder };
            [term(false), term(true)]
        };
        // The end of the tile along the row at the last indices, relative to the offsets; `None` if unknown.
        let mut end = Some(row.width);
        for offset in offsets.into_iter().filter(|offset| self.constant(*offset) != Some(0)) {
            match (self.rows_of(offset, row.pitch), row.pitch, self.constant(offset)) {
                (Some(rows), ..) => begins[row.across].push(rows),
                (None, ElementDistance::Number(pitch), Some(number)) => {
                    let [rows, column] = split(offset);
                    begins[row.across].push(rows);
                    begins[row.along].push(column);
                    end = end.and_then(|end| end.checked_add(number % pitch));
                }
                _ => within_rows.push(offset),
            }
        }
        for &(index, step) in tile.steps.iter().filter(|(index, _)| self.constant(*index) != Some(0)) {
            let (axis, term) = self.moved(index, step, row)?;
            if axis == row.along {
                let farthest = self.most(index).and_then(|most| most.checked_mul(term.times));
                end = end.zip(farthest).and_then(|(end, farthest)| end.checked_add(farthest));
            }
            begins[axis].push(term);
        }
        match within_rows[..] {
            [] => self.fits(end, begins[row.along].len(), row).then_some(begins),
            // Wherever an aligned part of a row begins, the tile stays within it.
            [offset] if end? <= self.alignment_within_row(offset, row) => {
                let [rows, column] = split(offset);
                begins[row.across].push(rows);
                begins[row.along].push(column);
                Some(begins)
            }
            // A sum of several offsets may reach the next row.
            _ => None,
        }
    }

    /// Whether a tile that `steps` indices move along the row, to `end` at most, stays within the row.
    fn fits(&self, end: Option<u64>, steps: usize, row: &Row) -> bool {
        match (row.pitch, steps) {
            (ElementDistance::Number(pitch), _) => end.is_some_and(|end| end <= pitch),
            // The row is no shorter than the tile, or the trip count bounds the only index.
            (ElementDistance::Value(pitch), 0) => self.divisor(pitch).is_multiple_of(row.width),
            (ElementDistance::Value(_), steps) => steps == 1,
        }
    }

    /// Returns the largest power of two that divides both an offset and the row pitch, in elements: the offset reaches
    /// the start of a part of a row that has this many elements.
    fn alignment_within_row(&self, offset: Value, row: &Row) -> u64 {
        let power_of_two = |number: u64| 1u64.checked_shl(number.trailing_zeros()).unwrap_or(u64::MAX);
        power_of_two(self.divisor(offset)).min(power_of_two(self.pitch_divisor(row)))
    }

    /// Returns the largest number that an index may have; `None` if it is unknown or negative.
    fn most(&self, index: Value) -> Option<u64> {
        self.axis_info.get(index).and_then(|info| u64::try_from(info.range.max).ok())
    }

    /// Returns how an address offset of `index * step` elements moves the tile: the axis (along the row or across
    /// rows), and the distance along this axis in elements of the tensor. `None` if the tile is not known to stay
    /// within a row.
    fn moved(&self, index: Value, step: ElementDistance, row: &Row) -> Option<(usize, ScaledOffsetTerm)> {
        let times = |times: u64| ScaledOffsetTerm::multiple(index, times);
        match (step, row.pitch) {
            (ElementDistance::Number(step), ElementDistance::Number(pitch)) if step % pitch == 0 => {
                Some((row.across, times(step / pitch)))
            }
            (ElementDistance::Number(step), ElementDistance::Number(pitch)) => {
                let is_positive = self.axis_info.get(index)?.range.min >= 0;
                let within = is_positive && self.most(index)?.checked_mul(step)?.checked_add(row.width)? <= pitch;
                within.then_some((row.along, times(step)))
            }
            (ElementDistance::Number(step), ElementDistance::Value(pitch)) => {
                let is_below = self.find_iteration_count(index) == Some((pitch, step))
                    || self.is_clamped_below(index, (pitch, step));
                let within = step >= row.width && is_below;
                within.then_some((row.along, times(step)))
            }
            (ElementDistance::Value(step), ElementDistance::Value(pitch)) if step == pitch => {
                Some((row.across, times(1)))
            }
            (ElementDistance::Value(step), ElementDistance::Value(pitch)) => {
                let [a, b] = self.defining_operands(step, arith::MULI)?;
                let (_, by) = [(a, b), (b, a)].into_iter().find(|(axis_value, _)| *axis_value == pitch)?;
                Some((row.across, times(self.constant(by)?)))
            }
            (ElementDistance::Value(_), ElementDistance::Number(_)) => None,
        }
    }

    /// Whether an index is not negative, and the lesser of some value and `n / d - 1`.
    fn is_clamped_below(&self, index: Value, (n, d): (Value, u64)) -> bool {
        let is_last = |value: Value| {
            let before = self.defining_operands(value, arith::SUBI).filter(|[_, one]| self.constant(*one) == Some(1));
            before.is_some_and(|[count, _]| self.find_quotient(count) == Some((n, d)))
        };
        let is_positive = self.axis_info.get(index).is_some_and(|info| info.range.min >= 0);
        let sides = self.defining_operands(index, arith::MINSI);
        is_positive && sides.is_some_and(|sides| sides.into_iter().any(is_last))
    }

    /// Returns `(n, d)` if a value is the quotient `n / d`.
    fn find_quotient(&self, value: Value) -> Option<(Value, u64)> {
        let sides = self.defining_operands(value, arith::DIVSI).or_else(|| self.defining_operands(value, arith::DIVUI));
        let [dividend, divisor] = sides?;
        Some((dividend, self.constant(divisor)?))
    }

    /// Returns `(n, d)` such that the loop with the induction variable `index` (start 0, step 1) runs `n / d`
    /// iterations; `None` for other loops.
    fn find_iteration_count(&self, index: Value) -> Option<(Value, u64)> {
        let ValueOrigin::Argument(block, 0) = self.body.value_origin(index) else { return None };
        let all = self.body.walk_region(self.body.root()).into_iter();
        let of = all.filter(|op| self.body.op(*op).name() == scf::FOR).find(|op| {
            let regions = &self.body.op(*op).regions;
            regions.first().is_some_and(|region| self.body.blocks(*region).first() == Some(&block))
        })?;
        let [begin, end, step] = [0, 1, 2].map(|number| self.body.op(of).operands[number]);
        if (self.constant(begin)?, self.constant(step)?) != (0, 1) {
            return None;
        }
        self.find_quotient(end)
    }
}

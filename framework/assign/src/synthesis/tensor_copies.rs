//! Copies that can be bulk tensor copies (TMA): tiles of rank two whose tensor map the launch can build from a function
//! argument.
//!
//! TMA fills out-of-bounds elements with zeros and does not store them, so a tile must provably stay within the rows of the tensor. It does if
//! its offset along the row is zero and it is no wider than a row, if the bounds of a loop limit its offset, or if its offset
//! reaches an aligned part of a row, within which the loop moves it. The bounds of the loop are constants, or the upper bound is the
//! row length divided by the step.

use crate::LaunchConfig;
use crate::shared_buffer::bulk_copy_instructions;
use tilewright_target::Direction;
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap};
use tilewright_tile::op::name::{arith, scf, tt, tw};
use tilewright_tile::transform::explicit::{ElementDistance, ScaledOffsetTerm, TensorMapTileAddress};
use tilewright_tile::view_layout::{DynamicCuteLayout, ModeStride};
use tilewright_tile::{Attribute, FunctionBody, Op, TileType, Value, ValueOrigin};

/// Returns the tensor map by which a copy from global to shared memory, or to global memory, can be a bulk tensor copy.
/// `None` if the target has no such copy, or if a requirement is not known to hold.
pub(super) fn find_tensor_map(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    copy: Op,
    config: &LaunchConfig<'_>,
) -> Option<TensorMapTileAddress> {
    let operation = body.op(copy);
    let direction = shared_access(body, copy)?;
    let ends = (operation.operands[0], body.operand(copy, "dst")?);
    let (view, copied) = if direction == Direction::Store { ends } else { (ends.1, ends.0) };
    let shape = body.value_type(copied).shape()?;
    let bits = body.value_type(copied).element_bits()?;
    // Boxes fill all of a tensor, since no tensor map describes a part of a swizzled one.
    let is_part = body.value_type(copied).as_memory().is_some()
        && !matches!(body.value_origin(copied), ValueOrigin::Result(op, _) if body.op(op).name() == tw::SHARED_TENSOR);
    let plain = body.operands(copy, "bounds").is_empty() && operation.attributes.get("instruction").is_none();
    if is_part || !plain || shape.len() != 2 || bits < 8 {
        return None;
    }
    let required_alignment = required_alignment(shape.len(), direction, config)?;
    let tile = Tile::of(body, view)?;
    let program = Program { body, axis_info };
    let along = (0..2).find(|&axis| tile.strides[axis] == ElementDistance::Number(1) && shape[axis] > 1)?;
    let row = Row { along, across: 1 - along, width: shape[along], pitch: tile.strides[1 - along] };
    let (base, offsets) = program.base(tile.pointer)?;
    let begins = program.begins(&tile, offsets, &row)?;
    let row_bytes = program.pitch_divisor(&row) * u64::from(bits / 8);
    let aligned =
        program.divisor(base).is_multiple_of(required_alignment) && row_bytes.is_multiple_of(required_alignment);
    let is_word = |value: Value| *body.value_type(value) == TileType::integer(32);
    let is_word_distance = |distance| !matches!(distance, ElementDistance::Value(value) if !is_word(value));
    let words = begins.iter().flatten().all(|term| is_word(term.value) && is_word_distance(term.over));
    (aligned && words).then(|| TensorMapTileAddress { base, strides: tile.strides, begins: begins.into() })
}

/// Returns how a copy accesses shared memory if it is a bulk tensor copy: a copy from global to shared memory stores to
/// it, a copy to global memory loads from it. `None` for other copies.
pub(super) fn shared_access(body: &FunctionBody, copy: Op) -> Option<Direction> {
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
                let rows = [(a, b), (b, a)].into_iter().find(|(_, by)| *by == pitch);
                rows.map(|(value, _)| ScaledOffsetTerm::multiple(value, 1))
            }
        }
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
        for offset in offsets {
            match self.rows_of(offset, row.pitch) {
                Some(rows) => begins[row.across].push(rows),
                None => within_rows.push(offset),
            }
        }
        // The end of the tile along the row at the last indices, relative to the offsets; `None` if unknown.
        let mut end = Some(row.width);
        for &(index, step) in &tile.steps {
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
                let term = |is_remainder| ScaledOffsetTerm { value: offset, times: 1, over: row.pitch, is_remainder };
                begins[row.across].push(term(false));
                begins[row.along].push(term(true));
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
                let within = step >= row.width && self.find_iteration_count(index) == Some((pitch, step));
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
        let [dividend, divisor_value] =
            self.defining_operands(end, arith::DIVSI).or_else(|| self.defining_operands(end, arith::DIVUI))?;
        Some((dividend, self.constant(divisor_value)?))
    }
}

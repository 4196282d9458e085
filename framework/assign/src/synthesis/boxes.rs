//! Which copies of a loop can go by boxes of memory that a launch maps: tiles of two axes, whole rows or parts of rows of the memory
//! behind an argument of the function.
//!
//! What a map has no element for reads as zero, so a tile must be seen to stay within its rows: it is as wide as a row, or goes on
//! along it as far as bounds say, be they numbers or the length of a row over the step.

use crate::LaunchConfig;
use tilewright_target::{Completion, Instruction, Operand, TensorCopyOperand};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::op::name::{arith, scf, tt, tw};
use tilewright_tile::transform::explicit::{Distance, Mapped, ValueTerm};
use tilewright_tile::view_layout::{ModeStride, ViewLayout};
use tilewright_tile::{Attribute, Body, Op, TileType, Value, ValueOrigin};

/// The box that a copy from global to shared memory is, where the target copies such, and all that it asks is known.
pub(super) fn mapped(body: &Body, facts: &AxisInfoMap, copy: Op, machine: &LaunchConfig<'_>) -> Option<Mapped> {
    let operation = body.op(copy);
    let target = body.operand(copy, "dst")?;
    let shape = body.ty(target).shape()?;
    let bits = body.ty(target).element_bits()?;
    let plain = body.operands(copy, "bounds").is_empty() && operation.attributes.get("instruction").is_none();
    if !plain || shape.len() != 2 || bits < 8 {
        return None;
    }
    let grain = grain(shape.len(), machine)?;
    let tile = Tile::of(body, operation.operands[0])?;
    let program = Program { body, facts };
    let along = (0..2).find(|&axis| tile.strides[axis] == Distance::Number(1) && shape[axis] > 1)?;
    let row = Row { along, across: 1 - along, width: shape[along], pitch: tile.strides[1 - along] };
    let mut begins = [Vec::new(), Vec::new()];
    let (base, offsets) = program.base(tile.pointer)?;
    for offset in offsets {
        begins[row.across].push(program.rows_of(offset, row.pitch)?);
    }
    for &(index, step) in &tile.steps {
        let (axis, term) = program.moved(index, step, &row)?;
        begins[axis].push(term);
    }
    // Bounds are those of one index: of several that go on along a row nobody has seen the sum.
    let steps_along = begins[along].len();
    let fits = |pitch: Distance| match pitch {
        Distance::Number(pitch) => row.width <= pitch && steps_along <= 1,
        // Bounds of the turns say so.
        Distance::Value(_) => steps_along == 1,
    };
    let bytes = u64::from(bits / 8);
    let rows_apart = match row.pitch {
        Distance::Number(pitch) => pitch,
        Distance::Value(pitch) => program.divisor(pitch),
    };
    let aligned = program.divisor(base).is_multiple_of(grain) && (rows_apart * bytes).is_multiple_of(grain);
    let is_word = |value: Value| *body.ty(value) == TileType::integer(32);
    let words = begins.iter().flatten().all(|term| is_word(term.value));
    (fits(row.pitch) && aligned && words).then(|| Mapped { base, strides: tile.strides, begins: begins.into() })
}

/// Of what a map's address and strides must be multiples, in bytes; none where no row brings boxes of so many axes.
fn grain(rank: usize, machine: &LaunchConfig<'_>) -> Option<u64> {
    rows(rank, machine).map(|(_, operand)| u64::from(operand.global_alignment.max(1))).max()
}

/// The rows that bring boxes of so many axes, which arrive at an mbarrier.
pub(super) fn rows<'a>(
    rank: usize,
    machine: &LaunchConfig<'a>,
) -> impl Iterator<Item = (&'a Instruction, &'a TensorCopyOperand)> {
    let arriving = machine.context.instructions.iter().filter(|row| row.completion == Completion::Mbarrier);
    arriving.flat_map(move |row| {
        row.operands.iter().filter_map(move |operand| match operand {
            Operand::Box(own) if own.rank as usize == rank => Some((row, own)),
            _ => None,
        })
    })
}

/// A tile of two axes: the pointer of its view, the strides of its axes, and by which indices, with which strides, it is sliced.
struct Tile {
    pointer: Value,
    strides: Vec<Distance>,
    steps: Vec<(Value, Distance)>,
}

impl Tile {
    fn of(body: &Body, value: Value) -> Option<Self> {
        let mut slices = Vec::new();
        let mut view = value;
        let made = loop {
            let ValueOrigin::Result(op, _) = body.origin(view) else { return None };
            match body.op(op).name() {
                tw::SLICE => {
                    slices.push(body.operands(op, "index").to_vec());
                    view = body.op(op).operands[0];
                }
                tw::GLOBAL_VIEW => break op,
                _ => return None,
            }
        };
        let text = body.op(made).attributes.get("layout").and_then(Attribute::as_text)?;
        let layout = ViewLayout::parse(text).ok()?;
        let operands = body.operands(made, "strides");
        let mut strides = Vec::new();
        for modes in &layout.axes {
            let [mode] = modes[..] else { return None };
            strides.push(match mode.stride {
                ModeStride::Elements(0) => return None,
                ModeStride::Elements(number) => Distance::Number(number),
                ModeStride::Operand(number) => Distance::Value(*operands.get(number)?),
            });
        }
        let mut steps = Vec::new();
        for indices in slices.into_iter().rev() {
            let sliced = strides.split_off(strides.len().checked_sub(indices.len())?);
            steps.extend(indices.into_iter().zip(sliced));
        }
        (strides.len() == 2).then_some(Self { pointer: body.op(made).operands[0], strides, steps })
    }
}

/// How a tile lies in rows of memory.
struct Row {
    /// The axis along rows, and the other one.
    along: usize,
    across: usize,
    /// Elements of the tile along a row.
    width: u64,
    /// Elements from one row to the next.
    pitch: Distance,
}

struct Program<'p> {
    body: &'p Body,
    facts: &'p AxisInfoMap,
}

impl Program<'_> {
    fn divisor(&self, value: Value) -> u64 {
        self.facts.get(value).and_then(|fact| fact.axes.first()).map_or(1, |along| along.divisibility)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        self.facts.get(value)?.range.single().and_then(|number| u64::try_from(number).ok())
    }

    /// The operands of an operation of this name that makes a value.
    fn made_by(&self, value: Value, name: &str) -> Option<[Value; 2]> {
        let ValueOrigin::Result(op, _) = self.body.origin(value) else { return None };
        let operation = self.body.op(op);
        (operation.name() == name).then(|| <[Value; 2]>::try_from(&*operation.operands).ok()).flatten()
    }

    /// The argument that a pointer begins at, and what is added to it, in elements.
    fn base(&self, pointer: Value) -> Option<(Value, Vec<Value>)> {
        let (mut pointer, mut offsets) = (pointer, Vec::new());
        while let Some([from, offset]) = self.made_by(pointer, tt::ADDPTR) {
            pointer = from;
            let mut open = vec![offset];
            while let Some(offset) = open.pop() {
                match self.made_by(offset, arith::ADDI) {
                    Some(both) => open.extend(both),
                    None => offsets.push(offset),
                }
            }
        }
        let entry = *self.body.blocks(self.body.root()).first()?;
        let is_given = self.body.arguments(entry).contains(&pointer);
        is_given.then_some((pointer, offsets))
    }

    /// How many rows a number of elements is.
    fn rows_of(&self, offset: Value, pitch: Distance) -> Option<ValueTerm> {
        match pitch {
            Distance::Number(pitch) => {
                let whole = self.divisor(offset).is_multiple_of(pitch);
                whole.then_some(ValueTerm { value: offset, times: 1, over: pitch })
            }
            Distance::Value(pitch) => {
                let [a, b] = self.made_by(offset, arith::MULI)?;
                let rows = [(a, b), (b, a)].into_iter().find(|(_, by)| *by == pitch);
                rows.map(|(value, _)| ValueTerm { value, times: 1, over: 1 })
            }
        }
    }

    /// Where an index of a slice moves a tile to: along which axis, and how far.
    fn moved(&self, index: Value, step: Distance, row: &Row) -> Option<(usize, ValueTerm)> {
        let times = |times: u64| ValueTerm { value: index, times, over: 1 };
        match (step, row.pitch) {
            (Distance::Number(step), Distance::Number(pitch)) if step % pitch == 0 => {
                Some((row.across, times(step / pitch)))
            }
            (Distance::Number(step), Distance::Number(pitch)) => {
                let range = self.facts.get(index)?.range;
                let most = u64::try_from(range.greatest).ok()?;
                let within = range.least >= 0 && most.checked_mul(step)?.checked_add(row.width)? <= pitch;
                within.then_some((row.along, times(step)))
            }
            (Distance::Number(step), Distance::Value(pitch)) => {
                let within = step >= row.width && self.turns_of(index) == Some((pitch, step));
                within.then_some((row.along, times(step)))
            }
            (Distance::Value(step), Distance::Value(pitch)) if step == pitch => Some((row.across, times(1))),
            (Distance::Value(step), Distance::Value(pitch)) => {
                let [a, b] = self.made_by(step, arith::MULI)?;
                let (_, by) = [(a, b), (b, a)].into_iter().find(|(own, _)| *own == pitch)?;
                Some((row.across, times(self.constant(by)?)))
            }
            (Distance::Value(_), Distance::Number(_)) => None,
        }
    }

    /// The value and the number whose quotient is the count of the turns that an index counts, from zero in ones.
    fn turns_of(&self, index: Value) -> Option<(Value, u64)> {
        let ValueOrigin::Argument(block, 0) = self.body.origin(index) else { return None };
        let all = self.body.walk(self.body.root()).into_iter();
        let of = all.filter(|op| self.body.op(*op).name() == scf::FOR).find(|op| {
            let regions = &self.body.op(*op).regions;
            regions.first().is_some_and(|region| self.body.blocks(*region).first() == Some(&block))
        })?;
        let [begin, end, step] = [0, 1, 2].map(|number| self.body.op(of).operands[number]);
        if (self.constant(begin)?, self.constant(step)?) != (0, 1) {
            return None;
        }
        let [whole, part] = self.made_by(end, arith::DIVSI).or_else(|| self.made_by(end, arith::DIVUI))?;
        Some((whole, self.constant(part)?))
    }
}

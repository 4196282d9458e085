//! The steps of a scan between warps: a line (all elements along the axis) is divided into blocks, each scanned within
//! one warp, and each block adds the total of all blocks before it.

use tilewright_kernel::{Builder, Counts, Value};

use super::super::address::ThreadIndices;
use super::super::shuffle_source::Source;
use super::super::variadic::{EmitCombine, count_wide_instructions, emit_shuffle_tuples, moved, words};
use super::super::{ConversionPlan, MovementError, PlanContext, plan_conversion};
use super::ScanDirection;
use super::problem::{InputBit, ScanProblem};
use crate::cost::WarpWork;
use tilewright_target::TargetDescription;

/// The conversion and combination of the totals of blocks. A block is the part of a line (elements along the axis) that
/// has been scanned within a warp.
#[derive(Debug, Clone)]
pub(super) struct Totals {
    /// Position bits (register, lane or warp bits) that hold the axis bits above a block, the lowest first; they number
    /// the blocks of a line.
    upper: Vec<InputBit>,
    /// Mask of the register bits that hold the axis bits within a block.
    registers: usize,
    /// Mask of the lane bits that hold the axis bits within a block.
    lanes: u32,
    /// Register bits that do not hold axis bits within a block; they number the totals that a lane has.
    across: Vec<u32>,
    /// Register bits that number lines (all elements along the axis).
    lines: Vec<u32>,
    lane_bits: u32,
    direction: ScanDirection,
    /// Conversions of the block totals, one plan for each tensor.
    pub(super) moves: Vec<ConversionPlan>,
}

impl Totals {
    /// Plans the steps between warps; `None` if no warp holds a bit of the axis.
    pub(super) fn new(problem: &ScanProblem, target: &TargetDescription) -> Result<Option<Self>, MovementError> {
        let lower = problem.lower();
        let upper = problem.input_bits[lower..].to_vec();
        if upper.is_empty() {
            return Ok(None);
        }
        let (registers, lanes) = ScanProblem::masks(&problem.input_bits[..lower]);
        let (src, dst) = problem.ends(lower)?;
        let context = PlanContext::new(target).divide_scratch(problem.element_bits.len());
        let moves = problem.element_bits.iter().map(|&bits| plan_conversion(&src, &dst, bits, context));
        let bits = 0..problem.register_bits;
        Ok(Some(Self {
            upper,
            registers,
            lanes,
            across: bits.clone().filter(|&bit| registers >> bit & 1 == 0).collect(),
            lines: bits.filter(|&bit| !problem.input_bits.contains(&InputBit::Register(bit))).collect(),
            lane_bits: problem.lane_bits,
            direction: problem.direction,
            moves: moves.collect::<Result<Vec<_>, _>>()?,
        }))
    }

    /// Returns the number of blocks (parts scanned within a warp) in a line (all elements along the axis).
    fn blocks(&self) -> usize {
        1 << self.upper.len()
    }

    /// Returns the bits of the block's index that differ between threads: for each the number of the bit, and the bit
    /// of the thread index, as a power of two, that holds it.
    fn of_threads(&self) -> Vec<(usize, u64)> {
        let bit = |input_bit: &InputBit| match input_bit {
            InputBit::Register(_) => None,
            InputBit::Lane(bit) => Some(1u64 << bit),
            InputBit::Warp(bit) => Some(1u64 << (bit + self.lane_bits)),
        };
        self.upper.iter().enumerate().filter_map(|(at, input_bit)| Some((at, bit(input_bit)?))).collect()
    }

    /// Returns the index of the block that contains the register `register`; the bits that the thread determines are
    /// zero.
    fn of_register(&self, register: usize) -> usize {
        let bits = self.upper.iter().enumerate().filter_map(|(at, input_bit)| match input_bit {
            InputBit::Register(bit) => Some((register >> bit & 1) << at),
            _ => None,
        });
        bits.sum()
    }

    /// Returns the number of blocks that precede a block in the direction of the scan.
    fn before(&self, block: usize) -> usize {
        match self.direction {
            ScanDirection::Forward => block,
            ScanDirection::Reverse => self.blocks() - 1 - block,
        }
    }

    /// Whether a register belongs to the first block of its line (all elements along the axis), in the direction of the
    /// scan, in some thread.
    fn may_be_first(&self, register: usize) -> bool {
        let first = self.before(0);
        let fixed = (0..self.upper.len()).filter(|&at| matches!(self.upper[at], InputBit::Register(_)));
        let mask: usize = fixed.map(|at| 1 << at).sum();
        self.of_register(register) == first & mask
    }

    pub(super) fn counts(&self, problem: &ScanProblem) -> Counts {
        let tensors = problem.element_bits.len() as u64;
        let totals = 1u64 << self.across.len();
        let shuffles = match self.lanes {
            0 => 0,
            _ => problem.element_bits.iter().map(|&bits| words(bits, totals)).sum(),
        };
        let differing = self.of_threads().len();
        // Blocks whose index differs only in bits that registers hold need no selects.
        let chosen = (1u64 << self.lines.len()) << (self.upper.len() - differing);
        let registers = 0..1usize << problem.register_bits;
        let first = match differing {
            0 => 0,
            _ => registers.filter(|&register| self.may_be_first(register)).count() as u64,
        };
        let selects = tensors * (chosen * ((1 << differing) - 1) + first);
        Counts { shuffles, selects, ..Counts::default() }
    }

    /// Returns the work of a warp for the steps between warps, without the conversion: prefixes of the block totals of
    /// each line (all elements along the axis), and one combining operation for each register.
    pub(super) fn work(&self, problem: &ScanProblem) -> WarpWork {
        let counts = self.counts(problem);
        let tensors = problem.element_bits.len() as u64;
        let (lines, prefixes) = (1u64 << self.lines.len(), self.blocks() as u64 - 1);
        let combined = lines * (prefixes - 1) + (1u64 << problem.register_bits);
        // The chain: the prefixes, which depend on each other; one select for each thread bit; the combination and a
        // last select.
        let waited = prefixes - 1 + self.of_threads().len() as u64 + 2;
        let chain = Counts { selects: waited, ..WarpWork::from_counts(counts, 1).chain };
        let selected = counts.selects / tensors.max(1);
        let instructions = count_wide_instructions(&problem.element_bits, combined, selected);
        WarpWork { instructions, chain, counts, ..WarpWork::default() }
    }

    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        thread: ThreadIndices,
        tuples: Vec<Vec<Value>>,
        combine: &mut EmitCombine,
    ) -> Vec<Vec<Value>> {
        let totals = self.totals(builder, thread, &tuples);
        let everywhere = moved(builder, &self.moves, &totals);
        let prefixes: Vec<Vec<Vec<Value>>> =
            everywhere.chunks(self.blocks()).map(|blocks| self.prefixes(builder, blocks, combine)).collect();
        let conditions: Vec<(usize, Value)> =
            self.of_threads().into_iter().map(|(at, mask)| (at, thread.parity(builder, mask))).collect();
        let first = self.is_first(builder, thread);
        let mut known: Vec<((usize, usize), Vec<Value>)> = Vec::new();
        let mut after = Vec::with_capacity(tuples.len());
        for (register, thread_total) in tuples.iter().enumerate() {
            let (line, block) = (gathered(register, &self.lines), self.of_register(register));
            if conditions.is_empty() && self.before(block) == 0 {
                after.push(thread_total.clone());
                continue;
            }
            let found = known.iter().find(|(key, _)| *key == (line, block)).map(|(_, prefix)| prefix.clone());
            let prefix = found.unwrap_or_else(|| {
                let prefix = self.pick(builder, &prefixes[line], &conditions, block);
                known.push(((line, block), prefix.clone()));
                prefix
            });
            let sum = combine(builder, &prefix, thread_total);
            after.push(match first {
                Some(first) if self.may_be_first(register) => thread_total
                    .iter()
                    .zip(&sum)
                    .map(|(&thread_total, &sum)| builder.select(first, thread_total, sum))
                    .collect(),
                _ => sum,
            });
        }
        after
    }

    /// Emits the totals of the blocks: all lanes that hold elements of a block get its total. Returns one tuple for
    /// each combination of the register bits that do not hold the axis within a block.
    fn totals(&self, builder: &mut Builder, thread: ThreadIndices, tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let last = |index: usize| {
            let spread = self.across.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (index >> at & 1) << bit);
            match self.direction {
                ScanDirection::Forward => spread | self.registers,
                ScanDirection::Reverse => spread,
            }
        };
        let values: Vec<Vec<Value>> =
            (0..1usize << self.across.len()).map(|index| tuples[last(index)].clone()).collect();
        if self.lanes == 0 {
            return values;
        }
        let lane = match self.direction {
            ScanDirection::Forward => thread.lane_with(builder, self.lanes, 0),
            ScanDirection::Reverse => thread.lane_with(builder, 0, self.lanes),
        };
        emit_shuffle_tuples(builder, Source::Lane(lane), &values)
    }

    /// Emits the prefixes of the block totals of one line: entry `i` combines the totals of the first `i + 1` blocks in
    /// the direction of the scan. The last block's total is not needed.
    fn prefixes(&self, builder: &mut Builder, blocks: &[Vec<Value>], combine: &mut EmitCombine) -> Vec<Vec<Value>> {
        let in_order = |before: usize| &blocks[self.before(before)];
        let mut prefixes = vec![in_order(0).clone()];
        for before in 1..blocks.len() - 1 {
            let sum = combine(builder, &prefixes[before - 1], in_order(before));
            prefixes.push(sum);
        }
        prefixes
    }

    /// Emits the selection of the combined totals of all blocks before this thread's block; an arbitrary value in the
    /// first block. `block` has the bits of the block's index that the register determines; each of `conditions` is a
    /// bit of that index and whether the thread sets it.
    fn pick(
        &self,
        builder: &mut Builder,
        prefixes: &[Vec<Value>],
        conditions: &[(usize, Value)],
        block: usize,
    ) -> Vec<Value> {
        let Some((&(at, condition), rest)) = conditions.split_last() else {
            return prefixes[self.before(block).saturating_sub(1)].clone();
        };
        let below = self.pick(builder, prefixes, rest, block);
        let above = self.pick(builder, prefixes, rest, block | 1 << at);
        above.iter().zip(&below).map(|(&above, &below)| builder.select(condition, above, below)).collect()
    }

    /// Emits an `i1`: whether the thread's bits of the block's index are those of the first block of its line; `None`
    /// if no thread bit determines the block.
    fn is_first(&self, builder: &mut Builder, thread: ThreadIndices) -> Option<Value> {
        let mask = self.of_threads().iter().fold(0, |all, (_, bit)| all | bit);
        match self.direction {
            ScanDirection::Forward => thread.emit_are_bits_zero(builder, mask),
            ScanDirection::Reverse => thread.all_ones(builder, mask),
        }
    }
}

fn gathered(register: usize, bits: &[u32]) -> usize {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (register >> bit & 1) << at)
}

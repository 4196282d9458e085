//! The steps of a scan between warps: blocks take in what lies before them, from the totals of all.

use tilewright_kernel::{Builder, Counts, Value};

use super::super::address::Thread;
use super::super::source::Source;
use super::super::tuples::{Combine, exchanged, moved, words};
use super::super::{MovementError, Plan, PlanContext, convert};
use super::ScanDirection;
use super::problem::{Held, Question};
use tilewright_target::TargetDescription;

/// How totals are moved and taken in.
#[derive(Debug, Clone)]
pub(super) struct Totals {
    /// Who holds the axis bits that number blocks, the lowest first.
    upper: Vec<Held>,
    /// Register bits that hold the axis within a block.
    registers: usize,
    /// Lane bits that hold the axis within a block.
    lanes: u32,
    /// The other register bits, which number the totals of a lane.
    across: Vec<u32>,
    /// Register bits that number lines.
    lines: Vec<u32>,
    lane_bits: u32,
    direction: ScanDirection,
    /// How the totals move, for each tensor.
    pub(super) moves: Vec<Plan>,
}

impl Totals {
    /// The steps between warps; `None` if no warp holds a part of the axis.
    pub(super) fn new(problem: &Question, target: &TargetDescription) -> Result<Option<Self>, MovementError> {
        let lower = problem.lower();
        let upper = problem.held[lower..].to_vec();
        if upper.is_empty() {
            return Ok(None);
        }
        let (registers, lanes) = Question::masks(&problem.held[..lower]);
        let (src, dst) = problem.ends(lower)?;
        let context = PlanContext::of(target).shared_by(problem.element_bits.len());
        let moves = problem.element_bits.iter().map(|&bits| convert(&src, &dst, bits, context));
        let bits = 0..problem.register_bits;
        Ok(Some(Self {
            upper,
            registers,
            lanes,
            across: bits.clone().filter(|&bit| registers >> bit & 1 == 0).collect(),
            lines: bits.filter(|&bit| !problem.held.contains(&Held::Register(bit))).collect(),
            lane_bits: problem.lane_bits,
            direction: problem.direction,
            moves: moves.collect::<Result<Vec<_>, _>>()?,
        }))
    }

    /// Blocks of a line.
    fn blocks(&self) -> usize {
        1 << self.upper.len()
    }

    /// Axis bits that differ between threads, as bits of the thread index.
    fn of_threads(&self) -> Vec<(usize, u64)> {
        let bit = |held: &Held| match held {
            Held::Register(_) => None,
            Held::Lane(bit) => Some(1u64 << bit),
            Held::Warp(bit) => Some(1u64 << (bit + self.lane_bits)),
        };
        self.upper.iter().enumerate().filter_map(|(at, held)| Some((at, bit(held)?))).collect()
    }

    /// The block bits that a register says.
    fn of_register(&self, register: usize) -> usize {
        let bits = self.upper.iter().enumerate().filter_map(|(at, held)| match held {
            Held::Register(bit) => Some((register >> bit & 1) << at),
            _ => None,
        });
        bits.sum()
    }

    /// How many blocks lie before one.
    fn before(&self, block: usize) -> usize {
        match self.direction {
            ScanDirection::Up => block,
            ScanDirection::Down => self.blocks() - 1 - block,
        }
    }

    /// Whether the first block is among those that a register belongs to, in some thread.
    fn may_be_first(&self, register: usize) -> bool {
        let first = self.before(0);
        let fixed = (0..self.upper.len()).filter(|&at| matches!(self.upper[at], Held::Register(_)));
        let mask: usize = fixed.map(|at| 1 << at).sum();
        self.of_register(register) == first & mask
    }

    pub(super) fn counts(&self, problem: &Question) -> Counts {
        let tensors = problem.element_bits.len() as u64;
        let totals = 1u64 << self.across.len();
        let exchanges = match self.lanes {
            0 => 0,
            _ => problem.element_bits.iter().map(|&bits| words(bits, totals)).sum(),
        };
        let differing = self.of_threads().len();
        // Blocks that registers say are told apart without selects.
        let chosen = (1u64 << self.lines.len()) << (self.upper.len() - differing);
        let registers = 0..1usize << problem.register_bits;
        let first = match differing {
            0 => 0,
            _ => registers.filter(|&register| self.may_be_first(register)).count() as u64,
        };
        let selects = tensors * (chosen * ((1 << differing) - 1) + first);
        Counts { exchanges, selects, ..Counts::default() }
    }

    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        thread: Thread,
        tuples: Vec<Vec<Value>>,
        combine: &mut Combine,
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
        for (register, own) in tuples.iter().enumerate() {
            let (line, block) = (gathered(register, &self.lines), self.of_register(register));
            if conditions.is_empty() && self.before(block) == 0 {
                after.push(own.clone());
                continue;
            }
            let found = known.iter().find(|(key, _)| *key == (line, block)).map(|(_, prefix)| prefix.clone());
            let prefix = found.unwrap_or_else(|| {
                let prefix = self.pick(builder, &prefixes[line], &conditions, block);
                known.push(((line, block), prefix.clone()));
                prefix
            });
            let sum = combine(builder, &prefix, own);
            after.push(match first {
                Some(first) if self.may_be_first(register) => {
                    own.iter().zip(&sum).map(|(&own, &sum)| builder.select(first, own, sum)).collect()
                }
                _ => sum,
            });
        }
        after
    }

    /// The totals of the blocks, in all lanes that hold parts of them.
    fn totals(&self, builder: &mut Builder, thread: Thread, tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let last = |index: usize| {
            let spread = self.across.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (index >> at & 1) << bit);
            match self.direction {
                ScanDirection::Up => spread | self.registers,
                ScanDirection::Down => spread,
            }
        };
        let held: Vec<Vec<Value>> = (0..1usize << self.across.len()).map(|index| tuples[last(index)].clone()).collect();
        if self.lanes == 0 {
            return held;
        }
        let lane = match self.direction {
            ScanDirection::Up => thread.lane_with(builder, self.lanes, 0),
            ScanDirection::Down => thread.lane_with(builder, 0, self.lanes),
        };
        exchanged(builder, Source::Lane(lane), &held)
    }

    /// What lies before each block but the first, in the order of the scan.
    fn prefixes(&self, builder: &mut Builder, blocks: &[Vec<Value>], combine: &mut Combine) -> Vec<Vec<Value>> {
        let in_order = |before: usize| &blocks[self.before(before)];
        let mut prefixes = vec![in_order(0).clone()];
        for before in 1..blocks.len() - 1 {
            let sum = combine(builder, &prefixes[before - 1], in_order(before));
            prefixes.push(sum);
        }
        prefixes
    }

    /// What lies before the block of this thread; anything where that is the first one.
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

    /// Whether this thread's bits are those of the first block.
    fn is_first(&self, builder: &mut Builder, thread: Thread) -> Option<Value> {
        let mask = self.of_threads().iter().fold(0, |all, (_, bit)| all | bit);
        match self.direction {
            ScanDirection::Up => thread.all_zero(builder, mask),
            ScanDirection::Down => thread.all_ones(builder, mask),
        }
    }
}

fn gathered(register: usize, bits: &[u32]) -> usize {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (register >> bit & 1) << at)
}

//! A scan within a warp whose lanes have several registers along the axis: each lane scans its registers, the totals of
//! the lanes are scanned, and then each other register adds the totals of all preceding lanes.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_target::ShuffleXorMasks;

use super::super::address::ThreadIndices;
use super::super::shuffle_source::Source;
use super::super::variadic::{EmitCombine, count_wide_instructions, emit_shuffle_tuples, words};
use super::ScanDirection;
use super::levels::Level;
use super::problem::{InputBit, ScanProblem};
use crate::cost::WarpWork;

/// The steps of a scan within a warp for axis bits that registers hold, followed by bits that lanes hold.
#[derive(Debug, Clone)]
pub(super) struct LaneScan {
    /// The register bits that hold the lower axis bits, the lowest axis bit first.
    registers: Vec<u32>,
    /// The steps of the scan of totals.
    levels: Vec<Level>,
    /// The mask of the lane bits that hold the axis.
    lanes: u32,
    direction: ScanDirection,
}

impl LaneScan {
    /// Returns the steps of a scan within a warp. `None` if the bits that lanes hold are fewer than two or do not
    /// follow those that registers hold, or if the lane before a lane in the scan is not its neighbour.
    pub(super) fn of(problem: &ScanProblem, xors: ShuffleXorMasks) -> Option<Self> {
        let within = &problem.input_bits[..problem.lower()];
        let first = within.iter().position(|bit| matches!(bit, InputBit::Lane(_)))?;
        let register = |bit: &InputBit| if let InputBit::Register(bit) = bit { Some(*bit) } else { None };
        let lane = |bit: &InputBit| if let InputBit::Lane(bit) = bit { Some(*bit) } else { None };
        let registers: Vec<u32> = within[..first].iter().filter_map(register).collect();
        let lanes: Vec<u32> = within[first..].iter().map(lane).collect::<Option<_>>()?;
        let are_neighbours = lanes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        (!registers.is_empty() && lanes.len() > 1 && are_neighbours).then(|| Self {
            registers,
            levels: (first..within.len()).map(|bit| Level::of(problem, bit, xors).of_totals()).collect(),
            lanes: lanes.iter().map(|bit| 1 << bit).sum(),
            direction: problem.direction,
        })
    }

    /// Returns the work of a warp, step by step.
    pub(super) fn work(&self, problem: &ScanProblem) -> Vec<WarpWork> {
        let tensors = problem.element_bits.len() as u64;
        let total_bits = problem.register_bits - self.registers.len() as u32;
        let others = (1u64 << problem.register_bits) - (1 << total_bits);
        let step = |counts: Counts, waited: u64| {
            let chain = Counts { selects: waited, ..WarpWork::from_counts(counts, 1).chain };
            let instructions = count_wide_instructions(&problem.element_bits, others, counts.selects / tensors.max(1));
            WarpWork { instructions, chain, counts, ..WarpWork::default() }
        };
        let shuffles = problem.element_bits.iter().map(|&bits| words(bits, 1 << total_bits)).sum();
        let first = step(Counts::default(), (1 << self.registers.len()) - 1);
        let last = step(Counts { shuffles, selects: tensors * others, ..Counts::default() }, 2);
        let levels = self.levels.iter().map(|level| level.work(&problem.element_bits, total_bits));
        [first].into_iter().chain(levels).chain([last]).collect()
    }

    /// Returns the registers along the axis, in the direction of the scan, of the line that starts with a register.
    fn in_order(&self, line: usize) -> Vec<usize> {
        let spread =
            |at: usize| self.registers.iter().enumerate().map(|(bit, to)| (at >> bit & 1) << to).sum::<usize>();
        let mut all: Vec<usize> = (0..1usize << self.registers.len()).map(|at| line | spread(at)).collect();
        if self.direction == ScanDirection::Reverse {
            all.reverse();
        }
        all
    }

    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        thread: ThreadIndices,
        mut tuples: Vec<Vec<Value>>,
        combine: &mut EmitCombine,
    ) -> Vec<Vec<Value>> {
        let mask: usize = self.registers.iter().map(|bit| 1usize << bit).sum();
        let lines: Vec<Vec<usize>> =
            (0..tuples.len()).filter(|line| line & mask == 0).map(|line| self.in_order(line)).collect();
        for pair in lines.iter().flat_map(|line| line.windows(2)) {
            tuples[pair[1]] = combine(builder, &tuples[pair[0]], &tuples[pair[1]]);
        }
        let last = |line: &Vec<usize>| line.last().copied().unwrap_or_default();
        let mut totals: Vec<Vec<Value>> = lines.iter().map(|line| tuples[last(line)].clone()).collect();
        for level in &self.levels {
            totals = level.emit(builder, thread, totals, combine);
        }
        let source = Source::Lane(thread.lane_beyond(builder, self.lanes, self.direction == ScanDirection::Reverse));
        let before = emit_shuffle_tuples(builder, source, &totals);
        let first = match self.direction {
            ScanDirection::Forward => thread.emit_are_bits_zero(builder, u64::from(self.lanes)),
            ScanDirection::Reverse => thread.all_ones(builder, u64::from(self.lanes)),
        };
        for ((line, total), before) in lines.iter().zip(totals).zip(&before) {
            for &register in &line[..line.len() - 1] {
                let sum = combine(builder, before, &tuples[register]);
                let own = tuples[register].iter().zip(&sum);
                tuples[register] =
                    own.map(|(&own, &sum)| first.map_or(sum, |first| builder.select(first, own, sum))).collect();
            }
            tuples[last(line)] = total;
        }
        tuples
    }
}

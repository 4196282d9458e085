//! One step of a scan within a warp: in each block of 2^n consecutive elements along the axis, the half that comes
//! later in the scan adds the total of the other half.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_target::ShuffleXorMasks;

use super::super::address::ThreadIndices;
use super::super::shuffle_source::Source;
use super::super::variadic::{EmitCombine, count_wide_instructions, emit_shuffle_tuples, words};
use super::ScanDirection;
use super::problem::{InputBit, ScanProblem};
use crate::cost::WarpWork;

/// The step of a scan for one bit of the axis, which distinguishes the lower half of a block from the upper half.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// The position bit (register, lane or warp bit) that holds the axis bit of this step.
    at: InputBit,
    /// The mask of the register bits that hold lower bits of the axis.
    registers: usize,
    /// The mask of the lane bits that hold lower bits of the axis.
    lanes: u32,
    direction: ScanDirection,
    /// The constant lane xors by which the target can shuffle.
    xors: ShuffleXorMasks,
}

impl Level {
    /// Returns the step for one axis bit that stays within a warp; 0 is the lowest bit.
    pub(super) fn of(problem: &ScanProblem, bit: usize, xors: ShuffleXorMasks) -> Self {
        let (registers, lanes) = ScanProblem::masks(&problem.input_bits[..bit]);
        Self { at: problem.input_bits[bit], registers, lanes, direction: problem.direction, xors }
    }

    /// Returns the same step of a scan of the totals of registers: each lane has one total for the lower axis bits that
    /// registers hold.
    pub(super) fn of_totals(self) -> Self {
        Self { registers: 0, ..self }
    }

    pub(super) fn shuffles(&self) -> bool {
        self.lanes != 0 || matches!(self.at, InputBit::Lane(_))
    }

    /// Returns the mask of the register bits that do not change the fetched total: registers that differ only in them
    /// need the same total of the earlier half.
    fn alike(&self) -> usize {
        match self.at {
            InputBit::Register(bit) => self.registers | 1 << bit,
            _ => self.registers,
        }
    }

    /// Returns the counts of the step for 2^`register_bits` registers of a lane.
    fn counts(&self, element_bits: &[u32], register_bits: u32) -> Counts {
        let tensors = element_bits.len() as u64;
        let fetched = 1u64 << (register_bits - self.alike().count_ones());
        let selects = match self.at {
            InputBit::Lane(_) => tensors << register_bits,
            _ => 0,
        };
        let shuffles = match self.shuffles() {
            true => element_bits.iter().map(|&bits| words(bits, fetched)).sum(),
            false => 0,
        };
        let shuffles_xor = if self.across().is_some() { shuffles } else { 0 };
        Counts { shuffles, shuffles_xor, selects, ..Counts::default() }
    }

    /// Returns the work of a warp for the step on 2^`register_bits` registers of a lane: a shuffle, a combining
    /// operation for each register that may be in the later half of a block, and selects. The chain is the shuffle, if
    /// there is one, a combining operation and, between lanes, a select.
    pub(super) fn work(&self, element_bits: &[u32], register_bits: u32) -> WarpWork {
        let counts = self.counts(element_bits, register_bits);
        let registers = 1u64 << register_bits;
        let (combined, waited) = match self.at {
            InputBit::Register(_) => (registers / 2, 1),
            _ => (registers, 2),
        };
        let selected = counts.selects / element_bits.len().max(1) as u64;
        let chain = Counts { selects: waited, ..WarpWork::from_counts(counts, 1).chain };
        let instructions = count_wide_instructions(element_bits, combined, selected);
        WarpWork { instructions, chain, counts, ..WarpWork::default() }
    }

    /// Returns the register that has the total of the earlier half (in the direction of the scan) of the block that
    /// contains the register `register`.
    fn source(&self, register: usize) -> usize {
        let (set, clear) = match (self.direction, self.at) {
            (ScanDirection::Forward, InputBit::Register(bit)) => (self.registers, 1 << bit),
            (ScanDirection::Forward, _) => (self.registers, 0),
            (ScanDirection::Reverse, InputBit::Register(bit)) => (1 << bit, self.registers),
            (ScanDirection::Reverse, _) => (0, self.registers),
        };
        (register | set) & !clear
    }

    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        thread: ThreadIndices,
        tuples: Vec<Vec<Value>>,
        combine: &mut EmitCombine,
    ) -> Vec<Vec<Value>> {
        let mut sources: Vec<usize> = (0..tuples.len()).map(|register| self.source(register)).collect();
        sources.sort_unstable();
        sources.dedup();
        let values: Vec<Vec<Value>> = sources.iter().map(|&source| tuples[source].clone()).collect();
        let fetched = match self.shuffles() {
            true => {
                let source = self.source_lane(builder, thread);
                emit_shuffle_tuples(builder, source, &values)
            }
            false => values,
        };
        let upper = match self.at {
            InputBit::Lane(bit) => Some(thread.parity(builder, 1 << bit)),
            _ => None,
        };
        let after = tuples.iter().enumerate().map(|(register, previous)| {
            if let InputBit::Register(bit) = self.at
                && (register >> bit & 1 == 1) != (self.direction == ScanDirection::Forward)
            {
                return previous.clone();
            }
            let at = sources.binary_search(&self.source(register)).unwrap_or(0);
            let sum = combine(builder, &fetched[at], previous);
            match upper {
                None => sum,
                Some(upper) => chosen(builder, upper, self.direction, &sum, previous),
            }
        });
        after.collect()
    }

    /// Returns the constant lane xor of the step's shuffle; `None` if the xor differs between lanes, or the target
    /// cannot shuffle by it. With a constant xor the lanes of the earlier half fetch a value too, and ignore it.
    fn across(&self) -> Option<u32> {
        match self.at {
            InputBit::Lane(bit) if self.lanes == 0 && self.xors.contains(1 << bit) => Some(1 << bit),
            _ => None,
        }
    }

    fn source_lane(&self, builder: &mut Builder, thread: ThreadIndices) -> Source {
        if let Some(mask) = self.across() {
            return Source::Across(mask);
        }
        let step_bit = match self.at {
            InputBit::Lane(bit) => 1u32 << bit,
            _ => 0,
        };
        Source::Lane(match self.direction {
            ScanDirection::Forward => thread.lane_with(builder, self.lanes, step_bit),
            ScanDirection::Reverse => thread.lane_with(builder, step_bit, self.lanes),
        })
    }
}

/// Emits a select for each value: lanes of the half that comes later in the scan get the value of `combined`, the
/// others keep that of `previous`. `upper` is true in lanes of the upper half.
fn chosen(
    builder: &mut Builder,
    upper: Value,
    direction: ScanDirection,
    combined: &[Value],
    previous: &[Value],
) -> Vec<Value> {
    let pairs = combined.iter().zip(previous);
    let choose = pairs.map(|(&combined, &previous)| match direction {
        ScanDirection::Forward => builder.select(upper, combined, previous),
        ScanDirection::Reverse => builder.select(upper, previous, combined),
    });
    choose.collect()
}

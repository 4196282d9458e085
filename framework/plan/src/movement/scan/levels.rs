//! One step of a scan within a warp: upper halves of blocks take in the totals of the lower halves.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_target::LaneXors;

use super::super::address::Thread;
use super::super::source::Source;
use super::super::tuples::{Combine, exchanged, words};
use super::ScanDirection;
use super::problem::{Held, Question};

/// The step for one bit of the axis.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Who holds the bit.
    at: Held,
    /// Register bits that hold lower bits of the axis.
    registers: usize,
    /// Lane bits that hold lower bits of the axis.
    lanes: u32,
    direction: ScanDirection,
    /// Numbers by which lanes that exchange may differ.
    xors: LaneXors,
}

impl Level {
    /// The steps within a warp.
    pub(super) fn all(problem: &Question, xors: LaneXors) -> Vec<Self> {
        let level = |bit: usize| {
            let (registers, lanes) = Question::masks(&problem.held[..bit]);
            Self { at: problem.held[bit], registers, lanes, direction: problem.direction, xors }
        };
        (0..problem.lower()).map(level).collect()
    }

    pub(super) fn exchanges(&self) -> bool {
        self.lanes != 0 || matches!(self.at, Held::Lane(_))
    }

    /// Register bits along which the fetched value is the same.
    fn alike(&self) -> usize {
        match self.at {
            Held::Register(bit) => self.registers | 1 << bit,
            _ => self.registers,
        }
    }

    pub(super) fn counts(&self, problem: &Question) -> Counts {
        let tensors = problem.element_bits.len() as u64;
        let fetched = 1u64 << (problem.register_bits - self.alike().count_ones());
        let selects = match self.at {
            Held::Lane(_) => tensors << problem.register_bits,
            _ => 0,
        };
        let exchanges = match self.exchanges() {
            true => problem.element_bits.iter().map(|&bits| words(bits, fetched)).sum(),
            false => 0,
        };
        let exchanges_xor = if self.across().is_some() { exchanges } else { 0 };
        Counts { exchanges, exchanges_xor, selects, ..Counts::default() }
    }

    /// The register from which a register's block takes the total of the half before.
    fn source(&self, register: usize) -> usize {
        let (set, clear) = match (self.direction, self.at) {
            (ScanDirection::Up, Held::Register(bit)) => (self.registers, 1 << bit),
            (ScanDirection::Up, _) => (self.registers, 0),
            (ScanDirection::Down, Held::Register(bit)) => (1 << bit, self.registers),
            (ScanDirection::Down, _) => (0, self.registers),
        };
        (register | set) & !clear
    }

    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        thread: Thread,
        tuples: Vec<Vec<Value>>,
        combine: &mut Combine,
    ) -> Vec<Vec<Value>> {
        let mut sources: Vec<usize> = (0..tuples.len()).map(|register| self.source(register)).collect();
        sources.sort_unstable();
        sources.dedup();
        let held: Vec<Vec<Value>> = sources.iter().map(|&source| tuples[source].clone()).collect();
        let fetched = match self.exchanges() {
            true => {
                let source = self.source_lane(builder, thread);
                exchanged(builder, source, &held)
            }
            false => held,
        };
        let upper = match self.at {
            Held::Lane(bit) => Some(thread.parity(builder, 1 << bit)),
            _ => None,
        };
        let after = tuples.iter().enumerate().map(|(register, own)| {
            if let Held::Register(bit) = self.at
                && (register >> bit & 1 == 1) != (self.direction == ScanDirection::Up)
            {
                return own.clone();
            }
            let at = sources.binary_search(&self.source(register)).unwrap_or(0);
            let sum = combine(builder, &fetched[at], own);
            match upper {
                None => sum,
                Some(upper) => chosen(builder, upper, self.direction, &sum, own),
            }
        });
        after.collect()
    }

    /// The number by which the lanes differ that fetch from each other, where it is the same for all. The
    /// half that takes nothing in then fetches from the other one too, which does no harm.
    fn across(&self) -> Option<u32> {
        match self.at {
            Held::Lane(bit) if self.lanes == 0 && self.xors.contains(1 << bit) => Some(1 << bit),
            _ => None,
        }
    }

    fn source_lane(&self, builder: &mut Builder, thread: Thread) -> Source {
        if let Some(mask) = self.across() {
            return Source::Across(mask);
        }
        let own = match self.at {
            Held::Lane(bit) => 1u32 << bit,
            _ => 0,
        };
        Source::Lane(match self.direction {
            ScanDirection::Up => thread.lane_with(builder, self.lanes, own),
            ScanDirection::Down => thread.lane_with(builder, own, self.lanes),
        })
    }
}

/// The sums in the half that takes in the other, the own values in the half that does not.
fn chosen(builder: &mut Builder, upper: Value, direction: ScanDirection, sum: &[Value], own: &[Value]) -> Vec<Value> {
    let pairs = sum.iter().zip(own);
    let choose = pairs.map(|(&sum, &own)| match direction {
        ScanDirection::Up => builder.select(upper, sum, own),
        ScanDirection::Down => builder.select(upper, own, sum),
    });
    choose.collect()
}

//! The ways of a reduction: where the parts of each result lie before and after they move, and where the
//! results lie before they are handed out, if they are.
//!
//! In one trip every lane reads all the parts of its results. In two trips each result is combined once: threads
//! of the warps that hold its parts share the results out, and the sums are handed out afterwards.

use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::LaneXors;

use super::lanes::{self, LaneStep};
use super::problem::{Question, assemble};

/// One way.
pub(super) struct Way {
    /// What is done between lanes before the parts move.
    pub(super) before: Vec<LaneStep>,
    /// The parts before they move: tensors of the results' shape with the parts along the axis.
    pub(super) src: LinearLayout,
    /// The parts after they moved.
    pub(super) dst: LinearLayout,
    /// Log2 of the parts that a lane combines in its registers after they moved.
    pub(super) parts_in_registers: u32,
    /// What is done between lanes after the parts moved.
    pub(super) after: Vec<LaneStep>,
    /// Where the results lie before they are handed out; absent where every lane has its own already.
    pub(super) left: Option<LinearLayout>,
}

/// Columns of results, or of parts, by the bits of each dim.
#[derive(Clone)]
struct Columns {
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
}

impl Way {
    /// All ways, those of one trip first.
    pub(super) fn all(problem: &Question) -> Result<Vec<Self>, LayoutError> {
        let mut all = Vec::new();
        for given in 0..=problem.most_given() {
            for in_lanes in 0..=problem.most_parts_in_lanes() {
                all.push(Self::one_trip(problem, given, in_lanes)?);
            }
            let in_lanes = (0..=problem.most_parts_in_all_lanes()).filter(|_| problem.part_bits > 0);
            for in_lanes in in_lanes {
                all.push(Self::two_trips(problem, given, in_lanes)?);
            }
        }
        Ok(all)
    }

    /// What is executed between lanes, before and after the parts move.
    pub(super) fn counts_of_lanes(&self, problem: &Question, xors: LaneXors) -> Counts {
        let of = |steps: &[LaneStep], registers| lanes::counts(steps, &problem.element_bits, registers, xors);
        let combined = self.dst.in_bits(Dim::REGISTER) - self.parts_in_registers;
        of(&self.before, problem.kept.len() as u32).plus(of(&self.after, combined))
    }

    /// One trip: the first `given` lane bits halve the registers, and `in_lanes` bits of the parts are read by
    /// different lanes, of those that have the same results.
    fn one_trip(problem: &Question, given: usize, in_lanes: usize) -> Result<Self, LayoutError> {
        let descriptor_match: Vec<usize> = problem.copy_lanes().map(|bit| bit as usize).take(in_lanes).collect();
        let mut results = problem.results();
        results.registers = problem.kept.iter().map(|&(_, column)| column).collect();
        let after = descriptor_match.iter().map(|&lane| LaneStep::Sum { lane: lane as u32, ordered: false }).collect();
        Self::new(problem, given, &descriptor_match, results, after, None)
    }

    /// Two trips: likewise, but each result goes to one thread of those warps that hold parts of it. Lanes that
    /// read different parts need not have the same results: what distinguishes theirs moves to those warps.
    fn two_trips(problem: &Question, given: usize, in_lanes: usize) -> Result<Self, LayoutError> {
        let mut results = problem.results();
        let others = (0..results.lanes.len()).rev().filter(|&bit| results.lanes[bit] != 0);
        let copies = problem.copy_lanes().map(|bit| bit as usize);
        let descriptor_match: Vec<usize> = copies.chain(others).take(in_lanes).collect();
        let displaced: Vec<u64> = descriptor_match
            .iter()
            .map(|&lane| std::mem::take(&mut results.lanes[lane]))
            .filter(|&column| column != 0)
            .collect();
        let mut free = results.warps.iter_mut().filter(|column| **column == 0);
        for column in displaced {
            if let Some(warp) = free.next() {
                *warp = column;
            }
        }
        for warp in free {
            *warp = results.registers.pop().unwrap_or(0);
        }
        let halved = descriptor_match.len().min(results.registers.len());
        let after = descriptor_match.iter().enumerate().map(|(at, &lane)| {
            let lane = lane as u32;
            if at < halved { LaneStep::Halve { lane } } else { LaneStep::Sum { lane, ordered: false } }
        });
        let after = after.collect();
        let mut left = results.clone();
        for (&lane, column) in descriptor_match.iter().zip(left.registers.drain(..halved)) {
            left.lanes[lane] = column;
        }
        Self::new(problem, given, &descriptor_match, results, after, Some(left))
    }

    fn new(
        problem: &Question,
        given: usize,
        descriptor_match: &[usize],
        results: Columns,
        after: Vec<LaneStep>,
        left: Option<Columns>,
    ) -> Result<Self, LayoutError> {
        let (space, shift) = problem.parts_space()?;
        let mut read = results;
        for (at, &lane) in descriptor_match.iter().enumerate() {
            read.lanes[lane] = 1 << (shift as usize + at);
        }
        let in_registers = (descriptor_match.len() as u32..problem.part_bits).map(|part| 1u64 << (shift + part));
        read.registers = in_registers.chain(read.registers).collect();
        Ok(Self {
            before: problem.lane_steps(given),
            src: problem.held(given).layout(problem, &space)?,
            dst: read.layout(problem, &space)?,
            parts_in_registers: problem.part_bits - descriptor_match.len() as u32,
            after,
            left: left.map(|left| left.layout(problem, problem.result.outs())).transpose()?,
        })
    }
}

impl Columns {
    fn layout(&self, problem: &Question, space: &Space) -> Result<LinearLayout, LayoutError> {
        assemble(&problem.result, space, |dim| match dim {
            Dim::REGISTER => self.registers.clone(),
            Dim::LANE => self.lanes.clone(),
            Dim::WARP => self.warps.clone(),
            _ => problem.blocks.clone(),
        })
    }
}

impl Question {
    /// The results of threads, each distinct register once.
    fn results(&self) -> Columns {
        Columns {
            registers: self.distinct_registers(),
            lanes: self.lanes.iter().map(|role| role.result).collect(),
            warps: self.warps.iter().map(|role| role.result).collect(),
        }
    }

    /// What threads hold when `given` lane bits have halved the registers.
    fn held(&self, given: usize) -> Columns {
        let shift = self.result.outs().bits();
        let halving: Vec<u32> = self.summing_lanes().take(given).collect();
        let given_lane = |bit: u32| halving.iter().position(|&lane| lane == bit).map(|at| self.kept[at].1);
        let lanes = (0u32..).zip(&self.lanes).map(|(bit, role)| given_lane(bit).unwrap_or(role.result));
        Columns {
            registers: self.kept[given..].iter().map(|&(_, column)| column).collect(),
            lanes: lanes.collect(),
            warps: self.warps.iter().map(|role| role.result | role.part << shift).collect(),
        }
    }

    /// The results' tensor with the parts along the axis, and the bit at which the parts begin.
    fn parts_space(&self) -> Result<(Space, u32), LayoutError> {
        let mut space = self.result.outs().clone();
        let shift = space.bits();
        space.push(self.axis, self.part_bits)?;
        Ok((space, shift))
    }
}

//! Candidates of a reduction. A candidate has the layouts of the partial results before and after their conversion,
//! and, if the results are broadcast, the layout of the results before.
//!
//! In one pass, every lane loads all partial results of the results that it needs. In two passes, each result is
//! combined once: the threads of the warps that hold its partial results divide the results among themselves, and a
//! second conversion broadcasts them.

use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::TargetDescription;

use crate::cost::WarpWork;
use crate::movement::PlanStats;

use super::lanes::{self, LaneStep};
use super::problem::{ReductionProblem, assemble};

/// One candidate of a reduction: the steps between lanes, and the layouts of the conversions between them.
pub(super) struct ReductionCandidate {
    /// The steps between lanes before the conversion of partial results.
    pub(super) before: Vec<LaneStep>,
    /// The source layout of the conversion of partial results. The converted tensor has the axes of the results and one
    /// more axis, which numbers the partial results of each result.
    pub(super) src: LinearLayout,
    /// The destination layout of the conversion of partial results, for the same tensor as `src`.
    pub(super) dst: LinearLayout,
    /// Log2 of the number of partial results that a lane combines in its registers after the conversion.
    pub(super) partial_bits_in_registers: u32,
    /// The steps between lanes after the conversion of partial results.
    pub(super) after: Vec<LaneStep>,
    /// The layout of the results before a last conversion; `None` if every lane has its results already.
    pub(super) left: Option<LinearLayout>,
}

/// The bases of a layout: for each register, lane and warp bit, the packed coordinate that it adds in a tensor of
/// results or of partial results.
#[derive(Clone)]
struct Columns {
    registers: Vec<u64>,
    lanes: Vec<u64>,
    warps: Vec<u64>,
}

impl ReductionCandidate {
    /// Returns all candidates. Candidates differ by the number of lane bits whose steps halve the registers; for each
    /// number those of one pass come first, then those of two passes.
    pub(super) fn all(problem: &ReductionProblem) -> Result<Vec<Self>, LayoutError> {
        let mut all = Vec::new();
        for given in 0..=problem.most_given() {
            for in_lanes in 0..=problem.max_partial_bits_in_equal_lanes() {
                all.push(Self::one_pass(problem, given, in_lanes)?);
            }
            let in_lanes = (0..=problem.max_partial_bits_in_lanes()).filter(|_| problem.partial_bits > 0);
            for in_lanes in in_lanes {
                all.push(Self::two_passes(problem, given, in_lanes)?);
            }
        }
        Ok(all)
    }

    /// Returns the counts of a warp, and the predicted cycles of a block, for all steps except the conversions: the
    /// steps between lanes, and the combination of the partial results that a lane loads.
    pub(super) fn stats_of_steps(&self, problem: &ReductionProblem, target: &TargetDescription) -> PlanStats {
        let xors = target.lane_xors(u32::BITS);
        let of = |steps: &[LaneStep], registers| lanes::work(steps, &problem.element_bits, registers, xors);
        let combined = self.dst.in_bits(Dim::REGISTER) - self.partial_bits_in_registers;
        let partials = (1u64 << self.partial_bits_in_registers) - 1;
        let in_registers = WarpWork {
            instructions: ((partials * problem.element_bits.len() as u64) << combined) as f64,
            chain: Counts { selects: partials, ..Counts::default() },
            ..WarpWork::default()
        };
        let steps = [of(&self.before, problem.kept.len() as u32), in_registers, of(&self.after, combined)];
        PlanStats {
            counts: steps.iter().fold(Counts::default(), |sum, step| sum.add_counts(step.counts)),
            cost: steps.iter().map(|step| step.block_cycles(1 << problem.warp_bits, target)).sum(),
            ..PlanStats::default()
        }
    }

    /// Returns a candidate of one pass. The steps of the first `given` lane bits halve the registers; among lanes with
    /// equal results, 2^`in_lanes` each load another share of the partial results.
    fn one_pass(problem: &ReductionProblem, given: usize, in_lanes: usize) -> Result<Self, LayoutError> {
        let sharing_lanes: Vec<usize> = problem.copy_lanes().map(|bit| bit as usize).take(in_lanes).collect();
        let mut results = problem.results();
        results.registers = problem.kept.iter().map(|&(_, column)| column).collect();
        let after = sharing_lanes.iter().map(|&lane| LaneStep::Sum { lane: lane as u32, ordered: false }).collect();
        Self::new(problem, given, &sharing_lanes, results, after, None)
    }

    /// Returns a candidate of two passes: as [`Self::one_pass`], but each result is combined by one thread of the warps
    /// that have its partial results. The lanes that load different shares need not have equal results: the bits by
    /// which their results differ move to the warps.
    fn two_passes(problem: &ReductionProblem, given: usize, in_lanes: usize) -> Result<Self, LayoutError> {
        let mut results = problem.results();
        let others = (0..results.lanes.len()).rev().filter(|&bit| results.lanes[bit] != 0);
        let copies = problem.copy_lanes().map(|bit| bit as usize);
        let sharing_lanes: Vec<usize> = copies.chain(others).take(in_lanes).collect();
        let displaced: Vec<u64> = sharing_lanes
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
        let halved = sharing_lanes.len().min(results.registers.len());
        let after = sharing_lanes.iter().enumerate().map(|(at, &lane)| {
            let lane = lane as u32;
            if at < halved { LaneStep::Halve { lane } } else { LaneStep::Sum { lane, ordered: false } }
        });
        let after = after.collect();
        let mut left = results.clone();
        for (&lane, column) in sharing_lanes.iter().zip(left.registers.drain(..halved)) {
            left.lanes[lane] = column;
        }
        Self::new(problem, given, &sharing_lanes, results, after, Some(left))
    }

    fn new(
        problem: &ReductionProblem,
        given: usize,
        sharing_lanes: &[usize],
        results: Columns,
        after: Vec<LaneStep>,
        left: Option<Columns>,
    ) -> Result<Self, LayoutError> {
        let (space, shift) = problem.partials_space()?;
        let mut read = results;
        for (at, &lane) in sharing_lanes.iter().enumerate() {
            read.lanes[lane] = 1 << (shift as usize + at);
        }
        let in_registers = (sharing_lanes.len() as u32..problem.partial_bits).map(|partial| 1u64 << (shift + partial));
        read.registers = in_registers.chain(read.registers).collect();
        let mut left = left.map(|left| left.layout(problem, problem.result.outs())).transpose()?;
        // Results that one warp has are converted to the required layout at once.
        let dst = if problem.partial_bits == 0 {
            LinearLayout::from_columns(problem.required.ins().clone(), space.clone(), problem.required.columns())?
        } else {
            if problem.is_converted() {
                left.get_or_insert_with(|| problem.result.clone());
            }
            read.layout(problem, &space)?
        };
        Ok(Self {
            before: problem.lane_steps(given),
            src: problem.after_halving(given).layout(problem, &space)?,
            dst,
            partial_bits_in_registers: problem.partial_bits - sharing_lanes.len() as u32,
            after,
            left,
        })
    }
}

impl Columns {
    fn layout(&self, problem: &ReductionProblem, space: &Space) -> Result<LinearLayout, LayoutError> {
        assemble(&problem.result, space, |dim| match dim {
            Dim::REGISTER => self.registers.clone(),
            Dim::LANE => self.lanes.clone(),
            Dim::WARP => self.warps.clone(),
            _ => problem.blocks.clone(),
        })
    }
}

impl ReductionProblem {
    /// Returns the bases of the layout of the results: the packed coordinate that each register, lane and warp bit
    /// adds. Linearly dependent register bits are left out.
    fn results(&self) -> Columns {
        Columns {
            registers: self.distinct_registers(),
            lanes: self.lanes.iter().map(|role| role.result).collect(),
            warps: self.warps.iter().map(|role| role.result).collect(),
        }
    }

    /// Returns the bases of the layout of the partial results, after the steps of `given` lane bits have halved the
    /// registers: the packed coordinate that each register, lane and warp bit adds.
    fn after_halving(&self, given: usize) -> Columns {
        let shift = self.result.outs().total_bits();
        let halving: Vec<u32> = self.summing_lanes().take(given).collect();
        let given_lane = |bit: u32| halving.iter().position(|&lane| lane == bit).map(|at| self.kept[at].1);
        let lanes = (0u32..).zip(&self.lanes).map(|(bit, role)| given_lane(bit).unwrap_or(role.result));
        Columns {
            registers: self.kept[given..].iter().map(|&(_, column)| column).collect(),
            lanes: lanes.collect(),
            warps: self.warps.iter().map(|role| role.result | role.partial << shift).collect(),
        }
    }

    /// Returns the space of the tensor of partial results: the axes of the results, and one more axis with the index of
    /// the partial result. Also returns the position of the first bit of that index in a packed coordinate.
    fn partials_space(&self) -> Result<(Space, u32), LayoutError> {
        let mut space = self.result.outs().clone();
        let shift = space.total_bits();
        space.push(self.axis, self.partial_bits)?;
        Ok((space, shift))
    }
}

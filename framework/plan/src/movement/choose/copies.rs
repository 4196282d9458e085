//! Copies from global memory that write consecutively what consecutive lanes fetch: memory follows what
//! they fetch, so it is swizzled by fetching other elements (seed 002). What that costs is units of
//! global memory.

use tilewright_layout::f2::{Columns, Subspace, multiply};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Direction, TargetDescription};

use super::super::{MovementError, access_global};
use super::accessor::ConsecutiveCopy;
use super::choice::{Fetch, Kind};
use super::linear::{Bounds, Search};
use super::problem::Question;
use super::weigh::{Proposal, Weigher};
use crate::layouts;

/// A copy that was checked.
pub(super) struct Copied {
    /// Which accessor it is.
    at: usize,
    copy: ConsecutiveCopy,
    /// The target as the copy has it: no wider accesses to global memory than its own.
    target: TargetDescription,
    /// The elements of a lane that follow each other, in coordinates.
    vector: Columns,
    /// What lanes move by.
    lanes: Columns,
    straight_units: u64,
}

impl Copied {
    pub(super) fn new(problem: &Question<'_>, at: usize, copy: &ConsecutiveCopy) -> Result<Self, MovementError> {
        let side = &problem.sides[at];
        let mut target = problem.target.clone();
        target.global.access_bits.retain(|&bits| bits <= copy.access_bits);
        let access = access_global(&side.layout, &copy.global, problem.element_bits, Direction::Load, &target)?;
        let registers = access.groups().first().map_or(&[][..], |group| group);
        let vector = (0..access.vector_elements.ilog2()).filter_map(|bit| registers.get(1 << bit));
        let vector: Columns = vector.map(|&register| multiply(side.registers(), register as u64)).collect();
        let mut space = Subspace::span(vector.iter().copied());
        if !side.lanes().iter().all(|&lane| space.insert(lane)) {
            let reason = "lanes of the copy fetch the same elements, so what it writes consecutively has them twice";
            return Err(MovementError::memory(reason));
        }
        let (copy, lanes) = (copy.clone(), side.lanes().into());
        Ok(Self { at, copy, target, vector, lanes, straight_units: access.transactions })
    }

    /// Log2 of the elements that a warp writes one after the other.
    pub(super) fn chunk_bits(&self) -> u32 {
        (self.vector.len() + self.lanes.len()) as u32
    }

    /// Memory as the copy fills it, once for each order of the axes by which its accesses follow each
    /// other.
    pub(super) fn straight(&self, problem: &Question<'_>) -> Vec<Columns> {
        let chunk: Columns = self.vector.iter().chain(&self.lanes).copied().collect();
        problem.bases_from(&chunk)
    }

    /// What each lane fetches so that memory has these offset columns.
    fn fetch(&self, problem: &Question<'_>, columns: &[u64]) -> Result<Fetch, MovementError> {
        let side = &problem.sides[self.at];
        let (vector, rest) = columns.split_at(self.vector.len());
        let (lanes, rest) = rest.split_at(self.lanes.len());
        let distinct = side.warps().iter().filter(|&&warp| warp != 0).count().min(rest.len());
        let (own, registers) = rest.split_at(distinct);
        let mut own = own.iter().copied();
        let warps: Columns = side.warps().iter().map(|&w| if w == 0 { 0 } else { own.next().unwrap_or(0) }).collect();
        let registers: Columns = vector.iter().chain(registers).copied().collect();
        let layout: LinearLayout = distributed(problem, &side.layout, &registers, lanes, &warps)?;
        let access = access_global(&layout, &self.copy.global, problem.element_bits, Direction::Load, &self.target)?;
        Ok(Fetch { layout, units: access.transactions, straight_units: self.straight_units })
    }
}

/// Weighs memory that others find swizzled because the copy fetches other elements: within what a warp
/// fetches at a time lanes change places, so that no more units of global memory are touched.
pub(super) fn search(weigher: &mut Weigher<'_>, copy: &Copied) {
    let problem = weigher.problem;
    let others: Vec<usize> = (0..problem.sides.len()).filter(|&at| at != copy.at).collect();
    let chunk: Columns = copy.vector.iter().chain(&copy.lanes).copied().collect();
    let (goal, budget) = (weigher.goal_without(copy.at), weigher.constraints.budget);
    let bounds = Bounds { fixed: &copy.vector, chunk: &chunk, goal, budget };
    for (_, columns) in Search::run(problem, &others, bounds) {
        match copy.fetch(problem, &columns) {
            Ok(fetch) => {
                let proposal = Proposal::new(Kind::PermutedGlobal, &columns);
                weigher.weigh(Proposal { fetch: Some((copy.at, fetch)), ..proposal });
            }
            Err(error) => weigher.close(Kind::PermutedGlobal, &error.to_string()),
        }
    }
}

/// A distributed layout of the question's tensor with the given columns of registers and threads.
fn distributed(
    problem: &Question<'_>,
    like: &LinearLayout,
    registers: &[u64],
    lanes: &[u64],
    warps: &[u64],
) -> Result<LinearLayout, LayoutError> {
    let [registers, lanes, warps] = [registers, lanes, warps]
        .map(|columns| columns.iter().map(|&column| problem.shown(column)).collect::<Columns>());
    let (own, blocks) = ([(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)], problem.blocks());
    layouts::of_dims(&[own.as_slice(), &[(Dim::BLOCK, blocks.into())]].concat(), like.outs())
}

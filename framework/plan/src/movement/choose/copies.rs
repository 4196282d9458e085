//! Layouts for copies from global memory that write the elements of consecutive lanes to consecutive addresses (such as
//! AMD LDS DMA). If the lanes of a warp permute the elements that they fetch, the shared memory becomes swizzled
//! (Triton Bespoke Layouts).

use tilewright_layout::f2::{Columns, Subspace, multiply_vector};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Direction, TargetDescription};

use super::super::{MovementError, plan_global_access};
use super::accessor::WarpAddressedSharedCopy;
use super::choice::{GlobalFetchLayout, SharedLayoutKind};
use super::linear::{Bounds, Search};
use super::problem::SharedLayoutProblem;
use super::weigh::{Proposal, Weigher};
use crate::layouts;

/// An accessor that is a copy from global memory with consecutive writes, and the elements that its lanes move in one
/// access.
pub(super) struct Copied {
    /// The index of the copy among the accessors.
    at: usize,
    copy: WarpAddressedSharedCopy,
    /// The target, restricted to accesses of global memory that are no wider than the copy's.
    target: TargetDescription,
    /// The bases of the index within a lane's access: for each of its bits, the element that the bit adds (over F2), in
    /// coordinates of the problem.
    vector: Columns,
    /// The bases of the lane index: for each lane bit, the element that it adds (over F2), in coordinates of the
    /// problem.
    lanes: Columns,
    straight_transactions: u64,
}

impl Copied {
    pub(super) fn new(
        problem: &SharedLayoutProblem<'_>,
        at: usize,
        copy: &WarpAddressedSharedCopy,
    ) -> Result<Self, MovementError> {
        let side = &problem.sides[at];
        let mut target = problem.target.clone();
        target.global.access_bits.retain(|&bits| bits <= copy.access_bits);
        target.global.alignment_bytes = None;
        let access = plan_global_access(&side.layout, &copy.global, problem.element_bits, Direction::Load, &target)?;
        let registers = access.register_groups().first().map_or(&[][..], |group| group);
        let vector = (0..access.vector_elements.ilog2()).filter_map(|bit| registers.get(1 << bit));
        let vector: Columns = vector.map(|&register| multiply_vector(side.registers(), register as u64)).collect();
        let mut space = Subspace::span(vector.iter().copied());
        if !side.lanes().iter().all(|&lane| space.insert(lane)) {
            let reason = "lanes of the copy fetch replicas, so its consecutive writes contain elements twice";
            return Err(MovementError::memory(reason));
        }
        let (copy, lanes) = (copy.clone(), side.lanes().into());
        Ok(Self { at, copy, target, vector, lanes, straight_transactions: access.transactions })
    }

    /// Returns log2 of the number of elements that a warp writes consecutively with one copy instruction (a chunk).
    pub(super) fn chunk_bits(&self) -> u32 {
        (self.vector.len() + self.lanes.len()) as u32
    }

    /// Returns the memory layouts that the copy fills if it fetches without a permutation, one for each order of the
    /// axes, each as the element of each offset bit.
    pub(super) fn straight(&self, problem: &SharedLayoutProblem<'_>) -> Vec<Columns> {
        let chunk: Columns = self.vector.iter().chain(&self.lanes).copied().collect();
        problem.bases_from(&chunk)
    }

    /// Returns the elements that each lane must fetch so that the memory has the element `columns[i]` at offset bit
    /// `i`, with the number of global-memory transactions of this copy.
    fn fetch(&self, problem: &SharedLayoutProblem<'_>, columns: &[u64]) -> Result<GlobalFetchLayout, MovementError> {
        let side = &problem.sides[self.at];
        let (vector, rest) = columns.split_at(self.vector.len());
        let (lanes, rest) = rest.split_at(self.lanes.len());
        let distinct = side.warps().iter().filter(|&&warp| warp != 0).count().min(rest.len());
        let (thread_columns, registers) = rest.split_at(distinct);
        let mut thread_columns = thread_columns.iter().copied();
        let warps: Columns =
            side.warps().iter().map(|&w| if w == 0 { 0 } else { thread_columns.next().unwrap_or(0) }).collect();
        let registers: Columns = vector.iter().chain(registers).copied().collect();
        let layout: LinearLayout = distributed(problem, &side.layout, &registers, lanes, &warps)?;
        let access =
            plan_global_access(&layout, &self.copy.global, problem.element_bits, Direction::Load, &self.target)?;
        Ok(GlobalFetchLayout {
            layout,
            transactions: access.transactions,
            straight_transactions: self.straight_transactions,
        })
    }
}

/// Weighs layouts whose copies swap fetched elements between the lanes of a warp, so that the other accessors see a
/// swizzled memory. The number of global-memory transactions does not grow.
pub(super) fn search(weigher: &mut Weigher<'_>, copy: &Copied) {
    let problem = weigher.problem;
    let others: Vec<usize> = (0..problem.sides.len()).filter(|&at| at != copy.at).collect();
    let chunk: Columns = copy.vector.iter().chain(&copy.lanes).copied().collect();
    let (goal, budget) = (weigher.goal_without(copy.at), weigher.constraints.budget);
    let bounds = Bounds { fixed: &copy.vector, chunk: &chunk, goal, budget };
    for (_, columns) in Search::run(problem, &others, bounds) {
        match copy.fetch(problem, &columns) {
            Ok(fetch) => {
                let proposal = Proposal::new(SharedLayoutKind::PermutedGlobal, &columns);
                weigher.weigh(Proposal { fetch: Some((copy.at, fetch)), ..proposal });
            }
            Err(error) => weigher.reject(SharedLayoutKind::PermutedGlobal, &error.to_string()),
        }
    }
}

/// Builds a distributed layout of the tensor; `registers`, `lanes` and `warps` have the bases of these dims, in
/// coordinates of the problem.
fn distributed(
    problem: &SharedLayoutProblem<'_>,
    like: &LinearLayout,
    registers: &[u64],
    lanes: &[u64],
    warps: &[u64],
) -> Result<LinearLayout, LayoutError> {
    let [registers, lanes, warps] = [registers, lanes, warps]
        .map(|columns| columns.iter().map(|&column| problem.tensor_column(column)).collect::<Columns>());
    let (thread_columns, blocks) =
        ([(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)], problem.blocks());
    layouts::of_dims(&[thread_columns.as_slice(), &[(Dim::BLOCK, blocks.into())]].concat(), like.outs())
}

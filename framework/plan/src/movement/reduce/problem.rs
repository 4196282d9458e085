//! What a reduction is asked: which bits of a position hold the axis, and what is left without it.

use tilewright_layout::f2::{Solver, Subspace};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::super::MovementError;
use super::lanes::LaneStep;
use crate::layouts;
use crate::movement::check::check_tuple;

/// A layout taken apart along an axis. Columns of results are packed coordinates of the tensor
/// without the axis.
pub(super) struct Question {
    pub(super) element_bits: Vec<u32>,
    /// Source register bits that are combined.
    summed: Vec<u32>,
    /// Source register bits that stay, with their columns of results.
    pub(super) kept: Vec<(u32, u64)>,
    pub(super) lanes: Vec<Role>,
    pub(super) warps: Vec<Role>,
    pub(super) blocks: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    /// Log2 of the parts of each result that warps hold.
    pub(super) part_bits: u32,
    /// The layout of the results.
    pub(super) result: LinearLayout,
    pub(super) axis: Dim,
}

/// What a lane or warp bit is to the reduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    /// Its column of results.
    pub(super) result: u64,
    /// Along the axis: the number of the part that it adds, counted among the bits of its kind that
    /// hold something of their own; zero where it holds copies.
    pub(super) part: u64,
    /// Whether no bit before it holds the same part.
    own: bool,
}

impl Question {
    pub(super) fn new(src: &LinearLayout, axis: Dim, element_bits: &[u32]) -> Result<Self, MovementError> {
        let src = check_tuple(src, axis, element_bits)?;
        let rest = Rest::new(&src, axis)?;
        let (mut axis_basis, mut summed, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (bit, &column) in (0u32..).zip(src.columns_of(Dim::REGISTER)) {
            let (along, result) = rest.split(&src, Dim::REGISTER, bit, column)?;
            if result != 0 {
                kept.push((bit, result));
            } else if Subspace::span(axis_basis.iter().copied()).contains(along) {
                // A copy of what other registers hold: one of them is enough.
            } else {
                axis_basis.push(along);
                summed.push(bit);
            }
        }
        let lanes = rest.roles(&src, Dim::LANE, &mut axis_basis)?;
        let warps = rest.roles(&src, Dim::WARP, &mut axis_basis)?;
        let blocks = rest.roles(&src, Dim::BLOCK, &mut axis_basis)?;
        if blocks.iter().any(|role| role.part != 0) {
            return Err(MovementError::impossible("blocks hold different parts of the axis"));
        }
        let part_bits = 64 - warps.iter().fold(0, |all, role| all | role.part).leading_zeros();
        let columns = |dim| match dim {
            Dim::REGISTER => kept.iter().map(|&(_, column)| column).collect(),
            Dim::LANE => lanes.iter().map(|role: &Role| role.result).collect(),
            Dim::WARP => warps.iter().map(|role: &Role| role.result).collect(),
            _ => blocks.iter().map(|role: &Role| role.result).collect::<Vec<u64>>(),
        };
        let result = assemble(&src, &rest.space, columns)?;
        let blocks = blocks.iter().map(|role| role.result).collect();
        let (lane_bits, warp_bits) = (src.in_bits(Dim::LANE), src.in_bits(Dim::WARP));
        let element_bits = element_bits.to_vec();
        Ok(Self { element_bits, summed, kept, lanes, warps, blocks, lane_bits, warp_bits, part_bits, result, axis })
    }

    /// Lane bits that hold parts of their own.
    pub(super) fn summing_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.lanes).filter(|(_, role)| role.own).map(|(bit, _)| bit)
    }

    /// Lane bits along which results are copies.
    pub(super) fn copy_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.lanes).filter(|(_, role)| role.result == 0).map(|(bit, _)| bit)
    }

    /// How many lane bits can take over a register bit while they combine.
    pub(super) fn most_given(&self) -> usize {
        self.summing_lanes().count().min(self.kept.len())
    }

    /// How many bits of the parts can be read by different lanes that have the same results.
    pub(super) fn most_parts_in_lanes(&self) -> usize {
        self.copy_lanes().count().min(self.part_bits as usize)
    }

    /// How many bits of the parts can be read by different lanes of any results.
    pub(super) fn most_parts_in_all_lanes(&self) -> usize {
        self.lanes.len().min(self.part_bits as usize)
    }

    /// Columns of kept registers without those that add nothing to the ones before.
    pub(super) fn distinct_registers(&self) -> Vec<u64> {
        let mut space = Subspace::zero();
        self.kept.iter().map(|&(_, column)| column).filter(|&column| space.insert(column)).collect()
    }

    /// Log2 of the different results of a lane.
    pub(super) fn distinct_kept(&self) -> u32 {
        self.distinct_registers().len() as u32
    }

    /// Log2 of the blocks that share the results among them.
    pub(super) fn block_bits(&self) -> u32 {
        Subspace::span(self.blocks.iter().copied()).dimension()
    }

    /// For every kept register the source registers that are combined into it.
    pub(super) fn sources(&self) -> Vec<Vec<usize>> {
        let spread = |index: usize, bits: &mut dyn Iterator<Item = u32>| {
            bits.enumerate().fold(0usize, |sum, (at, bit)| sum | (index >> at & 1) << bit)
        };
        let group = |kept: usize| {
            let base = spread(kept, &mut self.kept.iter().map(|&(bit, _)| bit));
            (0..1usize << self.summed.len()).map(|part| base | spread(part, &mut self.summed.iter().copied())).collect()
        };
        (0..1usize << self.kept.len()).map(group).collect()
    }

    /// What is done between lanes: the first `given` bits halve the registers, the others leave every
    /// lane with every sum.
    pub(super) fn lane_steps(&self, given: usize) -> Vec<LaneStep> {
        let step =
            |(at, lane)| if at < given { LaneStep::Halve { lane } } else { LaneStep::Sum { lane, ordered: false } };
        self.summing_lanes().enumerate().map(step).collect()
    }
}

/// A layout with the in dims of `like` and the given columns for each.
pub(super) fn assemble(
    like: &LinearLayout,
    outs: &Space,
    columns: impl Fn(Dim) -> Vec<u64>,
) -> Result<LinearLayout, LayoutError> {
    let mut dims: Vec<Dim> = like.ins().dims().collect();
    if !dims.contains(&Dim::REGISTER) {
        dims.insert(0, Dim::REGISTER);
    }
    layouts::of_dims(&dims.into_iter().map(|dim| (dim, columns(dim))).collect::<Vec<_>>(), outs)
}

/// The tensor without the axis.
struct Rest {
    axis: Dim,
    space: Space,
}

impl Rest {
    fn new(src: &LinearLayout, axis: Dim) -> Result<Self, LayoutError> {
        let mut space = Space::default();
        for (dim, bits) in src.outs().iter().filter(|&(dim, _)| dim != axis) {
            space.push(dim, bits)?;
        }
        Ok(Self { axis, space })
    }

    /// A column's part along the axis, and its column of results.
    fn split(&self, src: &LinearLayout, dim: Dim, bit: u32, column: u64) -> Result<(u64, u64), MovementError> {
        let along = src.outs().coordinate(column, self.axis);
        let others: Vec<_> = src.outs().unpack(column).filter(|&(dim, _)| dim != self.axis).collect();
        let result = self.space.pack(&others)?;
        if along != 0 && result != 0 {
            return Err(MovementError::MixedAxis { dim, bit, axis: self.axis });
        }
        Ok((along, result))
    }

    /// The roles of the bits of a dim; `basis` is what faster dims hold of the axis, and grows.
    fn roles(&self, src: &LinearLayout, dim: Dim, basis: &mut Vec<u64>) -> Result<Vec<Role>, MovementError> {
        let faster = basis.len();
        let mut roles = Vec::new();
        for (bit, &column) in (0u32..).zip(src.columns_of(dim)) {
            let (along, result) = self.split(src, dim, bit, column)?;
            let known = Solver::new(basis).solve(along);
            let part = known.unwrap_or_else(|| {
                basis.push(along);
                1 << (basis.len() - 1)
            });
            roles.push(Role { result, part: part >> faster, own: known.is_none() });
        }
        Ok(roles)
    }
}

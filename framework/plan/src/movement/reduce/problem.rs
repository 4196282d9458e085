//! The checked input of a reduction: the bits of a position that hold the axis, and the layout without the axis.

use tilewright_layout::f2::{Solver, Subspace};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::super::MovementError;
use super::lanes::LaneStep;
use crate::layouts;
use crate::movement::check::check_tuple;

/// A layout, divided into bits that move along the axis of a reduction and bits that do not. A result column is the
/// packed coordinate that a bit adds in the tensor without the axis.
pub(super) struct ReductionProblem {
    pub(super) element_bits: Vec<u32>,
    /// The source register bits along which elements are combined.
    summed: Vec<u32>,
    /// The source register bits that remain, each with its basis in the results: the packed coordinate that it adds.
    pub(super) kept: Vec<(u32, u64)>,
    pub(super) lanes: Vec<Role>,
    pub(super) warps: Vec<Role>,
    pub(super) blocks: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    /// Log2 of the number of partial results of each result that different warps hold.
    pub(super) partial_bits: u32,
    /// The layout of the results: the source's without the axis.
    pub(super) result: LinearLayout,
    /// The layout that is required of the results; [`Self::result`] unless another one is given.
    pub(super) required: LinearLayout,
    pub(super) axis: Dim,
}

/// The role of a lane or warp bit in the reduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    /// The packed coordinate of the results that the bit adds; zero if the bit only moves along the axis, or numbers
    /// replicas.
    pub(super) result: u64,
    /// The bit of the partial result's index that this lane or warp bit sets. Indices are counted separately for lanes
    /// and for warps, over the bits that hold different data; zero for a bit that holds replicas.
    pub(super) partial: u64,
    /// Whether no earlier bit holds the same partial results.
    own: bool,
}

impl ReductionProblem {
    pub(super) fn new(src: &LinearLayout, axis: Dim, element_bits: &[u32]) -> Result<Self, MovementError> {
        let src = check_tuple(src, axis, element_bits)?;
        let rest = Rest::new(&src, axis)?;
        let (mut axis_basis, mut summed, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (bit, &column) in (0u32..).zip(src.columns_of(Dim::REGISTER)) {
            let (along, result) = rest.split(&src, Dim::REGISTER, bit, column)?;
            if result != 0 {
                kept.push((bit, result));
            } else if Subspace::span(axis_basis.iter().copied()).contains(along) {
                // The register only replicates others, so it adds no element.
            } else {
                axis_basis.push(along);
                summed.push(bit);
            }
        }
        let lanes = rest.roles(&src, Dim::LANE, &mut axis_basis)?;
        let warps = rest.roles(&src, Dim::WARP, &mut axis_basis)?;
        let blocks = rest.roles(&src, Dim::BLOCK, &mut axis_basis)?;
        if blocks.iter().any(|role| role.partial != 0) {
            return Err(MovementError::impossible("blocks have different parts of the axis"));
        }
        let partial_bits = 64 - warps.iter().fold(0, |all, role| all | role.partial).leading_zeros();
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
        let required = result.clone();
        Ok(Self {
            element_bits,
            summed,
            kept,
            lanes,
            warps,
            blocks,
            lane_bits,
            warp_bits,
            partial_bits,
            result,
            required,
            axis,
        })
    }

    /// Returns the same reduction with the layout that is required of the results. Its axes are the remaining ones in
    /// order, numbered from 0.
    pub(super) fn with_required_layout(self, required: &LinearLayout) -> Result<Self, MovementError> {
        let space = self.result.outs();
        let mut axes: Vec<Dim> = space.dims().collect();
        axes.sort_unstable();
        let renamed = |&column: &u64| {
            let at = |(index, &axis)| (axis, required.outs().coordinate(column, Dim::tensor(index)));
            space.pack(&axes.iter().enumerate().map(at).collect::<Vec<_>>())
        };
        let columns = required.columns().iter().map(renamed).collect::<Result<Vec<_>, _>>()?;
        let required = LinearLayout::from_columns(required.ins().clone(), space.clone(), &columns)?;
        Ok(Self { required, ..self })
    }

    /// Whether the results are required in another layout than the source's without the axis.
    pub(super) fn is_converted(&self) -> bool {
        self.required != self.result
    }

    /// Returns the lane bits along which lanes have different partial results of the same results; the reduction
    /// combines them.
    pub(super) fn summing_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.lanes).filter(|(_, role)| role.own).map(|(bit, _)| bit)
    }

    /// Returns the lane bits along which lanes hold replicas of the same results.
    pub(super) fn copy_lanes(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.lanes).filter(|(_, role)| role.result == 0).map(|(bit, _)| bit)
    }

    /// Returns the max number of lane bits whose step can halve the registers.
    pub(super) fn most_given(&self) -> usize {
        self.summing_lanes().count().min(self.kept.len())
    }

    /// Returns log2 of the max number of shares of the partial results that lanes with equal results can load
    /// separately.
    pub(super) fn max_partial_bits_in_equal_lanes(&self) -> usize {
        self.copy_lanes().count().min(self.partial_bits as usize)
    }

    /// Returns log2 of the max number of shares of the partial results that lanes with equal or different results can
    /// load separately.
    pub(super) fn max_partial_bits_in_lanes(&self) -> usize {
        self.lanes.len().min(self.partial_bits as usize)
    }

    /// Returns the bases of the remaining register bits in the tensor of results, without linearly dependent ones.
    pub(super) fn distinct_registers(&self) -> Vec<u64> {
        let mut space = Subspace::zero();
        self.kept.iter().map(|&(_, column)| column).filter(|&column| space.insert(column)).collect()
    }

    /// Returns log2 of the number of distinct results in the registers of one lane.
    pub(super) fn distinct_kept(&self) -> u32 {
        self.distinct_registers().len() as u32
    }

    /// Returns log2 of the number of blocks among which the results are divided.
    pub(super) fn block_bits(&self) -> u32 {
        Subspace::span(self.blocks.iter().copied()).dimension()
    }

    /// Returns, for each remaining register, the source registers that are combined into it.
    pub(super) fn sources(&self) -> Vec<Vec<usize>> {
        let spread = |index: usize, bits: &mut dyn Iterator<Item = u32>| {
            bits.enumerate().fold(0usize, |sum, (at, bit)| sum | (index >> at & 1) << bit)
        };
        let group = |kept: usize| {
            let base = spread(kept, &mut self.kept.iter().map(|&(bit, _)| bit));
            (0..1usize << self.summed.len())
                .map(|partial| base | spread(partial, &mut self.summed.iter().copied()))
                .collect()
        };
        (0..1usize << self.kept.len()).map(group).collect()
    }

    /// Returns the steps between lanes: those of the first `given` lane bits halve the registers, the others leave all
    /// results in every lane.
    pub(super) fn lane_steps(&self, given: usize) -> Vec<LaneStep> {
        let step =
            |(at, lane)| if at < given { LaneStep::Halve { lane } } else { LaneStep::Sum { lane, ordered: false } };
        self.summing_lanes().enumerate().map(step).collect()
    }
}

/// Builds a layout of a tensor with the axes `outs` and the input dims of `like`; `columns` returns the columns of each
/// dim.
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

/// The axis of a reduction, and the space of the other axes of the source tensor.
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

    /// Splits a column into the distance along the axis and the packed coordinate without the axis; an error if both
    /// are nonzero. `bit` of `dim` is the column's input bit, for the error.
    fn split(&self, src: &LinearLayout, dim: Dim, bit: u32, column: u64) -> Result<(u64, u64), MovementError> {
        let along = src.outs().coordinate(column, self.axis);
        let others: Vec<_> = src.outs().unpack(column).filter(|&(dim, _)| dim != self.axis).collect();
        let result = self.space.pack(&others)?;
        if along != 0 && result != 0 {
            return Err(MovementError::MixedAxis { dim, bit, axis: self.axis });
        }
        Ok((along, result))
    }

    /// Returns the role of each bit of the input dim `dim`. `basis` has the distances along the axis that registers and
    /// earlier dims cover; the function adds those that this dim covers.
    fn roles(&self, src: &LinearLayout, dim: Dim, basis: &mut Vec<u64>) -> Result<Vec<Role>, MovementError> {
        let faster = basis.len();
        let mut roles = Vec::new();
        for (bit, &column) in (0u32..).zip(src.columns_of(dim)) {
            let (along, result) = self.split(src, dim, bit, column)?;
            let known = Solver::new(basis).solve(along);
            let partial = known.unwrap_or_else(|| {
                basis.push(along);
                1 << (basis.len() - 1)
            });
            roles.push(Role { result, partial: partial >> faster, own: known.is_none() });
        }
        Ok(roles)
    }
}

//! The checked input of a gather, in the coordinates of the source.

use crate::layouts;
use crate::movement::MovementError;
use crate::movement::check::{check_hardware, check_size};
use crate::movement::conversion::{Holders, Origin, Position};
use tilewright_kernel::Element;
use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LayoutError, LinearLayout};

/// A checked gather: the source, and for each position of the result its line in the source.
pub(super) struct GatherProblem {
    pub(super) src: LinearLayout,
    axis: Dim,
    pub(super) element: Element,
    /// For each register bit of the result's layout, the packed coordinate (of the source without the axis) that it
    /// adds over F2.
    pub(super) registers: Vec<u64>,
    pub(super) threads: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
}

impl GatherProblem {
    pub(super) fn new(
        src: &LinearLayout,
        indices: &LinearLayout,
        axis: Dim,
        element: Element,
    ) -> Result<Self, MovementError> {
        for layout in [src, indices] {
            if !layout.outs().contains(axis) {
                return Err(LayoutError::NoSuchDim { dim: axis }.into());
            }
            check_size("tensor", layout)?;
        }
        for (dim, left) in src.outs().iter().filter(|&(dim, _)| dim != axis) {
            let right = indices.out_bits(dim);
            if left != right || !indices.outs().contains(dim) {
                return Err(LayoutError::SizeMismatch { dim, left, right }.into());
            }
        }
        check_hardware(src, indices)?;
        if src.in_bits(Dim::BLOCK) > 0 && src.columns_of(Dim::BLOCK) != indices.columns_of(Dim::BLOCK) {
            return Err(MovementError::impossible("lines cross blocks"));
        }
        let src = src.clone().require_surjective()?;
        let line = |&column: &u64| -> Result<u64, LayoutError> {
            let at: Vec<_> = indices.outs().unpack(column).filter(|&(dim, _)| dim != axis).collect();
            src.outs().pack(&at)
        };
        let columns = |dim| indices.columns_of(dim).iter().map(line).collect::<Result<Vec<_>, _>>();
        let threads = [columns(Dim::LANE)?, columns(Dim::WARP)?].concat();
        let (lane_bits, warp_bits) = (src.in_bits(Dim::LANE), src.in_bits(Dim::WARP));
        Ok(Self { registers: columns(Dim::REGISTER)?, threads, src, axis, element, lane_bits, warp_bits })
    }

    /// Returns the same gather with another layout of the source.
    pub(super) fn with_source(&self, src: &LinearLayout, indices: &LinearLayout) -> Result<Self, MovementError> {
        Self::new(src, indices, self.axis, self.element)
    }

    /// Returns, for each bit of the index along the axis, the packed coordinate of the source that it stands for.
    pub(super) fn axis_units(&self) -> Vec<u64> {
        layouts::units(self.src.outs(), self.axis).collect()
    }

    /// Whether each warp alone has all elements that its threads need; no element has replicas in other warps.
    pub(super) fn stays_in_warps(&self) -> bool {
        let lanes = (1u64 << self.lane_bits) - 1;
        let own = [self.src.columns_of(Dim::REGISTER), self.src.columns_of(Dim::LANE)].concat();
        let mut span = Subspace::span(own);
        let has_no_replicas = self.src.columns_of(Dim::WARP).iter().all(|&column| span.insert(column));
        has_no_replicas
            && self.origin().is_some_and(|(origin, index)| {
                !origin.crosses_warps(lanes) && index.iter().all(|position| position.thread & !lanes == 0)
            })
    }

    /// Returns the source position that each bit of a result's position adds, and the source position that each bit of
    /// the index adds. Of several replicas the one in the same thread is taken if there is one. `None` if a block does
    /// not hold the elements that it needs.
    pub(super) fn origin(&self) -> Option<(Origin, Vec<Position>)> {
        let own = [self.src.columns_of(Dim::LANE), self.src.columns_of(Dim::WARP)].concat();
        let holders = Holders::new(self.src.columns_of(Dim::REGISTER), &own);
        let of_threads = self.threads.iter().enumerate().map(|(bit, &column)| holders.nearest(bit, column));
        let origin = Origin {
            of_registers: self.registers.iter().map(|&column| holders.find(column)).collect::<Option<_>>()?,
            of_threads: of_threads.collect::<Option<_>>()?,
        };
        let index = self.axis_units().into_iter().map(|column| holders.find(column));
        Some((origin, index.collect::<Option<_>>()?))
    }
}

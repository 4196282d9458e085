//! The layouts of a gather, checked, and where each bit of them leads in the source.

use crate::movement::conversion::Position;
use crate::movement::{MovementError, check_size};
use tilewright_kernel::Element;
use tilewright_layout::f2::Solver;
use tilewright_layout::{Dim, LayoutError, LinearLayout};

/// Where elements come from: the source position of each bit of a result's place and of the index.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) registers: Vec<Position>,
    pub(super) threads: Vec<Position>,
    pub(super) index: Vec<Position>,
}

/// A checked gather.
pub(super) struct Question {
    pub(super) src: LinearLayout,
    axis: Dim,
    pub(super) element: Element,
    /// Columns of results without the axis, in the source's coordinates.
    pub(super) registers: Vec<u64>,
    pub(super) threads: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
}

impl Question {
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
        for dim in [Dim::LANE, Dim::WARP, Dim::BLOCK] {
            let (src, dst) = (src.in_bits(dim), indices.in_bits(dim));
            if src != dst {
                return Err(MovementError::Hardware { dim, src, dst });
            }
        }
        if src.in_bits(Dim::BLOCK) > 0 && src.columns_of(Dim::BLOCK) != indices.columns_of(Dim::BLOCK) {
            return Err(MovementError::Impossible { reasons: "lines cross blocks".to_owned() });
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

    /// The packed coordinates of the axis bits.
    pub(super) fn axis_units(&self) -> Vec<u64> {
        let shift = self.src.outs().shift_of(self.axis).unwrap_or(0);
        (0..self.src.out_bits(self.axis)).map(|bit| 1u64 << (shift + bit)).collect()
    }

    /// Where each bit leads in the source; copies in the same thread are the nearest.
    pub(super) fn origin(&self) -> Option<Origin> {
        let own = [self.src.columns_of(Dim::LANE), self.src.columns_of(Dim::WARP)].concat();
        let registers = self.src.columns_of(Dim::REGISTER);
        let columns: Vec<u64> = registers.iter().chain(&own).copied().collect();
        let solver = Solver::new(&columns);
        let bits = registers.len() as u32;
        let position = |solution: u64| Position { register: solution & ((1 << bits) - 1), thread: solution >> bits };
        let source = |column: u64| solver.solve(column).map(position);
        let of_thread = |(bit, &column): (usize, &u64)| {
            let here = 1u64 << bit;
            match own[bit] {
                same if same == column => Some(Position { register: 0, thread: here }),
                0 => source(column).map(|found| Position { thread: found.thread | here, ..found }),
                _ => source(column),
            }
        };
        Some(Origin {
            registers: self.registers.iter().map(|&column| source(column)).collect::<Option<_>>()?,
            threads: self.threads.iter().enumerate().map(of_thread).collect::<Option<_>>()?,
            index: self.axis_units().into_iter().map(source).collect::<Option<_>>()?,
        })
    }
}

//! The checked input of a scan: the position bit that holds each bit of the axis.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::ScanDirection;
use crate::layouts;
use crate::movement::MovementError;
use crate::movement::check::check_tuple;

/// A position bit (bit of the register, lane or warp index) that holds a bit of the coordinate along the scan's axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputBit {
    /// The register bit with this index.
    Register(u32),
    /// The lane bit with this index.
    Lane(u32),
    /// The warp bit with this index.
    Warp(u32),
}

pub(super) struct ScanProblem {
    pub(super) src: LinearLayout,
    axis: Dim,
    pub(super) element_bits: Vec<u32>,
    pub(super) direction: ScanDirection,
    /// The position bit that holds each bit of the axis, the lowest axis bit first.
    pub(super) input_bits: Vec<InputBit>,
    pub(super) register_bits: u32,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
}

impl ScanProblem {
    pub(super) fn new(
        src: &LinearLayout,
        axis: Dim,
        element_bits: &[u32],
        direction: ScanDirection,
    ) -> Result<Self, MovementError> {
        let src = check_tuple(src, axis, element_bits)?;
        let mut input_bits: Vec<Option<InputBit>> = vec![None; src.out_bits(axis) as usize];
        for dim in src.ins().dims() {
            for (bit, &column) in (0u32..).zip(src.columns_of(dim)) {
                let along = src.outs().coordinate(column, axis);
                if along == 0 {
                    continue;
                }
                let input_bit = match dim {
                    Dim::REGISTER => InputBit::Register(bit),
                    Dim::LANE => InputBit::Lane(bit),
                    Dim::WARP => InputBit::Warp(bit),
                    _ => return Err(crossing_blocks()),
                };
                let alone = along.is_power_of_two() && column == src.outs().pack(&[(axis, along)])?;
                let axis_bits = &mut input_bits[along.trailing_zeros() as usize];
                if !alone || axis_bits.is_some() {
                    return Err(MovementError::MixedAxis { dim, bit, axis });
                }
                *axis_bits = Some(input_bit);
            }
        }
        // The layout is surjective and each basis moves along one bit, so every bit of the axis is held by a position
        // bit.
        let input_bits = input_bits.into_iter().flatten().collect();
        let element_bits = element_bits.to_vec();
        let (register_bits, lane_bits) = (src.in_bits(Dim::REGISTER), src.in_bits(Dim::LANE));
        let warp_bits = src.in_bits(Dim::WARP);
        Ok(Self { src, axis, element_bits, direction, input_bits, register_bits, lane_bits, warp_bits })
    }

    /// Returns the number of axis bits below the first axis bit that warps hold; the scan of these bits stays within
    /// warps.
    pub(super) fn lower(&self) -> usize {
        self.input_bits
            .iter()
            .position(|input_bit| matches!(input_bit, InputBit::Warp(_)))
            .unwrap_or(self.input_bits.len())
    }

    /// Returns the min number of shuffles in sequence: each shuffle doubles the number of lanes on which a value
    /// depends.
    pub(super) fn depth(&self) -> u64 {
        self.input_bits.iter().filter(|input_bit| matches!(input_bit, InputBit::Lane(_))).count() as u64
    }

    /// Returns the mask of the register bits, and the mask of the lane bits, that occur in `input_bits`.
    pub(super) fn masks(input_bits: &[InputBit]) -> (usize, u32) {
        input_bits.iter().fold((0, 0), |(registers, lanes), input_bit| match input_bit {
            InputBit::Register(bit) => (registers | 1 << bit, lanes),
            InputBit::Lane(bit) => (registers, lanes | 1 << bit),
            InputBit::Warp(_) => (registers, lanes),
        })
    }

    /// Returns two layouts of the tensor of block totals, for blocks of `2^lower` elements: the layout after the steps
    /// within warps, and a layout that gives every lane all totals of its lines (a line is the elements that differ
    /// only along the axis).
    pub(super) fn ends(&self, lower: usize) -> Result<(LinearLayout, LinearLayout), MovementError> {
        let blocks = self.input_bits.len() - lower;
        let sized =
            self.src.outs().iter().map(|(dim, bits)| (dim, if dim == self.axis { blocks as u32 } else { bits }));
        let mut outs = Space::default();
        for (dim, bits) in sized {
            outs.push(dim, bits)?;
        }
        let column = |column: u64, removes_axis: bool| -> Result<u64, LayoutError> {
            let coordinates: Vec<_> = self.src.outs().unpack(column).collect();
            let coordinates = coordinates.into_iter().map(|(dim, at)| match dim == self.axis {
                true => (dim, if removes_axis { 0 } else { at >> lower }),
                false => (dim, at),
            });
            outs.pack(&coordinates.collect::<Vec<_>>())
        };
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (low, _) = Self::masks(&self.input_bits[..lower]);
        for dim in self.src.ins().dims() {
            let axis_bits = self.src.columns_of(dim);
            let is_register = dim == Dim::REGISTER;
            let (mut before, mut after) = (Vec::new(), Vec::new());
            if is_register {
                after.extend(layouts::units(&outs, self.axis));
            }
            for (bit, &axis_bits) in axis_bits.iter().enumerate() {
                if !is_register || low >> bit & 1 == 0 {
                    before.push(column(axis_bits, false)?);
                }
                if !is_register || !self.input_bits.contains(&InputBit::Register(bit as u32)) {
                    after.push(column(axis_bits, true)?);
                }
            }
            from.push((dim, before));
            to.push((dim, after));
        }
        Ok((layouts::of_dims(&from, &outs)?, layouts::of_dims(&to, &outs)?))
    }

    /// Returns a layout of the same tensor and block with whole lines (all elements along the axis) in every lane.
    /// `None` if lanes have whole lines already, if a lane would have more registers than before and more than 256, or
    /// if blocks divide the tensor.
    pub(super) fn lines_in_registers(&self) -> Option<LinearLayout> {
        let outs = self.src.outs();
        let blocks = self.src.columns_of(Dim::BLOCK);
        if self.depth() == 0 && self.lower() == self.input_bits.len() || blocks.iter().any(|&column| column != 0) {
            return None;
        }
        let others = outs.dims().filter(|&dim| dim != self.axis);
        let mut others = others.flat_map(|dim| layouts::units(outs, dim));
        let [lanes, warps] = [Dim::LANE, Dim::WARP].map(|dim| {
            let bits = self.src.in_bits(dim) as usize;
            let mut columns: Vec<u64> = others.by_ref().take(bits).collect();
            columns.resize(bits, 0);
            columns
        });
        let registers: Vec<u64> = layouts::units(outs, self.axis).chain(others).collect();
        if registers.len() as u32 > self.register_bits.max(8) {
            return None;
        }
        let dims = self.src.ins().dims().map(|dim| match dim {
            Dim::REGISTER => (dim, registers.as_slice()),
            Dim::LANE => (dim, lanes.as_slice()),
            Dim::WARP => (dim, warps.as_slice()),
            _ => (dim, blocks),
        });
        layouts::of_dims(&dims.collect::<Vec<_>>(), outs).ok()
    }
}

fn crossing_blocks() -> MovementError {
    MovementError::impossible("blocks have different parts of the axis")
}

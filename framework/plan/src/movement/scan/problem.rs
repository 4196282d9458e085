//! What a scan is asked: which position bit holds each bit of the axis.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::ScanDirection;
use crate::layouts;
use crate::movement::MovementError;
use crate::movement::check::check_tuple;

/// Where a bit of the axis is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// By a register bit.
    Register(u32),
    /// By a lane bit.
    Lane(u32),
    /// By a warp bit.
    Warp(u32),
}

pub(super) struct Question {
    pub(super) src: LinearLayout,
    axis: Dim,
    pub(super) element_bits: Vec<u32>,
    pub(super) direction: ScanDirection,
    /// Who holds each bit of the axis, the lowest first.
    pub(super) held: Vec<Held>,
    pub(super) register_bits: u32,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
}

impl Question {
    pub(super) fn new(
        src: &LinearLayout,
        axis: Dim,
        element_bits: &[u32],
        direction: ScanDirection,
    ) -> Result<Self, MovementError> {
        let src = check_tuple(src, axis, element_bits)?;
        let mut held: Vec<Option<Held>> = vec![None; src.out_bits(axis) as usize];
        for dim in src.ins().dims() {
            for (bit, &column) in (0u32..).zip(src.columns_of(dim)) {
                let along = src.outs().coordinate(column, axis);
                if along == 0 {
                    continue;
                }
                let place = match dim {
                    Dim::REGISTER => Held::Register(bit),
                    Dim::LANE => Held::Lane(bit),
                    Dim::WARP => Held::Warp(bit),
                    _ => return Err(crossing_blocks()),
                };
                let alone = along.is_power_of_two() && column == src.outs().pack(&[(axis, along)])?;
                let own = &mut held[along.trailing_zeros() as usize];
                if !alone || own.is_some() {
                    return Err(MovementError::MixedAxis { dim, bit, axis });
                }
                *own = Some(place);
            }
        }
        // A surjective layout of units holds every bit of the axis.
        let held = held.into_iter().flatten().collect();
        let element_bits = element_bits.to_vec();
        let (register_bits, lane_bits) = (src.in_bits(Dim::REGISTER), src.in_bits(Dim::LANE));
        let warp_bits = src.in_bits(Dim::WARP);
        Ok(Self { src, axis, element_bits, direction, held, register_bits, lane_bits, warp_bits })
    }

    /// How many axis bits are scanned before warps take part.
    pub(super) fn lower(&self) -> usize {
        self.held.iter().position(|held| matches!(held, Held::Warp(_))).unwrap_or(self.held.len())
    }

    /// Exchanges that one value needs at least: each doubles the lanes that it depends on.
    pub(super) fn depth(&self) -> u64 {
        self.held.iter().filter(|held| matches!(held, Held::Lane(_))).count() as u64
    }

    /// The bits of registers and of lanes among axis bits, as masks.
    pub(super) fn masks(held: &[Held]) -> (usize, u32) {
        held.iter().fold((0, 0), |(registers, lanes), held| match held {
            Held::Register(bit) => (registers | 1 << bit, lanes),
            Held::Lane(bit) => (registers, lanes | 1 << bit),
            Held::Warp(_) => (registers, lanes),
        })
    }

    /// The layouts of the totals of blocks of `2^lower` elements: where they are, and where every lane
    /// has all those of its lines.
    pub(super) fn ends(&self, lower: usize) -> Result<(LinearLayout, LinearLayout), MovementError> {
        let blocks = self.held.len() - lower;
        let sized =
            self.src.outs().iter().map(|(dim, bits)| (dim, if dim == self.axis { blocks as u32 } else { bits }));
        let mut outs = Space::default();
        for (dim, bits) in sized {
            outs.push(dim, bits)?;
        }
        let column = |column: u64, all_parts: bool| -> Result<u64, LayoutError> {
            let places: Vec<_> = self.src.outs().unpack(column).collect();
            let places = places.into_iter().map(|(dim, at)| match dim == self.axis {
                true => (dim, if all_parts { 0 } else { at >> lower }),
                false => (dim, at),
            });
            outs.pack(&places.collect::<Vec<_>>())
        };
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (low, _) = Self::masks(&self.held[..lower]);
        for dim in self.src.ins().dims() {
            let own = self.src.columns_of(dim);
            let is_register = dim == Dim::REGISTER;
            let (mut before, mut after) = (Vec::new(), Vec::new());
            if is_register {
                after.extend(layouts::units(&outs, self.axis));
            }
            for (bit, &own) in own.iter().enumerate() {
                if !is_register || low >> bit & 1 == 0 {
                    before.push(column(own, false)?);
                }
                if !is_register || !self.held.contains(&Held::Register(bit as u32)) {
                    after.push(column(own, true)?);
                }
            }
            from.push((dim, before));
            to.push((dim, after));
        }
        Ok((layouts::of_dims(&from, &outs)?, layouts::of_dims(&to, &outs)?))
    }

    /// A layout of the same tensor and block in which every lane holds whole lines; `None` where a
    /// lane would hold more than 256 elements more than now, or blocks share the tensor.
    pub(super) fn lines_in_registers(&self) -> Option<LinearLayout> {
        let outs = self.src.outs();
        let blocks = self.src.columns_of(Dim::BLOCK);
        if self.depth() == 0 && self.lower() == self.held.len() || blocks.iter().any(|&column| column != 0) {
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
    MovementError::impossible("blocks hold different parts of the axis")
}

//! What a scan is asked: which position bit holds each bit of the axis.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::ScanDirection;
use crate::movement::{MovementError, check_size};

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
        if !src.outs().contains(axis) {
            return Err(LayoutError::NoSuchDim { dim: axis }.into());
        }
        if element_bits.is_empty() {
            return Err(MovementError::NoTensors);
        }
        check_size("tensor", src)?;
        let src = src.clone().require_surjective()?;
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
        let (mut src_ins, mut dst_ins) = (Space::default(), Space::default());
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (low, _) = Self::masks(&self.held[..lower]);
        for dim in self.src.ins().dims() {
            let own = self.src.columns_of(dim);
            let is_register = dim == Dim::REGISTER;
            let (mut before, mut after) = (Vec::new(), Vec::new());
            if is_register {
                let shift = outs.shift_of(self.axis).unwrap_or(0);
                after.extend((0..blocks).map(|part| 1u64 << (shift as usize + part)));
            }
            for (bit, &own) in own.iter().enumerate() {
                if !is_register || low >> bit & 1 == 0 {
                    before.push(column(own, false)?);
                }
                if !is_register || !self.held.contains(&Held::Register(bit as u32)) {
                    after.push(column(own, true)?);
                }
            }
            src_ins.push(dim, before.len() as u32)?;
            dst_ins.push(dim, after.len() as u32)?;
            from.extend(before);
            to.extend(after);
        }
        let src = LinearLayout::from_columns(src_ins, outs.clone(), &from)?;
        Ok((src, LinearLayout::from_columns(dst_ins, outs, &to)?))
    }

    /// A layout of the same tensor and block in which every lane holds whole lines; `None` where a
    /// lane would hold more than 256 elements more than now, or blocks share the tensor.
    pub(super) fn lines_in_registers(&self) -> Option<LinearLayout> {
        let outs = self.src.outs();
        let blocks = self.src.columns_of(Dim::BLOCK);
        if self.depth() == 0 && self.lower() == self.held.len() || blocks.iter().any(|&column| column != 0) {
            return None;
        }
        let unit = |dim: Dim, bit: u32| outs.shift_of(dim).map(|shift| 1u64 << (shift + bit));
        let line: Vec<u64> = (0..outs.bits_of(self.axis)).filter_map(|bit| unit(self.axis, bit)).collect();
        let others = outs.iter().filter(|&(dim, _)| dim != self.axis);
        let mut others = others.flat_map(|(dim, bits)| (0..bits).filter_map(move |bit| unit(dim, bit)));
        let mut threads = Vec::new();
        for dim in [Dim::LANE, Dim::WARP] {
            let bits = self.src.in_bits(dim) as usize;
            let mut columns: Vec<u64> = others.by_ref().take(bits).collect();
            columns.resize(bits, 0);
            threads.push((dim, columns));
        }
        let registers: Vec<u64> = line.into_iter().chain(others).collect();
        if registers.len() as u32 > self.register_bits.max(8) {
            return None;
        }
        let (mut ins, mut columns) = (Space::default(), Vec::new());
        for dim in self.src.ins().dims() {
            let own = match threads.iter().find(|(known, _)| *known == dim) {
                Some((_, own)) => own.as_slice(),
                None if dim == Dim::REGISTER => registers.as_slice(),
                None => blocks,
            };
            ins.push(dim, own.len() as u32).ok()?;
            columns.extend_from_slice(own);
        }
        LinearLayout::from_columns(ins, outs.clone(), &columns).ok()
    }
}

fn crossing_blocks() -> MovementError {
    MovementError::Impossible { reasons: "blocks hold different parts of the axis".to_owned() }
}

//! How the positions of a layout's input space are named and coloured: holders of elements, offsets
//! of a memory, places of tensor memory.

use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, Space};

use super::axes::Axes;
use super::colour_by::ColourBy;
use crate::Fill;
use crate::text::join;

/// The positions of a layout, each by its packed input.
pub(super) struct Positions<'a> {
    ins: &'a Space,
    kind: Kind<'a>,
    colour: ColourBy,
    /// Bits of the packed input on which no element depends.
    idle: u64,
    paint: Option<Paint<'a>>,
}

/// A colour of its own for each position, and what is said of it.
pub(super) type Paint<'a> = &'a dyn Fn(u64) -> (Fill, String);

enum Kind<'a> {
    /// Registers of lanes: the dims that stand before the register, most major first.
    Distributed(Vec<Dim>),
    /// Offsets, and how many elements lie together in the memory as in the tensor.
    Memory { memory: &'a MemoryLayout, vector: u64, line: u64 },
    /// Any other dims, most major first.
    Other(Vec<Dim>),
}

impl<'a> Positions<'a> {
    pub fn new(layout: &'a Layout, colour: ColourBy) -> Self {
        let ins = layout.linear().ins();
        let known = |dim: &Dim| [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK].contains(dim);
        let kind = match layout {
            Layout::Memory(memory) => Kind::memory(memory),
            Layout::Distributed(_) if ins.dims().all(|dim| known(&dim)) => {
                let holders = [Dim::BLOCK, Dim::WARP, Dim::LANE];
                Kind::Distributed(holders.into_iter().filter(|&dim| ins.contains(dim)).collect())
            }
            Layout::Distributed(_) | Layout::TensorMemory(_) => {
                let mut dims: Vec<_> = ins.dims().rev().collect();
                // Tensor memory is addressed by row, then column.
                dims.sort_by_key(|&dim| dim == Dim::COL);
                Kind::Other(dims)
            }
        };
        let columns = layout.linear().columns().iter().enumerate();
        let idle = columns.filter(|&(_, &column)| column == 0).fold(0, |all, (bit, _)| all | 1 << bit);
        Self { ins, kind, colour, idle, paint: None }
    }

    /// With other colours.
    pub fn painted(self, paint: Paint<'a>) -> Self {
        Self { paint: Some(paint), ..self }
    }

    /// The coordinate along a dim without the bits on which nothing depends, and how many there are:
    /// positions that hold the same have the same colour.
    fn class(&self, input: u64, dim: Dim) -> (u64, u64) {
        let (at, idle) = (self.at(input, dim), self.ins.coordinate(self.idle, dim));
        let used = (0..self.ins.bits_of(dim)).filter(|bit| idle >> bit & 1 == 0);
        let index = used.clone().enumerate().fold(0, |index, (to, from)| index | (at >> from & 1) << to);
        (index, 1 << used.count())
    }

    pub fn at(&self, input: u64, dim: Dim) -> u64 {
        self.ins.coordinate(input, dim)
    }

    /// Where an offset lies in the memory, padding counted.
    pub fn physical(&self, offset: u64) -> u64 {
        match &self.kind {
            Kind::Memory { memory, .. } => memory.physical_offset(offset),
            _ => offset,
        }
    }

    /// What a cell says of a position, one line for the warp and one for lane and register where
    /// there are several warps.
    pub fn lines(&self, input: u64) -> Vec<String> {
        match &self.kind {
            Kind::Distributed(_) => {
                let group = self.group(input);
                let lane = format!("T{}:{}", self.at(input, Dim::LANE), self.at(input, Dim::REGISTER));
                if group.is_empty() { vec![lane] } else { vec![group, lane] }
            }
            _ => vec![self.place(input)],
        }
    }

    /// Block and warp, where there are several: `B0W1`.
    fn group(&self, input: u64) -> String {
        let part = |letter, dim| match self.ins.bits_of(dim) {
            0 => String::new(),
            _ => format!("{letter}{}", self.at(input, dim)),
        };
        part('B', Dim::BLOCK) + &part('W', Dim::WARP)
    }

    /// A position that is no register of a lane.
    fn place(&self, input: u64) -> String {
        match &self.kind {
            Kind::Memory { memory, .. } => {
                let offset = memory.physical_offset(self.at(input, Dim::OFFSET));
                match self.ins.bits_of(Dim::BLOCK) {
                    0 => offset.to_string(),
                    _ => format!("B{}/{offset}", self.at(input, Dim::BLOCK)),
                }
            }
            Kind::Distributed(dims) | Kind::Other(dims) => join(dims.iter().map(|&dim| self.at(input, dim)), ":"),
        }
    }

    /// The first of an element's positions, with what can be said of the others in little room: two
    /// that differ in one dim are both named, `T3,T7:1`; more are counted, `T3:1 x4`.
    pub fn lines_of_all(&self, inputs: &[u64]) -> Vec<String> {
        let Some((&first, copies)) = inputs.split_first() else {
            return vec!["-".to_owned()];
        };
        let mut lines = self.lines(first);
        match copies {
            [] => {}
            &[copy] if self.are_told_apart_by(first, copy, Dim::WARP) && self.ins.bits_of(Dim::BLOCK) == 0 => {
                lines[0] = format!("W{},W{}", self.at(first, Dim::WARP), self.at(copy, Dim::WARP));
            }
            copies => {
                if let Some(last) = lines.last_mut() {
                    *last = self.pair(first, copies).unwrap_or_else(|| format!("{last} x{}", inputs.len()));
                }
            }
        }
        lines
    }

    fn are_told_apart_by(&self, a: u64, b: u64, dim: Dim) -> bool {
        matches!(self.kind, Kind::Distributed(_)) && (a ^ b) & !self.ins.mask_of(dim) == 0
    }

    /// Two copies that differ in the lane or in the register alone: `T3,T7:1`, `T3:1,5`.
    fn pair(&self, first: u64, copies: &[u64]) -> Option<String> {
        let &[copy] = copies else { return None };
        let [(lane, register), (lane_of_copy, register_of_copy)] =
            [first, copy].map(|input| (self.at(input, Dim::LANE), self.at(input, Dim::REGISTER)));
        if self.are_told_apart_by(first, copy, Dim::LANE) {
            return Some(format!("T{lane},T{lane_of_copy}:{register}"));
        }
        let by_register = self.are_told_apart_by(first, copy, Dim::REGISTER);
        by_register.then(|| format!("T{lane}:{register},{register_of_copy}"))
    }

    /// The position in words.
    pub fn description(&self, input: u64) -> String {
        match self.paint {
            Some(paint) => format!("{}: {}", self.place_in_words(input), paint(input).1),
            None => self.place_in_words(input),
        }
    }

    fn place_in_words(&self, input: u64) -> String {
        if let Kind::Memory { memory, .. } = &self.kind
            && !memory.padding.is_empty()
        {
            let offset = self.at(input, Dim::OFFSET);
            return format!("offset {} (unpadded {offset})", memory.physical_offset(offset));
        }
        let dims = self.ins.iter().rev().filter(|&(dim, bits)| bits > 0 || dim == Dim::REGISTER);
        self.named(dims.map(|(dim, _)| dim), input)
    }

    /// The coordinates along some dims, each with its dim: `warp 1 lane 3`.
    fn named(&self, dims: impl IntoIterator<Item = Dim>, input: u64) -> String {
        join(dims.into_iter().map(|dim| format!("{dim} {}", self.at(input, dim))), " ")
    }

    /// Whether a cell of this position goes on the run of the cell before; a run has one colour.
    pub fn continues(&self, before: u64, input: u64) -> bool {
        let goes_on = match &self.kind {
            Kind::Distributed(_) => self.are_told_apart_by(before, input, Dim::REGISTER),
            _ => input == before + 1,
        };
        goes_on && self.fill(before) == self.fill(input)
    }

    /// The name of a run from one position to another.
    pub fn run_name(&self, first: u64, last: u64) -> String {
        match &self.kind {
            Kind::Distributed(_) => format!("{}T{}", self.group(first), self.at(first, Dim::LANE)),
            _ if first == last => self.place(first),
            Kind::Memory { .. } => format!("{}..{}", self.place(first), self.physical(self.at(last, Dim::OFFSET))),
            Kind::Other(_) => format!("{}..", self.place(first)),
        }
    }

    /// What this position shares with others that are framed with it: its lane.
    pub fn kin(&self, input: u64) -> Option<String> {
        match &self.kind {
            Kind::Distributed(dims) => Some(self.named(dims.iter().copied(), input)),
            _ => None,
        }
    }

    pub fn fill(&self, input: u64) -> Fill {
        if let Some(paint) = self.paint {
            return paint(input).0;
        }
        let of = |dim| 1u64 << self.ins.bits_of(dim);
        let at = |dim| self.at(input, dim);
        match &self.kind {
            Kind::Memory { vector, line, .. } => Fill::hue(at(Dim::OFFSET) % line / vector, (line / vector).max(1)),
            Kind::Other(dims) => {
                let dim = dims.first().copied().unwrap_or(Dim::ROW);
                Fill::hue(at(dim), of(dim))
            }
            Kind::Distributed(_) => {
                let [(lane, lanes), (warp, warps), (register, registers)] =
                    [Dim::LANE, Dim::WARP, Dim::REGISTER].map(|dim| self.class(input, dim));
                match self.colour {
                    ColourBy::Lane => Fill::hue(lane, lanes),
                    ColourBy::Warp => Fill::shaded(warp, warps, lane, lanes),
                    ColourBy::Register => Fill::hue(register, registers),
                }
            }
        }
    }

    /// What the texts and the colours of cells mean.
    pub fn key(&self) -> Vec<String> {
        match &self.kind {
            Kind::Distributed(_) => {
                let warp = if self.ins.bits_of(Dim::WARP) > 0 { "; W is the warp" } else { "" };
                let block = if self.ins.bits_of(Dim::BLOCK) > 0 { "; B is the block" } else { "" };
                let colour = self.colour.name();
                let mut lines = vec![format!("T3:1 is lane 3, register 1{warp}{block}; colours by {colour}")];
                if self.idle != 0 {
                    lines.push("positions that hold the same elements have the same colour".to_owned());
                }
                lines
            }
            Kind::Memory { vector, .. } => vec![format!(
                "numbers are offsets in elements; colours by place in a line of memory, {vector} elements at a time"
            )],
            Kind::Other(dims) => {
                vec![format!("numbers are {}; colours by {}", join(dims, ":"), join(dims.first(), ""))]
            }
        }
    }
}

impl<'a> Kind<'a> {
    /// A line of memory is as long as the tensor's most minor axis.
    fn memory(memory: &'a MemoryLayout) -> Self {
        let line = 1 << line_bits(&memory.linear);
        // Elements together along the last axis, but no fewer than eight pieces to a line.
        let axes = Axes::new(memory.linear.outs());
        let minor_first: Vec<_> = axes.dims.iter().rev().map(|&(dim, _)| dim).collect();
        let together = memory.linear.transpose_outs(&minor_first).map_or(1, |linear| linear.consecutive_elements());
        Self::Memory { memory, vector: together.clamp(1, (line / 8).max(1)), line }
    }
}

/// Log2 of the elements of a memory that are drawn as one line: as many as the tensor's last axis has,
/// within limits.
pub(super) fn line_bits(linear: &LinearLayout) -> u32 {
    let bits = Axes::new(linear.outs()).dims.last().map_or(0, |&(_, bits)| bits);
    bits.clamp(3, 7).min(linear.in_bits(Dim::OFFSET))
}

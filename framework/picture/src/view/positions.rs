//! Names and colours of a layout's input positions: registers of lanes, memory offsets, or rows and columns of tensor
//! memory.

use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, Space};

use super::axes::TensorAxes;
use super::colour_by::ColourBy;
use crate::CellColour;
use crate::text::join;

/// The input positions of a layout, with their names and colours.
pub(super) struct Positions<'a> {
    ins: &'a Space,
    kind: Kind<'a>,
    colour: ColourBy,
    /// Mask of the bits of a packed position that only select replicas of an element.
    idle: u64,
    paint: Option<Paint<'a>>,
}

/// Function that gives each packed position a custom colour and a description.
pub(super) type Paint<'a> = &'a dyn Fn(u64) -> (CellColour, String);

enum Kind<'a> {
    /// Positions are registers of lanes; the field has those of the dims block, warp and lane that the layout has, in
    /// this order.
    Distributed(Vec<Dim>),
    /// Positions are memory offsets. Runs of `vector` elements are consecutive in memory and tensor and get one colour;
    /// the drawing shows `line` elements in a row.
    Memory { memory: &'a MemoryLayout, vector: u64, line: u64 },
    /// Positions have other dims, such as the rows and columns of tensor memory; the field has them, most major first,
    /// except that the column comes last.
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

    /// Replaces the colours by custom ones: `paint` gives the colour and a description of each position.
    pub fn with_paint(self, paint: Paint<'a>) -> Self {
        Self { paint: Some(paint), ..self }
    }

    /// Returns a position's coordinate along a dimension without the idle bits, which only select replicas, and the
    /// number of such coordinates. Positions that hold the same elements so get the same colour.
    fn class(&self, input: u64, dim: Dim) -> (u64, u64) {
        let (at, idle) = (self.at(input, dim), self.ins.coordinate(self.idle, dim));
        let used = (0..self.ins.bits_of(dim)).filter(|bit| idle >> bit & 1 == 0);
        let index = used.clone().enumerate().fold(0, |index, (to, from)| index | (at >> from & 1) << to);
        (index, 1 << used.count())
    }

    pub fn at(&self, input: u64, dim: Dim) -> u64 {
        self.ins.coordinate(input, dim)
    }

    /// Returns the physical memory offset, in elements with padding, of the offset `offset`; for other layouts `offset`
    /// itself.
    pub fn physical_offset(&self, offset: u64) -> u64 {
        match &self.kind {
            Kind::Memory { memory, .. } => memory.physical_offset(offset),
            _ => offset,
        }
    }

    /// Returns the text lines of a position: lane and register, after a line for block and warp if there are several.
    pub fn text_lines(&self, input: u64) -> Vec<String> {
        match &self.kind {
            Kind::Distributed(_) => {
                let group = self.block_and_warp_label(input);
                let lane = format!("T{}:{}", self.at(input, Dim::LANE), self.at(input, Dim::REGISTER));
                if group.is_empty() { vec![lane] } else { vec![group, lane] }
            }
            _ => vec![self.describe_position(input)],
        }
    }

    /// Returns the label of a position's block and warp, such as `B0W1`. The block is left out if there is only one
    /// block, and the warp if there is only one warp.
    fn block_and_warp_label(&self, input: u64) -> String {
        let dim_text = |letter, dim| match self.ins.bits_of(dim) {
            0 => String::new(),
            _ => format!("{letter}{}", self.at(input, dim)),
        };
        dim_text('B', Dim::BLOCK) + &dim_text('W', Dim::WARP)
    }

    /// Returns the text of a position that is not a register of a lane: a memory offset, or the coordinates of other
    /// dims.
    fn describe_position(&self, input: u64) -> String {
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

    /// Returns the text of an element's positions: the first, and a short form of the others. Two positions that differ
    /// in one dimension are both named, `T3,T7:1`; more are counted, `T3:1 x4`.
    pub fn element_text_lines(&self, inputs: &[u64]) -> Vec<String> {
        let Some((&first, copies)) = inputs.split_first() else {
            return vec!["-".to_owned()];
        };
        let mut lines = self.text_lines(first);
        match copies {
            [] => {}
            &[copy] if self.differ_only_in(first, copy, Dim::WARP) && self.ins.bits_of(Dim::BLOCK) == 0 => {
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

    fn differ_only_in(&self, a: u64, b: u64, dim: Dim) -> bool {
        matches!(self.kind, Kind::Distributed(_)) && (a ^ b) & !self.ins.mask_of(dim) == 0
    }

    /// Returns the text of two positions that differ only in the lane or only in the register: `T3,T7:1`, `T3:1,5`.
    /// `None` for other positions, or if `copies` is not exactly one.
    fn pair(&self, first: u64, copies: &[u64]) -> Option<String> {
        let &[copy] = copies else { return None };
        let [(lane, register), (lane_of_copy, register_of_copy)] =
            [first, copy].map(|input| (self.at(input, Dim::LANE), self.at(input, Dim::REGISTER)));
        if self.differ_only_in(first, copy, Dim::LANE) {
            return Some(format!("T{lane},T{lane_of_copy}:{register}"));
        }
        let by_register = self.differ_only_in(first, copy, Dim::REGISTER);
        by_register.then(|| format!("T{lane}:{register},{register_of_copy}"))
    }

    /// Describes a position in words, for tooltips.
    pub fn description(&self, input: u64) -> String {
        match self.paint {
            Some(paint) => format!("{}: {}", self.describe_position_fully(input), paint(input).1),
            None => self.describe_position_fully(input),
        }
    }

    fn describe_position_fully(&self, input: u64) -> String {
        if let Kind::Memory { memory, .. } = &self.kind
            && !memory.padding.is_empty()
        {
            let offset = self.at(input, Dim::OFFSET);
            return format!("offset {} (unpadded {offset})", memory.physical_offset(offset));
        }
        let dims = self.ins.iter().rev().filter(|&(dim, bits)| bits > 0 || dim == Dim::REGISTER);
        self.named(dims.map(|(dim, _)| dim), input)
    }

    /// Formats a position's coordinates along some dimensions: `warp 1 lane 3`.
    fn named(&self, dims: impl IntoIterator<Item = Dim>, input: u64) -> String {
        join(dims.into_iter().map(|dim| format!("{dim} {}", self.at(input, dim))), " ")
    }

    /// Whether the position `input` continues the run of `before` (consecutive positions that share a name); a run has
    /// one colour.
    pub fn continues_run(&self, before: u64, input: u64) -> bool {
        let is_continued = match &self.kind {
            Kind::Distributed(_) => self.differ_only_in(before, input, Dim::REGISTER),
            _ => input == before + 1,
        };
        is_continued && self.fill(before) == self.fill(input)
    }

    /// Returns the name of the run (consecutive positions of one colour) from `first` to `last`.
    pub fn run_name(&self, first: u64, last: u64) -> String {
        match &self.kind {
            Kind::Distributed(_) => format!("{}T{}", self.block_and_warp_label(first), self.at(first, Dim::LANE)),
            _ if first == last => self.describe_position(first),
            Kind::Memory { .. } => {
                format!("{}..{}", self.describe_position(first), self.physical_offset(self.at(last, Dim::OFFSET)))
            }
            Kind::Other(_) => format!("{}..", self.describe_position(first)),
        }
    }

    /// Returns the string that all cells of the same lane share, so that they are framed together; `None` without
    /// lanes.
    pub fn lane_group(&self, input: u64) -> Option<String> {
        match &self.kind {
            Kind::Distributed(dims) => Some(self.named(dims.iter().copied(), input)),
            _ => None,
        }
    }

    pub fn fill(&self, input: u64) -> CellColour {
        if let Some(paint) = self.paint {
            return paint(input).0;
        }
        let of = |dim| 1u64 << self.ins.bits_of(dim);
        let at = |dim| self.at(input, dim);
        match &self.kind {
            Kind::Memory { vector, line, .. } => {
                CellColour::from_index(at(Dim::OFFSET) % line / vector, (line / vector).max(1))
            }
            Kind::Other(dims) => {
                let dim = dims.first().copied().unwrap_or(Dim::ROW);
                CellColour::from_index(at(dim), of(dim))
            }
            Kind::Distributed(_) => {
                let [(lane, lanes), (warp, warps), (register, registers)] =
                    [Dim::LANE, Dim::WARP, Dim::REGISTER].map(|dim| self.class(input, dim));
                match self.colour {
                    ColourBy::Lane => CellColour::from_index(lane, lanes),
                    ColourBy::Warp => CellColour::from_index_and_shade(warp, warps, lane, lanes),
                    ColourBy::Register => CellColour::from_index(register, registers),
                }
            }
        }
    }

    /// Returns caption lines that explain the texts and colours of cells.
    pub fn legend_lines(&self) -> Vec<String> {
        match &self.kind {
            Kind::Distributed(_) => {
                let warp = if self.ins.bits_of(Dim::WARP) > 0 { "; W is the warp" } else { "" };
                let block = if self.ins.bits_of(Dim::BLOCK) > 0 { "; B is the block" } else { "" };
                let colour = self.colour.name();
                let mut lines = vec![format!("T3:1 is lane 3, register 1{warp}{block}; colours by {colour}")];
                if self.idle != 0 {
                    lines.push("positions with the same elements have the same colour".to_owned());
                }
                lines
            }
            Kind::Memory { vector, .. } => vec![format!(
                "numbers are offsets in elements; colours by position in a line of memory, {vector} elements at a time"
            )],
            Kind::Other(dims) => {
                vec![format!("numbers are {}; colours by {}", join(dims, ":"), join(dims.first(), ""))]
            }
        }
    }
}

impl<'a> Kind<'a> {
    /// Creates the kind for a memory layout; a row of the drawing is as long as the tensor's last axis.
    fn memory(memory: &'a MemoryLayout) -> Self {
        let line = 1 << line_bits(&memory.linear);
        // As many elements as are consecutive along the tensor's last axis, but at most an eighth of a line.
        let axes = TensorAxes::new(memory.linear.outs());
        let minor_first: Vec<_> = axes.dims.iter().rev().map(|&(dim, _)| dim).collect();
        let together = memory.linear.transpose_outs(&minor_first).map_or(1, |linear| linear.consecutive_elements());
        Self::Memory { memory, vector: together.clamp(1, (line / 8).max(1)), line }
    }
}

/// Returns log2 of the number of elements in one row of a drawn memory: the size of the tensor's last axis, but at
/// least 8 and at most 128 elements.
pub(super) fn line_bits(linear: &LinearLayout) -> u32 {
    let bits = TensorAxes::new(linear.outs()).dims.last().map_or(0, |&(_, bits)| bits);
    bits.clamp(3, 7).min(linear.in_bits(Dim::OFFSET))
}

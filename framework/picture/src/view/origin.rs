//! Finds the source of each element in a layout conversion, and the distance that the element moves.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, LinearLayout, Space};

use crate::{CellColour, EmphasisColour, PictureError};

/// How far an element moves in a conversion, from the nearest replica in the source layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MoveScope {
    /// Stays in its register.
    Stays,
    /// Moves to another register of its lane.
    Lane,
    /// Moves to another lane of its warp.
    Warp,
    /// Moves to another warp of its block.
    Block,
    /// Moves to another block of the cluster.
    Cluster,
}

impl MoveScope {
    /// All distances, shortest first.
    pub const ALL: [Self; 5] = [Self::Stays, Self::Lane, Self::Warp, Self::Block, Self::Cluster];

    pub fn description(self) -> &'static str {
        match self {
            Self::Stays => "not moved",
            Self::Lane => "to another register of its lane",
            Self::Warp => "to another lane of its warp",
            Self::Block => "to another warp",
            Self::Cluster => "to another block",
        }
    }

    pub fn fill(self) -> CellColour {
        match self {
            Self::Stays => CellColour::from_tone(EmphasisColour::Good),
            Self::Lane => CellColour::from_index_and_shade(4, 8, 1, 3),
            Self::Warp => CellColour::from_tone(EmphasisColour::Warn),
            Self::Block => CellColour::from_index_and_shade(5, 8, 1, 3),
            Self::Cluster => CellColour::from_index_and_shade(3, 8, 1, 3),
        }
    }
}

/// A hardware position: block, warp, lane and register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HardwarePosition {
    pub register: u64,
    pub lane: u64,
    pub warp: u64,
    pub block: u64,
}

impl HardwarePosition {
    /// Unpacks a position of a layout whose input space is `ins`.
    pub fn unpack(ins: &Space, input: u64) -> Self {
        let at = |dim| ins.coordinate(input, dim);
        Self { register: at(Dim::REGISTER), lane: at(Dim::LANE), warp: at(Dim::WARP), block: at(Dim::BLOCK) }
    }

    /// Returns how far an element moves from this position to the position `other`.
    fn scope_to(self, other: Self) -> MoveScope {
        match () {
            () if self.block != other.block => MoveScope::Cluster,
            () if self.warp != other.warp => MoveScope::Block,
            () if self.lane != other.lane => MoveScope::Warp,
            () if self.register != other.register => MoveScope::Lane,
            () => MoveScope::Stays,
        }
    }
}

/// For each packed position of the destination layout: the nearest position of the source layout that holds the same
/// element, and how far the element moves.
pub(super) struct ElementSources {
    nearest: Vec<(MoveScope, HardwarePosition)>,
}

impl ElementSources {
    /// Computes the sources of all elements. The layouts must be small enough to enumerate, and the source must hold
    /// all elements.
    pub fn new(src: &LinearLayout, dst: &LinearLayout) -> Result<Self, PictureError> {
        let order: Vec<Dim> = src.outs().dims().collect();
        let dst = dst.transpose_outs(&order)?;
        let mut holders: BTreeMap<u64, Vec<HardwarePosition>> = BTreeMap::new();
        for input in 0..1u64 << src.ins().total_bits() {
            holders.entry(src.apply_packed(input)).or_default().push(HardwarePosition::unpack(src.ins(), input));
        }
        let nearest = |input: u64| {
            let here = HardwarePosition::unpack(dst.ins(), input);
            let sources = holders.get(&dst.apply_packed(input)).map_or(&[][..], Vec::as_slice);
            sources.iter().map(|&position| (position.scope_to(here), position)).min_by_key(|&(scope, _)| scope)
        };
        let all: Option<Vec<_>> = (0..1u64 << dst.ins().total_bits()).map(nearest).collect();
        let nearest = all.ok_or_else(|| {
            let reason = "the source does not have every element of the destination";
            PictureError::not_drawable("the conversion", reason, "give two layouts of one tensor")
        })?;
        Ok(Self { nearest })
    }

    /// Returns how far the element at the packed destination position `input` moves, and its nearest source position;
    /// `None` for an `input` that is no position.
    pub fn find_source(&self, input: u64) -> (MoveScope, Option<HardwarePosition>) {
        self.nearest.get(input as usize).map_or((MoveScope::Stays, None), |&(scope, position)| (scope, Some(position)))
    }

    /// Returns the number of destination positions for each distance, without zero counts.
    pub fn count_by_scope(&self) -> Vec<(MoveScope, usize)> {
        let count = |scope| self.nearest.iter().filter(|(w, _)| *w == scope).count();
        MoveScope::ALL.into_iter().map(|scope| (scope, count(scope))).filter(|&(_, count)| count > 0).collect()
    }
}

//! Where the elements of a conversion come from: how far each register's value has travelled.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, LinearLayout, Space};

use crate::{Fill, PictureError, Tone};

/// How far an element moves, the nearest of its copies counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Not at all.
    Stays,
    /// To another register of its lane.
    Lane,
    /// To another lane of its warp.
    Warp,
    /// To another warp of its block.
    Block,
    /// To another block.
    Cluster,
}

impl Way {
    /// All ways, the shortest first.
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

    pub fn fill(self) -> Fill {
        match self {
            Self::Stays => Fill::tone(Tone::Good),
            Self::Lane => Fill::shaded(4, 8, 1, 3),
            Self::Warp => Fill::tone(Tone::Warn),
            Self::Block => Fill::shaded(5, 8, 1, 3),
            Self::Cluster => Fill::shaded(3, 8, 1, 3),
        }
    }
}

/// A place of the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub register: u64,
    pub lane: u64,
    pub warp: u64,
    pub block: u64,
}

impl Place {
    /// The place of a packed input.
    pub fn of(ins: &Space, input: u64) -> Self {
        let at = |dim| ins.coordinate(input, dim);
        Self { register: at(Dim::REGISTER), lane: at(Dim::LANE), warp: at(Dim::WARP), block: at(Dim::BLOCK) }
    }

    /// The way from here to another place.
    fn way_to(self, other: Self) -> Way {
        match () {
            () if self.block != other.block => Way::Cluster,
            () if self.warp != other.warp => Way::Block,
            () if self.lane != other.lane => Way::Warp,
            () if self.register != other.register => Way::Lane,
            () => Way::Stays,
        }
    }
}

/// For every position of a destination layout the nearest one of the source that holds its element.
pub(super) struct Origins {
    nearest: Vec<(Way, Place)>,
}

impl Origins {
    /// Layouts must be small enough to list, the source without gaps.
    pub fn new(src: &LinearLayout, dst: &LinearLayout) -> Result<Self, PictureError> {
        let order: Vec<Dim> = src.outs().dims().collect();
        let dst = dst.transpose_outs(&order)?;
        let mut holders: BTreeMap<u64, Vec<Place>> = BTreeMap::new();
        for input in 0..1u64 << src.ins().bits() {
            holders.entry(src.apply_packed(input)).or_default().push(Place::of(src.ins(), input));
        }
        let nearest = |input: u64| {
            let here = Place::of(dst.ins(), input);
            let held = holders.get(&dst.apply_packed(input)).map_or(&[][..], Vec::as_slice);
            held.iter().map(|&place| (place.way_to(here), place)).min_by_key(|&(way, _)| way)
        };
        let all: Option<Vec<_>> = (0..1u64 << dst.ins().bits()).map(nearest).collect();
        let nearest = all.ok_or_else(|| {
            let reason = "the source does not hold every element of the destination";
            PictureError::not_drawable("the conversion", reason, "give two layouts of one tensor")
        })?;
        Ok(Self { nearest })
    }

    /// The way to a packed position of the destination, and where it begins.
    pub fn of(&self, input: u64) -> (Way, Option<Place>) {
        self.nearest.get(input as usize).map_or((Way::Stays, None), |&(way, place)| (way, Some(place)))
    }

    /// How many positions are reached by each way; ways that none takes are left out.
    pub fn counts(&self) -> Vec<(Way, usize)> {
        let count = |way| self.nearest.iter().filter(|(w, _)| *w == way).count();
        Way::ALL.into_iter().map(|way| (way, count(way))).filter(|&(_, count)| count > 0).collect()
    }
}

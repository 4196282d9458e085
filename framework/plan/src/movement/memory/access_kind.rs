//! Kinds of shared-memory accesses. A kind determines the lowest offset bits of a layout: bits within the data of a
//! lane, and bits that distinguish lanes.

use tilewright_target::{Direction, Instruction, TargetDescription};

use super::super::copy::CopyInstruction;
use super::super::tile::{Source, Tile};

/// The source of one bit of the byte index within a slot (contiguous bytes of one access).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentOffsetBitSource {
    /// The bit selects one of the bytes that a lane holds.
    Byte,
    /// The bit equals the bit of the lane index with this index.
    Lane(u32),
}

/// One kind of shared-memory access. A slot is the memory of one access that is contiguous and aligned to its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedAccessKind {
    /// Name of the instruction; `None` for plain accesses.
    pub instruction: Option<String>,
    /// The direction of the access to shared memory: load or store.
    pub direction: Direction,
    /// Number of bytes that a lane moves in one access.
    pub bytes: u64,
    /// The source of each bit of the byte index within a slot (the contiguous bytes of one access), lowest bit first.
    pub segment: Vec<SegmentOffsetBitSource>,
    /// The lane bits that only select addresses: lanes that differ in them hold no data of their own.
    pub address_lane_bits: Vec<u32>,
    /// Whether the access copies from global memory, so that the bytes of a lane keep the order of global memory.
    pub copies: bool,
    /// Whether lanes can be masked off in the access.
    pub masked: bool,
}

impl SharedAccessKind {
    /// Returns the plain accesses of a target, the widest first.
    #[must_use]
    pub fn plain_accesses(target: &TargetDescription, direction: Direction) -> Vec<Self> {
        let offered = |bits: &u32| *bits >= 8 && target.find_bank_row(direction, *bits).is_some();
        let mut widths: Vec<u32> = target.shared.access_bits.iter().copied().filter(offered).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let of_width = |bits: u32| Self {
            instruction: None,
            direction,
            bytes: u64::from(bits / 8),
            segment: vec![SegmentOffsetBitSource::Byte; (bits / 8).ilog2() as usize],
            address_lane_bits: Vec::new(),
            copies: false,
            masked: true,
        };
        widths.into_iter().map(of_width).collect()
    }

    /// Returns the access by an instruction that moves data between registers and shared memory, or copies to shared
    /// memory. `None` for other instructions, and for instructions of warps of other than 2^`lane_bits` lanes.
    #[must_use]
    pub fn from_instruction(row: &Instruction, lane_bits: u32) -> Option<Self> {
        match CopyInstruction::from_instruction(row) {
            Some(copy) => (copy.lane_bits() == lane_bits).then(|| of_copy(&copy))?,
            None => Tile::of_rows(std::slice::from_ref(row), lane_bits).first().map(of_tile),
        }
    }

    /// Whether lanes write adjacent parts of a slot (the contiguous bytes of one access) and each lane fetches from an
    /// address of its own. The memory layout then determines the elements that a lane fetches.
    #[must_use]
    pub fn has_fetching_lanes(&self) -> bool {
        self.copies && self.segment.iter().any(|bit| matches!(bit, SegmentOffsetBitSource::Lane(_)))
    }

    /// Returns the number of bytes of a slot, the contiguous bytes of one access.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        1 << self.segment.len()
    }

    /// Returns the target and the instruction table, both restricted to accesses of this kind.
    #[must_use]
    pub fn restrict_target(
        &self,
        target: &TargetDescription,
        instructions: &[Instruction],
    ) -> (TargetDescription, Vec<Instruction>) {
        let mut own = target.clone();
        let is_plain = self.instruction.is_none() || self.copies;
        own.shared.access_bits.retain(|&bits| is_plain && u64::from(bits) == 8 * self.bytes);
        let rows = instructions.iter().filter(|row| !is_plain && self.instruction.as_ref() == Some(&row.name));
        (own, rows.cloned().collect())
    }
}

fn of_tile(tile: &Tile<'_>) -> SharedAccessKind {
    let bit = |source: &Source| match *source {
        Source::Byte(_) => SegmentOffsetBitSource::Byte,
        Source::Lane(lane) => SegmentOffsetBitSource::Lane(lane),
    };
    let [in_segment, segments] = tile.sources();
    let named = |lane: &u32| in_segment.iter().chain(segments).any(|source| *source == Source::Lane(*lane));
    SharedAccessKind {
        instruction: tile.name.map(str::to_owned),
        direction: tile.direction,
        bytes: tile.bytes_per_lane(),
        segment: in_segment.iter().map(bit).collect(),
        address_lane_bits: (0..tile.lane_bits()).filter(|lane| !named(lane)).collect(),
        copies: false,
        masked: true,
    }
}

fn of_copy(copy: &CopyInstruction<'_>) -> Option<SharedAccessKind> {
    let own = u64::from(copy.bytes).ilog2() as usize;
    let mut segment = vec![None; copy.segment_bytes().ilog2() as usize];
    segment.iter_mut().take(own).for_each(|bit| *bit = Some(SegmentOffsetBitSource::Byte));
    for lane in 0..copy.lane_bits() {
        if let Some(byte) = copy.within_segment(lane as usize).filter(|byte| byte.is_power_of_two()) {
            *segment.get_mut(byte.ilog2() as usize)? = Some(SegmentOffsetBitSource::Lane(lane));
        }
    }
    Some(SharedAccessKind {
        instruction: Some(copy.name.to_owned()),
        direction: Direction::Store,
        bytes: copy.bytes.into(),
        segment: segment.into_iter().collect::<Option<_>>()?,
        address_lane_bits: Vec::new(),
        copies: true,
        masked: copy.is_masked(),
    })
}

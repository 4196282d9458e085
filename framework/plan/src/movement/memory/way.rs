//! What a kind of access asks of a layout of shared memory: which of the lowest bits of an offset a lane holds, and which
//! tell lanes apart.

use tilewright_target::{Direction, Instruction, TargetDescription};

use super::super::copy::CopyRow;
use super::super::tile::{Source, Tile};

/// What a bit of the byte's number within a slot comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotBit {
    /// Any of the bytes that a lane holds.
    Held,
    /// A bit of the lane.
    Lane(u32),
}

/// One kind of access of shared memory. A slot is what lies together, and begins at a multiple of its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessKind {
    /// The row of the instruction table; plain accesses have none.
    pub instruction: Option<String>,
    /// Whether registers, or global memory, go to shared memory or come from it.
    pub direction: Direction,
    /// Bytes that a lane holds of an access.
    pub bytes: u64,
    /// For each bit of the byte's number within a slot.
    pub slot: Vec<SlotBit>,
    /// Bits of lanes that only give addresses, and hold nothing of their own.
    pub silent: Vec<u32>,
    /// Whether it copies from global memory, so that the bytes of a lane keep the order that they have there.
    pub copies: bool,
    /// Whether it can leave out what is not there.
    pub masked: bool,
}

impl AccessKind {
    /// The plain accesses of a target, the widest first.
    #[must_use]
    pub fn plain(target: &TargetDescription, direction: Direction) -> Vec<Self> {
        let offered = |bits: &u32| *bits >= 8 && target.bank_row(direction, *bits).is_some();
        let mut widths: Vec<u32> = target.shared.access_bits.iter().copied().filter(offered).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let of_width = |bits: u32| Self {
            instruction: None,
            direction,
            bytes: u64::from(bits / 8),
            slot: vec![SlotBit::Held; (bits / 8).ilog2() as usize],
            silent: Vec::new(),
            copies: false,
            masked: true,
        };
        widths.into_iter().map(of_width).collect()
    }

    /// The way of a row that moves between registers and shared memory, or copies to it from addresses that lanes give;
    /// none of other rows, and of those for warps of other than 2^`lane_bits` lanes.
    #[must_use]
    pub fn of_row(row: &Instruction, lane_bits: u32) -> Option<Self> {
        match CopyRow::of(row) {
            Some(copy) => (copy.lane_bits() == lane_bits).then(|| of_copy(&copy))?,
            None => Tile::of_rows(std::slice::from_ref(row), lane_bits).first().map(of_tile),
        }
    }

    /// Whether lanes lie side by side in a slot that they fill from addresses of their own: who brings what follows from the memory
    /// then, and the lanes of a slot may stand for its elements in any way.
    #[must_use]
    pub fn is_fetched(&self) -> bool {
        self.copies && self.slot.iter().any(|bit| matches!(bit, SlotBit::Lane(_)))
    }

    /// Bytes of a slot.
    #[must_use]
    pub fn slot_bytes(&self) -> u64 {
        1 << self.slot.len()
    }

    /// What of a target and its instruction table this way uses.
    #[must_use]
    pub fn alone(
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

fn of_tile(tile: &Tile<'_>) -> AccessKind {
    let bit = |source: &Source| match *source {
        Source::Held(_) => SlotBit::Held,
        Source::Lane(lane) => SlotBit::Lane(lane),
    };
    let [in_slot, slots] = tile.sources();
    let named = |lane: &u32| in_slot.iter().chain(slots).any(|source| *source == Source::Lane(*lane));
    AccessKind {
        instruction: tile.name.map(str::to_owned),
        direction: tile.direction,
        bytes: tile.held_bytes(),
        slot: in_slot.iter().map(bit).collect(),
        silent: (0..tile.lane_bits()).filter(|lane| !named(lane)).collect(),
        copies: false,
        masked: true,
    }
}

fn of_copy(copy: &CopyRow<'_>) -> Option<AccessKind> {
    let own = u64::from(copy.bytes).ilog2() as usize;
    let mut slot = vec![None; copy.slot_bytes().ilog2() as usize];
    slot.iter_mut().take(own).for_each(|bit| *bit = Some(SlotBit::Held));
    for lane in 0..copy.lane_bits() {
        if let Some(byte) = copy.within_slot(lane as usize).filter(|byte| byte.is_power_of_two()) {
            *slot.get_mut(byte.ilog2() as usize)? = Some(SlotBit::Lane(lane));
        }
    }
    Some(AccessKind {
        instruction: Some(copy.name.to_owned()),
        direction: Direction::Store,
        bytes: copy.bytes.into(),
        slot: slot.into_iter().collect::<Option<_>>()?,
        silent: Vec::new(),
        copies: true,
        masked: copy.is_masked(),
    })
}

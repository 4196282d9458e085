//! Tiles as bits that go to bits.

use smallvec::SmallVec;

use super::{Located, Reach};
use tilewright_kernel::{Element, is_result};
use tilewright_layout::f2::{Columns, Subspace, multiply, rank};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{BankRow, Direction, Instruction, InstructionKind, Operand, TargetDescription};

/// Log2 of the bytes of a slot in tiles. More than any memory has.
const MOST_SLOT_BITS: usize = 24;

/// What a bit of a place in memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Source {
    /// A bit of the byte's number among the bytes that a lane holds.
    Held(u32),
    /// A bit of the lane.
    Lane(u32),
}

/// One kind of access.
#[derive(Debug, Clone)]
pub(in super::super) struct Tile<'a> {
    /// The row's name; plain accesses have none.
    pub(in super::super) name: Option<&'a str>,
    pub(in super::super) direction: Direction,
    /// For each bit of the byte in a slot.
    pub(super) in_slot: SmallVec<[Source; 8]>,
    /// For each bit of the slot's number.
    pub(super) slots: SmallVec<[Source; 8]>,
    /// For each lane bit what it adds to the number of the slot whose address the lane gives.
    pub(super) address: Columns,
    /// Log2 of the bytes that a lane holds.
    pub(super) held_bits: u32,
}

impl<'a> Tile<'a> {
    /// The plain accesses of a target to elements of this width, the widest first.
    pub(in super::super) fn plain(
        target: &TargetDescription,
        direction: Direction,
        element: Element,
        lane_bits: u32,
    ) -> SmallVec<[Self; 5]> {
        let offered = |bits: &u32| *bits >= element.bits() && target.bank_row(direction, *bits).is_some();
        let mut widths: SmallVec<[u32; 8]> = target.shared.access_bits.iter().copied().filter(offered).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let of_width = |bits: u32| {
            let held_bits = (bits / 8).ilog2();
            Self {
                name: None,
                direction,
                in_slot: (0..held_bits).map(Source::Held).collect(),
                slots: (0..lane_bits).map(Source::Lane).collect(),
                address: (0..lane_bits).map(|lane| 1 << lane).collect(),
                held_bits,
            }
        };
        widths.into_iter().map(of_width).collect()
    }

    /// The rows for warps of 2^`lane_bits` lanes whose layouts move single bits, and whose addresses need
    /// no more alignment than slots have by their length.
    pub(in super::super) fn of_rows(instructions: &'a [Instruction], lane_bits: u32) -> Vec<Self> {
        let moves = instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
        moves.filter_map(Self::of).filter(|tile| tile.address.len() == lane_bits as usize).collect()
    }

    fn of(row: &'a Instruction) -> Option<Self> {
        let (data, address, &alignment) = row.operands.iter().find_map(|operand| match operand {
            Operand::Access { data, address, alignment } => Some((data, address, alignment)),
            _ => None,
        })?;
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let lane_bits = data.in_bits(Dim::LANE);
        let held_bits = data.in_bits(byte) + data.in_bits(Dim::REGISTER);
        let sources = |dim: Dim| (0..data.out_bits(dim)).map(|bit| source(data, dim, bit)).collect::<Option<_>>();
        let (in_slot, slots): (SmallVec<[Source; 8]>, SmallVec<[Source; 8]>) = (sources(byte)?, sources(slot)?);
        let named = |&column: &u64| address.outs().coordinate(column, slot);
        let address: Columns = address.columns_of(Dim::LANE).iter().map(named).collect();
        let sound = in_slot.len() <= MOST_SLOT_BITS
            && alignment <= 1 << in_slot.len()
            && data.ins().bits() == lane_bits + held_bits
            && address.len() == lane_bits as usize
            && rank(&address) as usize == slots.len()
            && (0..held_bits).all(|bit| in_slot.iter().chain(&slots).any(|&source| source == Source::Held(bit)));
        sound.then_some(Self {
            name: Some(&row.name),
            direction: if row.operands.iter().any(is_result) { Direction::Load } else { Direction::Store },
            in_slot,
            slots,
            address,
            held_bits,
        })
    }

    /// What each bit of the byte in a slot comes from, and what each bit of the slot's number.
    pub(in super::super) fn sources(&self) -> [&[Source]; 2] {
        [&self.in_slot, &self.slots]
    }

    /// Bytes that a lane holds.
    pub(in super::super) fn held_bytes(&self) -> u64 {
        1 << self.held_bits
    }

    /// Log2 of the lanes of a warp.
    pub(in super::super) fn lane_bits(&self) -> u32 {
        self.address.len() as u32
    }

    /// Log2 of the bytes of a slot.
    pub(in super::super) fn slot_bits(&self) -> u32 {
        self.in_slot.len() as u32
    }

    /// Whether its accesses go that far: instructions reach the memory of their own block alone.
    pub(in super::super) fn reaches(&self, reach: &Reach) -> bool {
        !reach.leaves || self.name.is_none()
    }

    /// How the target's banks serve it.
    pub(in super::super) fn bank_row<'t>(&self, target: &'t TargetDescription) -> Option<&'t BankRow> {
        let bits = 8 << self.slot_bits();
        match self.name {
            Some(name) => target.instruction_bank_row(name, self.direction, bits),
            None => target.bank_row(self.direction, bits),
        }
    }

    /// Whether elements of 2^`byte_bits` bytes stay in one piece.
    pub(super) fn keeps_elements(&self, byte_bits: u32) -> bool {
        (0..byte_bits).all(|bit| self.in_slot.get(bit as usize) == Some(&Source::Held(bit)))
    }

    /// What each bit of the element in a slot must be: a lane's column, or `None` for any register. No
    /// answer where elements are split.
    pub(in super::super) fn vector(&self, side: &Located) -> Option<SmallVec<[Option<u64>; 8]>> {
        let byte_bits = side.byte_bits();
        if !self.keeps_elements(byte_bits) {
            return None;
        }
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Held(_) => None,
        };
        Some(self.in_slot[byte_bits as usize..].iter().map(column).collect())
    }

    /// Plain accesses, and one of the tiles of a direction for each way in which slots are made.
    pub(in super::super) fn kinds(tiles: &[Self], direction: Direction) -> Vec<Option<&Self>> {
        let mut kinds: Vec<Option<&Self>> = vec![None];
        for tile in tiles.iter().filter(|tile| tile.direction == direction) {
            if !kinds.iter().flatten().any(|known| known.in_slot == tile.in_slot) {
                kinds.push(Some(tile));
            }
        }
        kinds
    }

    /// Log2 of the elements that a lane moves in an access.
    pub(in super::super) fn width(&self, side: &Located) -> Option<u32> {
        self.held_bits.checked_sub(side.byte_bits())
    }

    /// Log2 of the wavefronts that an access takes at least: one for each phase of slots.
    pub(in super::super) fn phases(&self, target: &TargetDescription) -> Option<u32> {
        Some((self.slots.len() as u32).saturating_sub(self.bank_row(target)?.phase.len() as u32))
    }

    /// Whether some memory layout lets the side be accessed so: a lane holds as much, what lanes have in
    /// slots is theirs alone among threads, and lanes that only give addresses hold nothing of their own.
    pub(in super::super) fn may_divide(&self, side: &Located) -> bool {
        let held = self.width(side).is_some_and(|width| width <= side.span.dimension());
        let lanes = |sources: &[Source], lane: usize| sources.contains(&Source::Lane(lane as u32));
        let (mut inside, mut outside) = (Subspace::zero(), Subspace::zero());
        let apart = side.threads.iter().enumerate().all(|(thread, &column)| {
            let lane = thread < side.lane_bits as usize;
            match lane && lanes(&self.in_slot, thread) {
                true => inside.insert(column),
                false => {
                    outside.insert(column);
                    !lane || lanes(&self.slots, thread) || column == 0
                }
            }
        });
        held && apart && self.keeps_elements(side.byte_bits()) && inside.intersection(&outside).dimension() == 0
    }

    /// The columns of the slots that one wavefront serves, where a slot is the elements of `vector`.
    /// Registers that number slots are the side's first outside the slot, as in [`super::Placed::by`].
    pub(in super::super) fn phase(
        &self,
        side: &Located,
        vector: &[u64],
        target: &TargetDescription,
    ) -> Option<Columns> {
        let row = self.bank_row(target)?;
        let mut space = Subspace::span(vector.iter().copied());
        let mut registers = side.kept.iter().copied().filter(|&column| space.insert(column));
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Held(_) => registers.next(),
        };
        let slots: Columns = self.slots.iter().map(column).collect::<Option<_>>()?;
        Some(row.phase.iter().map(|&slot| multiply(&slots, slot)).collect())
    }
}

/// The single input bit that is the given output bit.
fn source(data: &LinearLayout, dim: Dim, bit: u32) -> Option<Source> {
    let required = 1u64 << (data.outs().shift_of(dim)? + bit);
    let byte = Dim::named("byte");
    let bytes = data.in_bits(byte);
    let kinds = [
        (byte, Source::Held as fn(u32) -> Source, 0),
        (Dim::REGISTER, Source::Held, bytes),
        (Dim::LANE, Source::Lane, 0),
    ];
    let mut found = kinds.iter().flat_map(|&(dim, kind, first)| {
        let columns = data.columns_of(dim).iter().zip(first..);
        columns.filter(|&(&column, _)| column & required != 0).map(move |(&column, at)| (kind(at), column))
    });
    match (found.next(), found.next()) {
        (Some((source, column)), None) if column == required => Some(source),
        _ => None,
    }
}

//! The left division of a side by a tile: whether the tile fits, which registers are its own, and what
//! the accesses cost.

use smallvec::SmallVec;

use super::{Located, Memory, Source, Tile};
use crate::f2::{Columns, Subspace, multiply};
use crate::target::{BankRow, TargetDescription, linear_wavefronts_without, wavefronts};

/// Choices of registers that are tried at most.
const MOST_CHOICES: usize = 512;

/// A side on a memory.
pub(in super::super) struct Placed<'a> {
    pub(super) side: &'a Located,
    pub(super) memory: &'a Memory<'a>,
    target: &'a TargetDescription,
    /// For each thread bit the offset.
    offsets: Columns,
}

/// Accesses of a side by one tile.
#[derive(Debug, Clone)]
pub(in super::super) struct Figures {
    /// The row by which registers move; plain accesses where there is none.
    pub(in super::super) instruction: Option<String>,
    /// For each thread bit, what it adds to the offset whose address it gives, in elements.
    pub(super) addresses: Columns,
    /// For each bit of a slot's number what it adds to the slot's offset, in elements.
    pub(super) slots: Columns,
    /// Log2 of the bytes of a slot.
    pub(super) slot_bits: u32,
    /// Bits that tell threads with the same elements apart: of these one makes each access.
    pub(in super::super) idle: u64,
    /// Log2 of the elements that a lane moves in an access.
    pub(in super::super) width: u32,
    /// Accesses of all rounds.
    accesses: u64,
    /// Wavefronts that one access takes; with padding, the first.
    pub(in super::super) each: u64,
    /// Bits of warps that hold the same: bit `i` of an access's number says which of the two warps that
    /// differ in the `i`-th of these makes it.
    pub(super) shared_by: SmallVec<[u32; 4]>,
    /// Which registers are the tile's; for plain accesses those of the first elements in memory.
    pub(super) parts: Option<Box<Parts>>,
}

/// The registers of accesses, as elements in coordinates.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// For each bit of the element's number among what a lane holds of an access.
    pub(super) elements: Columns,
    /// Those that number slots, at the slots' bits; zero where a lane does.
    slots: Columns,
    /// Those that number accesses.
    pub(super) steps: Columns,
}

impl Figures {
    /// Wavefronts of the accesses that a warp makes, all taking as many as the first.
    pub(in super::super) fn wavefronts(&self) -> u64 {
        (self.accesses * self.each) >> self.shared_by.len()
    }

    /// How many accesses a warp issues. What predicates leave out is issued; around an instruction of
    /// all lanes a warp branches.
    pub(in super::super) fn issued(&self) -> u64 {
        if self.instruction.is_some() { self.accesses >> self.shared_by.len() } else { self.accesses }
    }

    /// Elements that one lane moves; of warps that share the work, one does.
    pub(in super::super) fn elements(&self) -> u64 {
        (self.accesses << self.width) >> self.shared_by.len()
    }
}

impl<'a> Placed<'a> {
    pub(in super::super) fn new(side: &'a Located, memory: &'a Memory<'a>, target: &'a TargetDescription) -> Self {
        let offsets = side.threads.iter().map(|&column| memory.offset(column)).collect();
        Self { side, memory, target, offsets }
    }

    /// The accesses by a tile, of which registers number slots the first that lie whole slots apart;
    /// `None` where the tile does not divide the side.
    pub(in super::super) fn by(&self, tile: &Tile<'_>) -> Option<Figures> {
        let vector_bits = self.fits(tile)?;
        if tile.name.is_none() {
            return self.figures(tile, None);
        }
        let first: Choice = (0..tile.held_slots()).collect();
        self.figures(tile, Some(self.parts(tile, &self.whole(vector_bits)?, &first)?))
    }

    /// The same, where those registers number slots that make the fewest wavefronts.
    pub(in super::super) fn best_by(&self, tile: &Tile<'_>) -> Option<Figures> {
        let mut best = self.by(tile)?;
        let phases = 1 << tile.slots.len().saturating_sub(tile.bank_row(self.target)?.phase.len());
        if tile.held_slots() == 0 || best.each <= phases {
            return Some(best);
        }
        let whole = self.whole(tile.slot_bits() - self.side.byte_bits())?;
        for choice in choices(whole.len(), tile.held_slots()).into_iter().skip(1).take(MOST_CHOICES) {
            let parts = self.parts(tile, &whole, &choice);
            if let Some(other) = parts.and_then(|parts| self.figures(tile, Some(parts)))
                && other.each < best.each
            {
                best = other;
            }
        }
        Some(best)
    }

    /// Log2 of the elements of a slot, where slots are whole: lanes within slots are at their places,
    /// nothing else of a thread moves inside slots, and padding falls between them.
    fn fits(&self, tile: &Tile<'_>) -> Option<u32> {
        let byte_bits = self.side.byte_bits();
        let vector_bits = tile.slot_bits().checked_sub(byte_bits)?;
        let low = (1u64 << vector_bits) - 1;
        let lane_bits = self.side.lane_bits as usize;
        if vector_bits as usize > self.memory.columns.len() || tile.address.len() != lane_bits {
            return None;
        }
        let silent = |lane: u32| tile.name.is_some() && !tile.slots.contains(&Source::Lane(lane));
        let at_place = |(thread, &offset): (usize, &u64)| {
            let lane = (thread < lane_bits).then_some(thread as u32);
            let place = lane.and_then(|lane| tile.in_slot.iter().position(|&source| source == Source::Lane(lane)));
            match place {
                Some(bit) => byte_bits <= bit as u32 && offset == 1 << (bit as u32 - byte_bits),
                None => offset & low == 0 && (offset == 0 || !lane.is_some_and(silent)),
            }
        };
        // An instruction of all lanes stores copies too, which only one access may do at once.
        let apart = |thread: usize| tile.name.is_some() && self.side.idle >> thread & 1 == 1;
        let copies = (0..lane_bits).filter(|&lane| apart(lane)).all(|lane| self.offsets[lane] == 0);
        let own = |bit: usize| match tile.in_slot.get(bit + byte_bits as usize) {
            Some(Source::Held(_)) => self.side.span.contains(self.memory.columns[bit]),
            _ => true,
        };
        let fits = tile.keeps_elements(byte_bits)
            && self.offsets.iter().enumerate().all(at_place)
            && copies
            && (0..vector_bits as usize).all(own)
            && self.memory.keeps_together(vector_bits);
        fits.then_some(vector_bits)
    }

    /// Registers that lie whole slots apart; `None` where slots are not all that registers hold.
    fn whole(&self, vector_bits: u32) -> Option<Columns> {
        let vector = &self.memory.columns[..vector_bits as usize];
        let low = (1u64 << vector_bits) - 1;
        let mut space = Subspace::span(vector.iter().copied());
        let cleared = |&kept: &u64| kept ^ multiply(vector, self.memory.offset(kept) & low);
        let whole: Columns = self.side.kept.iter().map(cleared).filter(|&column| space.insert(column)).collect();
        whole.iter().all(|&column| self.side.span.contains(column)).then_some(whole)
    }

    /// The parts of the registers, those numbered by `choice` among `whole` numbering slots.
    fn parts(&self, tile: &Tile<'_>, whole: &[u64], choice: &[usize]) -> Option<Parts> {
        let byte_bits = self.side.byte_bits();
        let mut held = Columns::from_elem(0, tile.held_bits.checked_sub(byte_bits)? as usize);
        let mut put = |source: Source, column: u64| match source {
            Source::Held(bit) => held[(bit - byte_bits) as usize] = column,
            Source::Lane(_) => {}
        };
        for (source, &column) in tile.in_slot[byte_bits as usize..].iter().zip(self.memory.columns) {
            put(*source, column);
        }
        let mut chosen = choice.iter();
        let mut slots = Columns::new();
        for &source in &tile.slots {
            let column = if matches!(source, Source::Lane(_)) { 0 } else { *whole.get(*chosen.next()?)? };
            put(source, column);
            slots.push(column);
        }
        let steps: Columns =
            whole.iter().enumerate().filter(|(at, _)| !choice.contains(at)).map(|(_, &column)| column).collect();
        let all = held.len() + steps.len() == self.side.span.dimension() as usize;
        all.then_some(Parts { elements: held, slots, steps })
    }

    /// The parts of plain accesses of 2^`width` elements.
    pub(super) fn plain_parts(&self, width: u32) -> Option<Parts> {
        let elements = self.memory.columns[..width as usize].into();
        Some(Parts { elements, slots: Columns::new(), steps: self.whole(width)? })
    }

    fn figures(&self, tile: &Tile<'_>, parts: Option<Parts>) -> Option<Figures> {
        let (side, lane_bits) = (self.side, self.side.lane_bits as usize);
        let column = |(bit, source): (usize, &Source)| match *source {
            Source::Lane(lane) => Some(self.offsets[lane as usize]),
            Source::Held(_) => parts.as_ref().map(|parts| self.memory.offset(parts.slots[bit])),
        };
        let slots: Columns = tile.slots.iter().enumerate().map(column).collect::<Option<_>>()?;
        let lanes = tile.address.iter().map(|&slot| multiply(&slots, slot));
        let addresses: Columns = lanes.chain(self.offsets[lane_bits..].iter().copied()).collect();
        let width = tile.held_bits - side.byte_bits();
        let numbered = side.span.dimension().checked_sub(width)?;
        let warps = lane_bits as u32..self.offsets.len() as u32;
        let copies = warps.filter(|&bit| side.idle >> bit & 1 == 1 && self.offsets[bit as usize] == 0);
        let mut figures = Figures {
            instruction: tile.name.map(str::to_owned),
            addresses,
            slots,
            slot_bits: tile.slot_bits(),
            idle: if tile.name.is_some() { side.idle & !side.lane_mask() } else { side.idle },
            width,
            accesses: 1 << (numbered + side.rounds.len() as u32),
            each: 0,
            shared_by: copies.take(numbered as usize).collect(),
            parts: parts.map(Box::new),
        };
        figures.each = self.wavefronts(&figures, tile.bank_row(self.target)?, 0);
        Some(figures)
    }

    /// The wavefronts of an access whose slots lie from `offset` on.
    fn wavefronts(&self, figures: &Figures, row: &BankRow, offset: u64) -> u64 {
        let byte_bits = self.side.byte_bits();
        let idle = figures.idle & self.side.lane_mask();
        if self.memory.padding.is_empty() {
            let slots: Columns = figures.slots.iter().map(|slot| slot << byte_bits).collect();
            return linear_wavefronts_without(row, &slots, idle, 1 << figures.slot_bits);
        }
        let address = |slot: u64| self.memory.padded(offset ^ multiply(&figures.slots, slot)) << byte_bits;
        let addresses: SmallVec<[Option<u64>; 64]> =
            (0..1u64 << figures.slots.len()).map(|slot| (slot & idle == 0).then(|| address(slot))).collect();
        wavefronts(row, &addresses, 1 << figures.slot_bits)
    }

    /// The wavefronts of the busiest warp: exact with padding too, where accesses and warps differ.
    pub(in super::super) fn wavefronts_of(&self, accesses: &super::Accesses, tile: &Tile<'_>) -> u64 {
        let (figures, lane_bits) = (&accesses.figures, self.side.lane_bits);
        let (Some(row), false) = (tile.bank_row(self.target), self.memory.padding.is_empty()) else {
            return figures.wavefronts();
        };
        let of_warp = |warp: u64| {
            let offset = multiply(&figures.addresses, warp << lane_bits);
            let makes = |made_by: u64| warp << lane_bits & figures.idle & !self.side.lane_mask() == made_by;
            let own = accesses.of_round(0).filter(|access| makes(access.made_by));
            own.map(|access| self.wavefronts(figures, row, access.offset ^ offset)).sum::<u64>()
        };
        (0..self.side.warps()).map(of_warp).max().unwrap_or(0) << self.side.rounds.len()
    }
}

impl Tile<'_> {
    /// Bits of slots' numbers that registers are.
    fn held_slots(&self) -> usize {
        self.slots.iter().filter(|source| matches!(source, Source::Held(_))).count()
    }
}

/// Which registers number slots, in order.
type Choice = SmallVec<[usize; 4]>;

/// The ordered choices of `wanted` among `count`, the first in their own order.
fn choices(count: usize, wanted: usize) -> Vec<Choice> {
    let mut choices = vec![Choice::new()];
    for _ in 0..wanted {
        let longer = |choice: Choice| {
            let left = (0..count).filter(|at| !choice.contains(at)).collect::<SmallVec<[usize; 16]>>();
            left.into_iter().map(move |at| choice.iter().copied().chain([at]).collect::<Choice>())
        };
        choices = choices.into_iter().flat_map(longer).collect();
    }
    choices
}

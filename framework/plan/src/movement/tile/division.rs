//! The left division of a side by a tile: whether the tile fits, and which registers are its own.

use smallvec::SmallVec;

use super::stats::Parts;
use super::{Located, Memory, Source, Tile, TileStats};
use tilewright_layout::f2::{Columns, Subspace, multiply};
use tilewright_target::TargetDescription;

/// Choices of registers that are tried at most.
const MOST_CHOICES: usize = 512;

/// A side on a memory.
pub(in super::super) struct Placed<'a> {
    pub(super) side: &'a Located,
    pub(super) memory: &'a Memory<'a>,
    pub(super) target: &'a TargetDescription,
    /// For each thread bit the offset.
    offsets: Columns,
}

impl<'a> Placed<'a> {
    pub(in super::super) fn new(side: &'a Located, memory: &'a Memory<'a>, target: &'a TargetDescription) -> Self {
        let offsets = side.threads.iter().map(|&column| memory.offset(column)).collect();
        Self { side, memory, target, offsets }
    }

    /// The accesses by a tile, of which registers number slots the first that lie whole slots apart;
    /// `None` where the tile does not divide the side.
    pub(in super::super) fn by(&self, tile: &Tile<'_>) -> Option<TileStats> {
        let vector_bits = self.fits(tile)?;
        if tile.name.is_none() {
            return self.stats(tile, None);
        }
        let first: Choice = (0..tile.held_slots()).collect();
        self.stats(tile, Some(self.parts(tile, &self.whole(vector_bits)?, &first)?))
    }

    /// The same, where those registers number slots that make the fewest wavefronts.
    pub(in super::super) fn best_by(&self, tile: &Tile<'_>) -> Option<TileStats> {
        let mut best = self.by(tile)?;
        let phases = 1 << tile.slots.len().saturating_sub(tile.bank_row(self.target)?.phase.len());
        if tile.held_slots() == 0 || best.each <= phases {
            return Some(best);
        }
        let whole = self.whole(tile.slot_bits() - self.side.byte_bits())?;
        for choice in choices(whole.len(), tile.held_slots()).into_iter().skip(1).take(MOST_CHOICES) {
            let parts = self.parts(tile, &whole, &choice);
            if let Some(other) = parts.and_then(|parts| self.stats(tile, Some(parts)))
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
        if !tile.reaches(&self.side.reach) {
            return None;
        }
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

    fn stats(&self, tile: &Tile<'_>, parts: Option<Parts>) -> Option<TileStats> {
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
        let mut stats = TileStats {
            instruction: tile.name.map(str::to_owned),
            addresses,
            slots,
            slot_bits: tile.slot_bits(),
            idle: if tile.name.is_some() { side.idle & !side.lane_mask() } else { side.idle },
            width,
            accesses: 1 << (numbered + side.repeated_bits()),
            each: 0,
            shared_by: side.alike().take(numbered as usize).collect(),
            parts: parts.map(Box::new),
        };
        stats.each = self.wavefronts(&stats, tile.bank_row(self.target)?, 0);
        Some(stats)
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

/// The ordered choices of `required` among `count`, the first in their own order.
fn choices(count: usize, required: usize) -> Vec<Choice> {
    let mut choices = vec![Choice::new()];
    for _ in 0..required {
        let longer = |choice: Choice| {
            let left = (0..count).filter(|at| !choice.contains(at)).collect::<SmallVec<[usize; 16]>>();
            left.into_iter().map(move |at| choice.iter().copied().chain([at]).collect::<Choice>())
        };
        choices = choices.into_iter().flat_map(longer).collect();
    }
    choices
}

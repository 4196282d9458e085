//! Left division of an accessor's layout by a tile (an access instruction): whether the tile fits, and the registers of
//! its accesses.

use smallvec::SmallVec;

use super::super::SELECTS_PER_WAVEFRONT;
use super::stats::AccessColumns;
use super::{LocatedAccessor, Memory, Source, Tile, TileStats};
use tilewright_layout::f2::{Columns, Subspace, multiply_vector};
use tilewright_target::TargetDescription;

/// Max number of sets of register bits that are compared as the selectors of an instruction's slots (a slot is the
/// contiguous memory at one address that a lane provides), in addition to the default set. The search then stops and
/// returns the best set so far.
const MOST_CHOICES: usize = 512;

/// Bytes of a register.
const WORD_BYTES: u32 = 4;

/// An accessor in a memory layout, with the offset of each thread bit.
pub(in super::super) struct PlacedAccessor<'a> {
    pub(super) side: &'a LocatedAccessor,
    pub(super) memory: &'a Memory<'a>,
    pub(super) target: &'a TargetDescription,
    /// For each thread bit, the offset in elements that it adds (over F2) to the thread's offset.
    offsets: Columns,
}

impl<'a> PlacedAccessor<'a> {
    pub(in super::super) fn new(
        side: &'a LocatedAccessor,
        memory: &'a Memory<'a>,
        target: &'a TargetDescription,
    ) -> Self {
        let offsets = side.threads.iter().map(|&column| memory.offset(column)).collect();
        Self { side, memory, target, offsets }
    }

    /// Returns the accesses by a tile (access instruction); the first register bits that are whole slots apart select
    /// the slot. `None` if the tile does not divide the accessor's layout.
    pub(in super::super) fn by(&self, tile: &Tile<'_>) -> Option<TileStats> {
        let vector_bits = self.fits(tile)?;
        if tile.name.is_none() {
            return self.stats(tile, None);
        }
        let first: Choice = (0..tile.segment_bits_from_registers()).collect();
        self.stats(tile, Some(self.access_columns(tile, &self.segment_registers(vector_bits)?, &first)?))
    }

    /// Whether each access by the tile has consecutive registers of a lane in the order of the memory.
    pub(in super::super) fn has_registers_in_order(&self, tile: &Tile<'_>) -> bool {
        let ordered = self.side.bits_in_order(|column| self.memory.offset(column));
        tile.bytes_per_lane_log2 <= self.side.byte_bits() + ordered
    }

    /// As [`Self::by`], but with the cheapest choice of slot-selecting register bits by wavefronts and byte permutes.
    pub(in super::super) fn best_by(&self, tile: &Tile<'_>) -> Option<TileStats> {
        self.best_after(tile, 0)
    }

    /// As [`Self::best_by`], but an access moves the elements of one 32-bit register together, so that no instructions
    /// merge registers. The search for a memory layout counts these wavefronts.
    pub(in super::super) fn best_with_words(&self, tile: &Tile<'_>) -> Option<TileStats> {
        self.best_after(tile, tile.segment_bits_within_word())
    }

    /// As [`Self::best_by`], but the first `fixed` bits of the slot index are those of [`Self::by`].
    fn best_after(&self, tile: &Tile<'_>, fixed: usize) -> Option<TileStats> {
        let mut best = self.by(tile)?;
        let phases = 1 << tile.segments.len().saturating_sub(tile.bank_row(self.target)?.phase.len());
        let price = |stats: &TileStats| SELECTS_PER_WAVEFRONT * stats.wavefronts() + stats.permutes;
        if tile.segment_bits_from_registers() == 0 || best.each <= phases && best.permutes == 0 {
            return Some(best);
        }
        let segment_registers = self.segment_registers(tile.segment_bits() - self.side.byte_bits())?;
        let is_kept = |choice: &Choice| choice.iter().take(fixed).copied().eq(0..fixed);
        let all = choices(segment_registers.len(), tile.segment_bits_from_registers());
        for choice in all.into_iter().skip(1).filter(is_kept).take(MOST_CHOICES) {
            let access_columns = self.access_columns(tile, &segment_registers, &choice);
            if let Some(other) = access_columns.and_then(|access_columns| self.stats(tile, Some(access_columns)))
                && price(&other) < price(&best)
            {
                best = other;
            }
        }
        Some(best)
    }

    /// Checks whether the tile fits the memory: each slot (contiguous memory at one address) is contiguous. Lane bits
    /// within slots have the offsets that the tile requires, no other thread bit moves within slots, and padding falls
    /// between slots. Returns log2 of the number of elements of a slot; `None` if the tile does not fit.
    fn fits(&self, tile: &Tile<'_>) -> Option<u32> {
        if !tile.reaches(&self.side.reach) {
            return None;
        }
        let byte_bits = self.side.byte_bits();
        let vector_bits = tile.segment_bits().checked_sub(byte_bits)?;
        let low = (1u64 << vector_bits) - 1;
        let lane_bits = self.side.lane_bits as usize;
        if vector_bits as usize > self.memory.columns.len() || tile.address.len() != lane_bits {
            return None;
        }
        let silent = |lane: u32| tile.name.is_some() && !tile.segments.contains(&Source::Lane(lane));
        let is_at_position = |(thread, &offset): (usize, &u64)| {
            let lane = (thread < lane_bits).then_some(thread as u32);
            let slot_bit =
                lane.and_then(|lane| tile.in_segment.iter().position(|&source| source == Source::Lane(lane)));
            match slot_bit {
                Some(bit) => byte_bits <= bit as u32 && offset == 1 << (bit as u32 - byte_bits),
                None => offset & low == 0 && (offset == 0 || !lane.is_some_and(silent)),
            }
        };
        // All lanes execute the instruction and so store replicas too; lanes that hold replicas of each other must use
        // the same slot.
        let is_replica = |thread: usize| tile.name.is_some() && self.side.idle >> thread & 1 == 1;
        let copies = (0..lane_bits).filter(|&lane| is_replica(lane)).all(|lane| self.offsets[lane] == 0);
        let own = |bit: usize| match tile.in_segment.get(bit + byte_bits as usize) {
            Some(Source::Byte(_)) => self.side.span.contains(self.memory.columns[bit]),
            _ => true,
        };
        let fits = tile.keeps_elements(byte_bits)
            && self.offsets.iter().enumerate().all(is_at_position)
            && copies
            && (0..vector_bits as usize).all(own)
            && self.memory.keeps_together(vector_bits);
        fits.then_some(vector_bits)
    }

    /// Returns the elements, added by register bits, that are whole slots (contiguous memory at one address) of
    /// 2^`vector_bits` elements apart; `None` if the other register bits do not fill slots.
    pub(super) fn segment_registers(&self, vector_bits: u32) -> Option<Columns> {
        let vector = &self.memory.columns[..vector_bits as usize];
        let low = (1u64 << vector_bits) - 1;
        let mut space = Subspace::span(vector.iter().copied());
        let cleared = |&kept: &u64| kept ^ multiply_vector(vector, self.memory.offset(kept) & low);
        let segment_registers: Columns =
            self.side.kept.iter().map(cleared).filter(|&column| space.insert(column)).collect();
        segment_registers.iter().all(|&column| self.side.span.contains(column)).then_some(segment_registers)
    }

    /// Returns the registers of the accesses if the entries of `segment_registers` with the indices `choice` select the
    /// slot (contiguous memory at one address). `None` if the accesses do not move all elements of a lane.
    fn access_columns(&self, tile: &Tile<'_>, segment_registers: &[u64], choice: &[usize]) -> Option<AccessColumns> {
        let byte_bits = self.side.byte_bits();
        let mut in_lane = Columns::from_elem(0, tile.bytes_per_lane_log2.checked_sub(byte_bits)? as usize);
        let mut put = |source: Source, column: u64| match source {
            Source::Byte(bit) => in_lane[(bit - byte_bits) as usize] = column,
            Source::Lane(_) => {}
        };
        for (source, &column) in tile.in_segment[byte_bits as usize..].iter().zip(self.memory.columns) {
            put(*source, column);
        }
        let mut chosen = choice.iter();
        let mut segments = Columns::new();
        for &source in &tile.segments {
            let column = if matches!(source, Source::Lane(_)) { 0 } else { *segment_registers.get(*chosen.next()?)? };
            put(source, column);
            segments.push(column);
        }
        let steps: Columns = segment_registers
            .iter()
            .enumerate()
            .filter(|(at, _)| !choice.contains(at))
            .map(|(_, &column)| column)
            .collect();
        let all = in_lane.len() + steps.len() == self.side.span.dimension() as usize;
        all.then_some(AccessColumns { elements: in_lane, segments, steps })
    }

    /// Returns the registers of plain accesses of 2^`width` elements; `None` if the registers of a lane do not fill
    /// whole accesses.
    pub(super) fn plain_access_columns(&self, width: u32) -> Option<AccessColumns> {
        let elements = self.memory.columns[..width as usize].into();
        Some(AccessColumns { elements, segments: Columns::new(), steps: self.segment_registers(width)? })
    }

    fn stats(&self, tile: &Tile<'_>, access_columns: Option<AccessColumns>) -> Option<TileStats> {
        let (side, lane_bits) = (self.side, self.side.lane_bits as usize);
        let column = |(bit, source): (usize, &Source)| match *source {
            Source::Lane(lane) => Some(self.offsets[lane as usize]),
            Source::Byte(_) => {
                access_columns.as_ref().map(|access_columns| self.memory.offset(access_columns.segments[bit]))
            }
        };
        let segments: Columns = tile.segments.iter().enumerate().map(column).collect::<Option<_>>()?;
        let lanes = tile.address.iter().map(|&segment| multiply_vector(&segments, segment));
        let addresses: Columns = lanes.chain(self.offsets[lane_bits..].iter().copied()).collect();
        let width = tile.bytes_per_lane_log2 - side.byte_bits();
        let numbered = side.span.dimension().checked_sub(width)?;
        let mut stats = TileStats {
            instruction: tile.name.map(str::to_owned),
            addresses,
            segments,
            segment_bits: tile.segment_bits(),
            idle: if tile.name.is_some() { side.idle & !side.lane_mask() } else { side.idle },
            width,
            accesses: 1 << (numbered + side.repeated_bits()),
            each: 0,
            permutes: 0,
            shared_by: side.alike().take(numbered as usize).collect(),
            shares: side.shares.clone(),
            access_columns: access_columns.map(Box::new),
        };
        stats.each = self.wavefronts(&stats, tile.bank_row(self.target)?, 0);
        stats.permutes = self.permutes(&stats);
        Some(stats)
    }

    /// Returns the number of byte permutes by which a lane packs its registers into the 32-bit words of the accesses,
    /// or unpacks them. Adjacent registers with elements narrower than 32 bits share a word; an access that has the
    /// same words needs none.
    fn permutes(&self, stats: &TileStats) -> u64 {
        let word_bits = WORD_BYTES.ilog2().saturating_sub(self.side.byte_bits()) as usize;
        let nonzero = self.side.registers.iter().copied().filter(|&column| column != 0);
        let word: Columns = nonzero.take(word_bits).collect();
        if word.is_empty() {
            return 0;
        }
        let elements = match &stats.access_columns {
            Some(access_columns) => &access_columns.elements[..],
            None => &self.memory.columns[..stats.width as usize],
        };
        let accessed = &elements[..word.len().min(elements.len())];
        let is_kept = |&column: &u64| self.memory.offset(column) & ((1 << accessed.len()) - 1) == 0;
        let others = self.side.kept.iter().filter(|column| !word.contains(column));
        if accessed == &word[..] && (stats.access_columns.is_some() || others.copied().all(|column| is_kept(&column))) {
            return 0;
        }
        let sources = Subspace::span(word.iter().chain(accessed).copied()).dimension() as usize - accessed.len();
        (stats.elements() >> word.len()) * ((1 << sources) - 1_u64).max(1)
    }
}

impl Tile<'_> {
    /// Number of the first bits of the slot index, among those that a lane's registers determine, that select elements
    /// of one 32-bit register.
    fn segment_bits_within_word(&self) -> usize {
        let bytes = self.segments.iter().filter(|source| matches!(source, Source::Byte(_)));
        bytes.take_while(|source| matches!(source, Source::Byte(bit) if *bit < WORD_BYTES.ilog2())).count()
    }

    /// Number of bits of the index of a slot (contiguous memory at one address) that a lane's registers determine.
    fn segment_bits_from_registers(&self) -> usize {
        self.segments.iter().filter(|source| matches!(source, Source::Byte(_))).count()
    }
}

/// Indices into the list of register columns that are whole slots (contiguous memory at one address) apart: the chosen
/// ones select the slot of an access, lowest slot bit first.
type Choice = SmallVec<[usize; 4]>;

/// Returns all ordered choices of `required` indices below `count`; the first choice has the lowest indices in order.
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

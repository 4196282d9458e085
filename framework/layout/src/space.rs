//! Labelled spaces: the ordered dims of one side of a layout, each of a power-of-two size.

use std::fmt;

use smallvec::SmallVec;

use super::{Dim, LayoutError};

/// The moves of ranges of bits that convert packed coordinates of one space to packed coordinates of another.
pub(super) type Moves = SmallVec<[Move; 8]>;

/// A range of adjacent bits that moves: its lowest bit in the source, its lowest bit in the target, its number of bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    from: u8,
    to: u8,
    bits: u8,
}

impl Move {
    /// Swaps source and target.
    pub(super) fn reverse(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    #[inline]
    fn apply(self, packed: u64) -> u64 {
        // Ranges are never empty and lie within the word, so no shift reaches 64.
        (packed >> (self.from & 63) & u64::MAX >> ((64 - self.bits) & 63)) << (self.to & 63)
    }
}

/// Maximum number of dims that a space holds without heap allocation. Four input dims and seven axes cover every
/// kernel.
const INLINE_DIMS: usize = 7;

/// An ordered list of dims with their sizes (as powers of two), the most minor first.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Space {
    entries: Entries,
}

/// The entries of a space. A list moves to the heap only if it outgrows the array; unused entries of the array are
/// zero, so equal spaces are equal values.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Entries {
    Inline { len: u8, list: [Entry; INLINE_DIMS] },
    OnHeap(Vec<Entry>),
}

/// A dim, its lowest bit in the packed coordinate, and its number of bits, in one word, so that lists compare as words.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Entry(u32);

impl Entry {
    const UNUSED: Self = Self(0);

    #[inline]
    fn new(dim: Dim, shift: u32, bits: u32) -> Self {
        Self(u32::from(dim.number()) << 16 | shift << 8 | bits)
    }

    #[inline]
    fn dim(self) -> Dim {
        Dim::from_number((self.0 >> 16) as u16)
    }

    #[inline]
    fn shift(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    #[inline]
    fn bits(self) -> u32 {
        self.0 & 0xff
    }

    /// Returns the coordinate along this entry's dim in a packed coordinate.
    #[inline]
    fn coordinate(self, packed: u64) -> u64 {
        // A shift of 64 occurs only for dims without bits, whose mask is zero.
        packed >> (self.shift() & 63) & low_mask(self.bits())
    }
}

impl Default for Space {
    #[inline]
    fn default() -> Self {
        Self { entries: Entries::Inline { len: 0, list: [Entry::UNUSED; INLINE_DIMS] } }
    }
}

impl Space {
    /// The space of the given dims and sizes, the most minor first.
    ///
    /// # Errors
    /// A size that is no power of two, a dim named twice, or more than 64 bits in all.
    pub fn from_sizes(dims: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let mut space = Self::default();
        for &(dim, size) in dims {
            if !size.is_power_of_two() {
                return Err(LayoutError::NotPowerOfTwo { dim, size });
            }
            space.push(dim, size.trailing_zeros())?;
        }
        Ok(space)
    }

    /// Appends a dim of size 2^`bits` as the most major one.
    ///
    /// # Errors
    /// A dim that is present already, or more than 64 bits in all.
    #[inline]
    pub fn push(&mut self, dim: Dim, bits: u32) -> Result<(), LayoutError> {
        if self.contains(dim) {
            return Err(LayoutError::DuplicateDim { dim });
        }
        self.push_new(dim, bits)
    }

    /// Appends a dim that is known to be new.
    #[inline]
    pub(super) fn push_new(&mut self, dim: Dim, bits: u32) -> Result<(), LayoutError> {
        if self.fits(dim, bits) { Ok(()) } else { Err(self.overfull(bits)) }
    }

    #[cold]
    fn overfull(&self, bits: u32) -> LayoutError {
        LayoutError::TooManyBits { bits: self.total_bits().saturating_add(bits) }
    }

    /// Appends a dim that is known to be new and returns true; false, without a change, if the space would have more
    /// than 64 bits.
    #[inline]
    fn fits(&mut self, dim: Dim, bits: u32) -> bool {
        let shift = self.total_bits();
        if bits > 64 - shift {
            return false;
        }
        let entry = Entry::new(dim, shift, bits);
        match &mut self.entries {
            Entries::Inline { len, list } => match list.get_mut(usize::from(*len)) {
                Some(free_entry) => {
                    *free_entry = entry;
                    *len += 1;
                }
                None => {
                    let mut all = list.to_vec();
                    all.push(entry);
                    self.entries = Entries::OnHeap(all);
                }
            },
            Entries::OnHeap(list) => list.push(entry),
        }
        true
    }

    #[inline]
    fn entries(&self) -> &[Entry] {
        match &self.entries {
            Entries::Inline { len, list } => &list[..usize::from(*len)],
            Entries::OnHeap(list) => list,
        }
    }

    #[inline]
    fn find(&self, dim: Dim) -> Option<Entry> {
        self.entries().iter().copied().find(|entry| entry.dim() == dim)
    }

    /// Number of bits over all dims.
    #[inline]
    #[must_use]
    pub fn total_bits(&self) -> u32 {
        self.entries().last().map_or(0, |last| last.shift() + last.bits())
    }

    /// Number of dims.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there is no dim.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The lowest bit and the number of bits of the dim at an index of the list; zeros if the index is beyond its end.
    #[inline]
    pub(super) fn shift_and_bits(&self, index: usize) -> (u32, u32) {
        self.entries().get(index).map_or((0, 0), |entry| (entry.shift(), entry.bits()))
    }

    /// The dims with their bits, the most minor first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Dim, u32)> + ExactSizeIterator + Clone + '_ {
        self.entries().iter().map(|entry| (entry.dim(), entry.bits()))
    }

    /// The dims, the most minor first.
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = Dim> + ExactSizeIterator + Clone + '_ {
        self.entries().iter().map(|entry| entry.dim())
    }

    /// Whether `dim` is one of the dims.
    #[inline]
    #[must_use]
    pub fn contains(&self, dim: Dim) -> bool {
        self.find(dim).is_some()
    }

    /// Log2 of the size of `dim`; zero if it is absent.
    #[inline]
    #[must_use]
    pub fn bits_of(&self, dim: Dim) -> u32 {
        self.find(dim).map_or(0, Entry::bits)
    }

    /// Position of the lowest bit of `dim` in the packed coordinate; `None` if the dim is absent.
    #[inline]
    #[must_use]
    pub fn shift_of(&self, dim: Dim) -> Option<u32> {
        self.find(dim).map(Entry::shift)
    }

    /// The range of bits of `dim` in the packed coordinate; empty if it is absent.
    #[inline]
    pub(super) fn range_of(&self, dim: Dim) -> std::ops::Range<usize> {
        self.find(dim).map_or(0..0, |entry| entry.shift() as usize..(entry.shift() + entry.bits()) as usize)
    }

    /// Mask of the bits of `dim` in the packed coordinate; zero if it is absent.
    #[must_use]
    pub fn mask_of(&self, dim: Dim) -> u64 {
        self.find(dim).map_or(0, |entry| low_mask(entry.bits()) << (entry.shift() & 63))
    }

    /// The coordinate along `dim` of a packed coordinate.
    #[must_use]
    pub fn coordinate(&self, packed: u64, dim: Dim) -> u64 {
        self.find(dim).map_or(0, |entry| entry.coordinate(packed))
    }

    /// All coordinates of a packed coordinate, in the order of the dims.
    #[inline]
    pub fn unpack(&self, packed: u64) -> impl ExactSizeIterator<Item = (Dim, u64)> + '_ {
        self.entries().iter().map(move |entry| (entry.dim(), entry.coordinate(packed)))
    }

    /// The packed coordinate of `coordinates`; dims that are not named are at zero.
    ///
    /// # Errors
    /// A dim that is not of this space, or a coordinate beyond its size.
    #[inline]
    pub fn pack(&self, coordinates: &[(Dim, u64)]) -> Result<u64, LayoutError> {
        let mut packed = 0;
        for &(dim, value) in coordinates {
            let entry = self.find(dim).ok_or(LayoutError::NoSuchDim { dim })?;
            if value > low_mask(entry.bits()) {
                return Err(LayoutError::CoordinateTooLarge { dim, value, bits: entry.bits() });
            }
            packed ^= value << (entry.shift() & 63);
        }
        Ok(packed)
    }

    /// The packed coordinate of a coordinate along each dim, in the order of the dims.
    ///
    /// # Errors
    /// A coordinate beyond its dim's size.
    #[inline]
    pub(super) fn pack_in_order(&self, coordinates: impl Iterator<Item = u64>) -> Result<u64, LayoutError> {
        let mut packed = 0;
        for (entry, value) in self.entries().iter().zip(coordinates) {
            let bits = entry.bits();
            if value > low_mask(bits) {
                return Err(LayoutError::CoordinateTooLarge { dim: entry.dim(), value, bits });
            }
            packed |= value << (entry.shift() & 63);
        }
        Ok(packed)
    }

    /// The moves that convert a packed coordinate of this space to one of `other`, dim by dim.
    ///
    /// # Errors
    /// `other` lacks a dim of this space, or has it with fewer bits.
    pub(super) fn embedding(&self, other: &Self) -> Result<Moves, LayoutError> {
        let mut moves = Moves::new();
        for entry in self.entries() {
            let dim = entry.dim();
            let to = other.find(dim).ok_or(LayoutError::NoSuchDim { dim })?;
            if entry.bits() > to.bits() {
                return Err(LayoutError::SizeMismatch { dim, left: entry.bits(), right: to.bits() });
            }
            add_move(&mut moves, entry.shift(), to.shift(), entry.bits());
        }
        Ok(moves)
    }

    /// The direct sum of two spaces, and the moves that convert packed coordinates of either to it: each dim has the
    /// bits of both spaces, those of `above` as the upper ones. Dims are listed as in `order`, which lists those of
    /// both.
    ///
    /// # Errors
    /// More than 64 bits.
    pub(super) fn direct_sum(&self, above: &Self, order: &Self) -> Result<(Self, [Moves; 2]), LayoutError> {
        let mut space = Self::default();
        let mut moves = [Moves::new(), Moves::new()];
        for listed in order.entries() {
            let dim = listed.dim();
            let left_entry = self.find(dim).unwrap_or(Entry::UNUSED);
            let other = above.find(dim).unwrap_or(Entry::UNUSED);
            let shift = space.total_bits();
            space.push_new(dim, left_entry.bits() + other.bits())?;
            add_move(&mut moves[0], left_entry.shift(), shift, left_entry.bits());
            add_move(&mut moves[1], other.shift(), shift + left_entry.bits(), other.bits());
        }
        Ok((space, moves))
    }

    /// [`Space::direct_sum`] in one pass for the usual case: the result lists the dims of this space and then those
    /// that only `above` has, and `above` lists these after the shared ones. Returns whether the case applies;
    /// otherwise, or if the result needs heap allocation, `space` and `moves` are undefined.
    #[inline]
    pub(super) fn join(&self, above: &Self, space: &mut Self, moves: &mut [Moves; 2]) -> bool {
        let (mut list, mut len, mut shift) = ([Entry::UNUSED; INLINE_DIMS], 0, 0);
        let mut rest = above.entries();
        let mut add = |dim: Dim, left_entry: Entry, other: Entry| {
            let bits = left_entry.bits() + other.bits();
            let Some(free_entry) = list.get_mut(len).filter(|_| shift + bits <= 64) else { return false };
            *free_entry = Entry::new(dim, shift, bits);
            add_move(&mut moves[0], left_entry.shift(), shift, left_entry.bits());
            add_move(&mut moves[1], other.shift(), shift + left_entry.bits(), other.bits());
            (len, shift) = (len + 1, shift + bits);
            true
        };
        for &left_entry in self.entries() {
            let other = match rest {
                [first, later @ ..] if first.dim() == left_entry.dim() => {
                    rest = later;
                    *first
                }
                _ => Entry::UNUSED,
            };
            if !add(left_entry.dim(), left_entry, other) {
                return false;
            }
        }
        for &other in rest {
            if self.contains(other.dim()) || !add(other.dim(), Entry::UNUSED, other) {
                return false;
            }
        }
        space.entries = Entries::Inline { len: len as u8, list };
        true
    }

    /// The conversion of packed coordinates to the sizes and the order that the dims have in `other`: a coordinate that
    /// no longer fits its dim becomes zero.
    ///
    /// # Errors
    /// A dim that `other` lacks.
    pub(super) fn resizing(&self, other: &Self) -> Result<Resizing, LayoutError> {
        let mut resizing = Resizing::default();
        for entry in self.entries() {
            let dim = entry.dim();
            let to = other.find(dim).ok_or(LayoutError::NoSuchDim { dim })?;
            add_move(&mut resizing.moves, entry.shift(), to.shift(), entry.bits().min(to.bits()));
            if entry.bits() > to.bits() {
                let at = |bits: u32| low_mask(bits).checked_shl(entry.shift()).unwrap_or(0);
                let all = at(entry.bits());
                resizing.cut.push((all, all & !at(to.bits())));
            }
        }
        Ok(resizing)
    }
}

/// A conversion of packed coordinates to a space with other sizes.
#[derive(Default)]
pub(super) struct Resizing {
    moves: Moves,
    /// For each dim that shrinks, the mask of its bits and the mask of those that are lost.
    cut: SmallVec<[(u64, u64); 4]>,
}

impl Resizing {
    /// Converts one packed coordinate.
    #[inline]
    pub(super) fn apply(&self, packed: u64) -> u64 {
        let fits = |packed: u64, &(all, lost): &(u64, u64)| if packed & lost == 0 { packed } else { packed & !all };
        scatter(&self.moves, self.cut.iter().fold(packed, fits))
    }
}

/// Adds the move of a range of bits; extends the previous move if this one continues it both in the source and in the
/// target.
#[inline]
fn add_move(moves: &mut Moves, from: u32, to: u32, bits: u32) {
    if bits == 0 {
        return;
    }
    if let Some(last) = moves.last_mut() {
        let had = u32::from(last.bits);
        if u32::from(last.from) + had == from && u32::from(last.to) + had == to {
            last.bits += bits as u8;
            return;
        }
    }
    moves.push(Move { from: from as u8, to: to as u8, bits: bits as u8 });
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The mask of the lowest `bits` bits.
#[inline]
pub(super) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Applies the moves to a packed coordinate.
#[inline]
pub(super) fn scatter(moves: &[Move], packed: u64) -> u64 {
    moves.iter().fold(0, |out, run| out | run.apply(packed))
}

/// Copies columns to other indices of `to`, whose columns there must be zero before. `index_moves` moves the bits of a
/// column's index, `moves` the bits of the column.
#[inline]
pub(super) fn scatter_columns(columns: &[u64], index_moves: &[Move], moves: &[Move], to: &mut [u64]) {
    for index_move in index_moves {
        let count = usize::from(index_move.bits);
        let from = &columns[usize::from(index_move.from)..][..count];
        let to = &mut to[usize::from(index_move.to)..][..count];
        for run in moves {
            for (target, &column) in to.iter_mut().zip(from) {
                *target |= run.apply(column);
            }
        }
    }
}

//! Labelled spaces: the ordered dims of one side of a layout, each of a power-of-two size.

use smallvec::SmallVec;

use super::{Dim, LayoutError};

/// Pieces of a packed coordinate: from which bit to which, and the mask of a piece at bit zero.
pub(super) type Moves = SmallVec<[(u32, u32, u64); 5]>;

/// An ordered list of dims with their sizes (as powers of two), the most minor first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Space {
    dims: SmallVec<[(Dim, u8); 5]>,
}

impl Space {
    /// The space of the given dims and sizes, the most minor first.
    ///
    /// # Errors
    /// A size that is no power of two, a dim named twice, or more than 64 bits in all.
    pub fn of_sizes(dims: &[(Dim, u64)]) -> Result<Self, LayoutError> {
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
    /// A dim that is there already, or more than 64 bits in all.
    pub fn push(&mut self, dim: Dim, bits: u32) -> Result<(), LayoutError> {
        if self.contains(dim) {
            return Err(LayoutError::DuplicateDim { dim });
        }
        let total = self.bits() + bits;
        if total > 64 {
            return Err(LayoutError::TooManyBits { bits: total });
        }
        self.dims.push((dim, bits as u8));
        Ok(())
    }

    /// Number of bits over all dims.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.dims.iter().map(|&(_, bits)| u32::from(bits)).sum()
    }

    /// Number of dims.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dims.len()
    }

    /// Whether there is no dim.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty()
    }

    /// The dims with their bits, the most minor first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Dim, u32)> + ExactSizeIterator + '_ {
        self.dims.iter().map(|&(dim, bits)| (dim, u32::from(bits)))
    }

    /// The dims, the most minor first.
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = Dim> + ExactSizeIterator + '_ {
        self.dims.iter().map(|&(dim, _)| dim)
    }

    /// Whether `dim` is one of the dims.
    #[must_use]
    pub fn contains(&self, dim: Dim) -> bool {
        self.dims.iter().any(|&(d, _)| d == dim)
    }

    /// Log2 of the size of `dim`; zero where it is absent.
    #[must_use]
    pub fn bits_of(&self, dim: Dim) -> u32 {
        self.dims.iter().find(|&&(d, _)| d == dim).map_or(0, |&(_, bits)| u32::from(bits))
    }

    /// Position of the lowest bit of `dim` in the packed coordinate.
    #[must_use]
    pub fn shift_of(&self, dim: Dim) -> Option<u32> {
        let mut shift = 0;
        for (d, bits) in self.iter() {
            if d == dim {
                return Some(shift);
            }
            shift += bits;
        }
        None
    }

    /// Mask of the bits of `dim` in the packed coordinate; zero where it is absent.
    #[must_use]
    pub fn mask_of(&self, dim: Dim) -> u64 {
        self.shift_of(dim).map_or(0, |shift| low_mask(self.bits_of(dim)).checked_shl(shift).unwrap_or(0))
    }

    /// The coordinate along `dim` of a packed coordinate.
    #[must_use]
    pub fn coordinate(&self, packed: u64, dim: Dim) -> u64 {
        self.shift_of(dim).map_or(0, |shift| packed.checked_shr(shift).unwrap_or(0) & low_mask(self.bits_of(dim)))
    }

    /// All coordinates of a packed coordinate, in the order of the dims.
    pub fn unpack(&self, packed: u64) -> impl Iterator<Item = (Dim, u64)> + '_ {
        let mut rest = packed;
        self.iter().map(move |(dim, bits)| {
            let value = rest & low_mask(bits);
            rest = rest.checked_shr(bits).unwrap_or(0);
            (dim, value)
        })
    }

    /// The packed coordinate of `coordinates`; dims that are not named are at zero.
    ///
    /// # Errors
    /// A dim that is not of this space, or a coordinate beyond its size.
    pub fn pack(&self, coordinates: &[(Dim, u64)]) -> Result<u64, LayoutError> {
        let mut packed = 0;
        for &(dim, value) in coordinates {
            let shift = self.shift_of(dim).ok_or(LayoutError::NoSuchDim { dim })?;
            if value > low_mask(self.bits_of(dim)) {
                return Err(LayoutError::CoordinateTooLarge { dim, value, bits: self.bits_of(dim) });
            }
            packed ^= value.checked_shl(shift).unwrap_or(0);
        }
        Ok(packed)
    }

    /// Where every bit of this space's packed coordinate goes in that of `other`, by name.
    ///
    /// # Errors
    /// A dim that `other` lacks or has smaller.
    pub(super) fn embedding(&self, other: &Self) -> Result<Moves, LayoutError> {
        let mut moves = Moves::new();
        let mut from = 0;
        for (dim, bits) in self.iter() {
            let to = other.shift_of(dim).ok_or(LayoutError::NoSuchDim { dim })?;
            if bits > other.bits_of(dim) {
                return Err(LayoutError::SizeMismatch { dim, left: bits, right: other.bits_of(dim) });
            }
            if bits > 0 {
                moves.push((from, to, low_mask(bits)));
            }
            from += bits;
        }
        Ok(moves)
    }
}

/// The mask of the lowest `bits` bits.
#[inline]
pub(super) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Moves the pieces of a packed coordinate as an embedding of spaces says.
#[inline]
pub(super) fn scatter(moves: &[(u32, u32, u64)], packed: u64) -> u64 {
    moves.iter().fold(0, |out, &(from, to, mask)| out | (((packed >> from) & mask) << to))
}

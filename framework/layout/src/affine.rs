//! Affine layouts: a linear layout and a constant, `A x xor b`.

use std::fmt;

use super::{Coordinates, Dim, LayoutError, LinearLayout};

/// The affine map `x -> A x xor b` over F2 (Linear Layouts paper, section 8), such as a linear layout that is flipped
/// or sliced. A linear layout alone maps zero to zero.
///
/// ```
/// use tilewright_layout::{AffineLayout, Dim, LinearLayout};
/// let row = Dim::tensor(0);
/// let lanes = LinearLayout::identity(8, Dim::LANE, row)?;
/// let flipped = AffineLayout::from(lanes).flip_out(row)?;
/// assert_eq!(flipped.apply(&[(Dim::LANE, 2)])?, [(row, 5)]);
/// assert_eq!(flipped.as_linear(), None);
/// assert_eq!(flipped.invert()?.apply(&[(row, 5)])?, [(Dim::LANE, 2)]);
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct AffineLayout {
    linear: LinearLayout,
    /// The constant `b`, the image of zero, as a packed coordinate: all out dims in one integer, the first in the low
    /// bits.
    offset: u64,
}

impl From<LinearLayout> for AffineLayout {
    fn from(linear: LinearLayout) -> Self {
        Self { linear, offset: 0 }
    }
}

impl AffineLayout {
    /// The map `x -> linear(x) xor offset`; the offset is zero along the out dims that `offset` does not name.
    ///
    /// # Errors
    /// `offset` names a dim that is no out dim of `linear`, or a coordinate beyond the dim's size.
    pub fn new(linear: LinearLayout, offset: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let offset = linear.outs.pack(offset)?;
        Ok(Self { linear, offset })
    }

    /// The linear part of the map: the matrix `A`, as a layout.
    #[must_use]
    pub fn linear_part(&self) -> &LinearLayout {
        &self.linear
    }

    /// Iterates over the constant `b`, the image of zero: each out dim with its coordinate, in the order of the out
    /// dims.
    pub fn offset(&self) -> impl Iterator<Item = (Dim, u64)> + '_ {
        self.linear.outs.unpack(self.offset)
    }

    /// The linear layout that is the same map; `None` if the constant is not zero.
    #[must_use]
    pub fn as_linear(&self) -> Option<&LinearLayout> {
        (self.offset == 0).then_some(&self.linear)
    }

    /// Applies the map to a packed input (all input dims in one integer, the first in the low bits) and returns the
    /// packed out coordinate; allocates nothing.
    #[inline]
    #[must_use]
    pub fn apply_packed(&self, input: u64) -> u64 {
        self.linear.apply_packed(input) ^ self.offset
    }

    /// Applies the map to an input given by dim; input dims that `input` does not name are at zero.
    ///
    /// # Errors
    /// `input` names a dim that is no input dim, or a coordinate beyond the dim's size.
    #[inline]
    pub fn apply(&self, input: &[(Dim, u64)]) -> Result<Coordinates, LayoutError> {
        Ok(Coordinates::unpack(&self.linear.outs, self.apply_packed(self.linear.ins.pack(input)?)))
    }

    /// This map with the coordinates along an out dim reversed: `y -> size - 1 - y` after the map.
    ///
    /// # Errors
    /// [`LayoutError::NoSuchDim`] if the dim is absent.
    pub fn flip_out(&self, dim: Dim) -> Result<Self, LayoutError> {
        if !self.linear.outs.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        Ok(Self { linear: self.linear.clone(), offset: self.offset ^ self.linear.outs.mask_of(dim) })
    }

    /// This map with the positions of an input dim reversed: `x -> size - 1 - x` before the map.
    ///
    /// # Errors
    /// [`LayoutError::NoSuchDim`] if the dim is absent.
    pub fn flip_in(&self, dim: Dim) -> Result<Self, LayoutError> {
        if !self.linear.ins.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        let moved = self.linear.apply_packed(self.linear.ins.mask_of(dim));
        Ok(Self { linear: self.linear.clone(), offset: self.offset ^ moved })
    }

    /// Restricts this map to the positions `start..start + size` of an input dim, which become the positions `0..size`.
    /// This gives the map of a tensor's slice from a map of the tensor's elements to memory.
    ///
    /// # Errors
    /// [`LayoutError::NotAffine`] if `start` is no multiple of `size`: then `start + x` carries and is no xor.
    /// [`LayoutError::NotPowerOfTwo`] if `size` is no power of two, [`LayoutError::CoordinateTooLarge`] if positions
    /// lie beyond the dim, [`LayoutError::NoSuchDim`] if the dim is absent.
    pub fn slice_in(&self, dim: Dim, start: u64, size: u64) -> Result<Self, LayoutError> {
        let linear = &self.linear;
        if !size.is_power_of_two() {
            return Err(LayoutError::NotPowerOfTwo { dim, size });
        }
        if !start.is_multiple_of(size) {
            return Err(LayoutError::NotAffine { dim, by: start, bits: size.trailing_zeros() });
        }
        let moved = linear.apply_packed(linear.ins.pack(&[(dim, start)])?);
        if size.trailing_zeros() > linear.ins.bits_of(dim) {
            let bits = linear.ins.bits_of(dim);
            return Err(LayoutError::CoordinateTooLarge { dim, value: size - 1, bits });
        }
        Ok(Self { linear: linear.resize_in(dim, size)?, offset: self.offset ^ moved })
    }

    /// This map with `by` added to the coordinate along an out dim.
    ///
    /// # Errors
    /// [`LayoutError::NotAffine`] if adding carries into bits that depend on the input, or out of the dim,
    /// [`LayoutError::NoSuchDim`] if the dim is absent.
    pub fn shift_out(&self, dim: Dim, by: u64) -> Result<Self, LayoutError> {
        let outs = &self.linear.outs;
        let shift = outs.shift_of(dim).ok_or(LayoutError::NoSuchDim { dim })?;
        let varying = self.linear.columns.iter().fold(0, |all, &column| all | outs.coordinate(column, dim));
        let constant = outs.coordinate(self.offset, dim) & !varying;
        let not_affine = LayoutError::NotAffine { dim, by, bits: 64 - varying.leading_zeros() };
        let fits = |sum: &u64| sum & varying == 0 && *sum <= super::space::low_mask(outs.bits_of(dim));
        let sum = constant.checked_add(by).filter(fits).ok_or(not_affine)?;
        let changed = (constant ^ sum).checked_shl(shift).unwrap_or(0);
        Ok(Self { linear: self.linear.clone(), offset: self.offset ^ changed })
    }

    /// The composition `x -> outer(self(x))`.
    ///
    /// # Errors
    /// As [`LinearLayout::compose`].
    pub fn compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        let linear = self.linear.compose(&outer.linear)?;
        let embedded = super::space::scatter(&self.linear.outs.embedding(&outer.linear.ins)?, self.offset);
        Ok(Self { linear, offset: outer.apply_packed(embedded) })
    }

    /// The inverse of an invertible map.
    ///
    /// # Errors
    /// [`LayoutError::NotInvertible`] if the linear part of the map is not invertible.
    pub fn invert(&self) -> Result<Self, LayoutError> {
        let linear = self.linear.invert()?;
        let offset = linear.apply_packed(self.offset);
        Ok(Self { linear, offset })
    }

    /// The map C with `self(x) = outer(C(x))`; the linear part of C is the result of
    /// [`LinearLayout::invert_and_compose`].
    ///
    /// # Errors
    /// As [`LinearLayout::invert_and_compose`]; [`LayoutError::OffsetNotReached`] if `outer` never reaches the image of
    /// zero.
    pub fn invert_and_compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        let linear = self.linear.invert_and_compose(&outer.linear)?;
        let moves = self.linear.outs.embedding(&outer.linear.outs)?;
        let target = super::space::scatter(&moves, self.offset) ^ outer.offset;
        let offset = crate::f2::Solver::new(&outer.linear.columns).solve(target);
        Ok(Self { linear, offset: offset.ok_or(LayoutError::OffsetNotReached)? })
    }

    /// The direct sum `self * outer`, as [`LinearLayout::direct_sum`]: in dims that both maps have, `outer` acts on
    /// higher bits.
    ///
    /// # Errors
    /// The inputs or the outputs have more than 64 bits together.
    pub fn direct_sum(&self, outer: &Self) -> Result<Self, LayoutError> {
        let linear = self.linear.direct_sum(&outer.linear)?;
        let mut offset = super::space::scatter(&self.linear.outs.embedding(&linear.outs)?, self.offset);
        for (dim, value) in outer.offset().filter(|&(_, value)| value != 0) {
            let shift = linear.outs.shift_of(dim).unwrap_or(0) + self.linear.outs.bits_of(dim);
            offset |= value.checked_shl(shift).unwrap_or(0);
        }
        Ok(Self { linear, offset })
    }
}

impl fmt::Display for AffineLayout {
    /// Writes the linear part, then a line for the constant.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset: Vec<_> = self.offset().map(|(_, value)| value.to_string()).collect();
        write!(f, "{}\nxor [{}]", self.linear, offset.join(","))
    }
}

impl fmt::Debug for AffineLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

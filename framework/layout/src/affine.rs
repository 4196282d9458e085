//! Affine layouts: a linear layout and a constant, `A x xor b`.

use std::fmt;

use super::{Coordinates, Dim, LayoutError, LinearLayout};

/// The map `x -> A x xor b`: what flips and slices make of a linear layout, and no linear layout
/// can say, since that maps zero to zero (seed 000, section 8).
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
    /// The packed image of zero.
    offset: u64,
}

impl From<LinearLayout> for AffineLayout {
    fn from(linear: LinearLayout) -> Self {
        Self { linear, offset: 0 }
    }
}

impl AffineLayout {
    /// `x -> linear(x) xor offset`; dims that `offset` does not name are at zero.
    ///
    /// # Errors
    /// An out dim that is not there, or a coordinate beyond its size.
    pub fn new(linear: LinearLayout, offset: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let offset = linear.outs.pack(offset)?;
        Ok(Self { linear, offset })
    }

    /// The linear part, `A`.
    #[must_use]
    pub fn linear_part(&self) -> &LinearLayout {
        &self.linear
    }

    /// The constant `b`, the image of zero, in the order of the out dims.
    pub fn offset(&self) -> impl Iterator<Item = (Dim, u64)> + '_ {
        self.linear.outs.unpack(self.offset)
    }

    /// The linear layout that is the same map; `None` where the constant is not zero.
    #[must_use]
    pub fn as_linear(&self) -> Option<&LinearLayout> {
        (self.offset == 0).then_some(&self.linear)
    }

    /// The packed out coordinate of a packed input; allocates nothing.
    #[inline]
    #[must_use]
    pub fn apply_packed(&self, input: u64) -> u64 {
        self.linear.apply_packed(input) ^ self.offset
    }

    /// The coordinates of an input; dims that are not named are at zero.
    ///
    /// # Errors
    /// A dim that is not an input, or a coordinate beyond its size.
    #[inline]
    pub fn apply(&self, input: &[(Dim, u64)]) -> Result<Coordinates, LayoutError> {
        Ok(Coordinates::of(&self.linear.outs, self.apply_packed(self.linear.ins.pack(input)?)))
    }

    /// The coordinates along an out dim in reverse: `y -> size - 1 - y`.
    ///
    /// # Errors
    /// Where the dim is absent.
    pub fn flip_out(&self, dim: Dim) -> Result<Self, LayoutError> {
        if !self.linear.outs.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        Ok(Self { linear: self.linear.clone(), offset: self.offset ^ self.linear.outs.mask_of(dim) })
    }

    /// The positions of an input dim in reverse: `x -> size - 1 - x` before this map.
    ///
    /// # Errors
    /// Where the dim is absent.
    pub fn flip_in(&self, dim: Dim) -> Result<Self, LayoutError> {
        if !self.linear.ins.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        let moved = self.linear.apply_packed(self.linear.ins.mask_of(dim));
        Ok(Self { linear: self.linear.clone(), offset: self.offset ^ moved })
    }

    /// This map on the positions `start..start + size` of an input dim, counted from `start`: what
    /// a slice of a tensor is in a map from elements to memory.
    ///
    /// # Errors
    /// [`LayoutError::NotAffine`] where `start` is no multiple of `size`: then `start + x` carries,
    /// and is no xor. Sizes that are no powers of two, positions beyond the dim, absent dims.
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

    /// `by` added to the coordinate along an out dim.
    ///
    /// # Errors
    /// [`LayoutError::NotAffine`] where adding carries into bits that depend on the input, or out
    /// of the dim; a dim that is absent.
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

    /// `outer(self(x))`.
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
    /// [`LayoutError::NotInvertible`].
    pub fn invert(&self) -> Result<Self, LayoutError> {
        let linear = self.linear.invert()?;
        let offset = linear.apply_packed(self.offset);
        Ok(Self { linear, offset })
    }

    /// The C with `self(x) = outer(C(x))`; its linear part is that of
    /// [`LinearLayout::invert_and_compose`].
    ///
    /// # Errors
    /// As there; and [`LayoutError::OffsetNotReached`] where `outer` never reaches the image of zero.
    pub fn invert_and_compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        let linear = self.linear.invert_and_compose(&outer.linear)?;
        let moves = self.linear.outs.embedding(&outer.linear.outs)?;
        let target = super::space::scatter(&moves, self.offset) ^ outer.offset;
        let offset = crate::f2::Solver::new(&outer.linear.columns).solve(target);
        Ok(Self { linear, offset: offset.ok_or(LayoutError::OffsetNotReached)? })
    }

    /// The direct sum, as [`LinearLayout::direct_sum`]: `outer` above `self`.
    ///
    /// # Errors
    /// More than 64 bits on a side.
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
    /// The linear part, and a line for the constant.
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

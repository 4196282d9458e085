//! Tracks integers that consist of bit fields of the index of a thread in its block.
//!
//! Offsets are sums of shifted and masked bits of the lane's and the warp's index. Where both are fields of one register,
//! a field of the lane and a field of the warp that are shifted by the same distance are one field of the thread's
//! index. LLVM does not find this if parts of the sum have other uses.

use tilewright_kernel::Binary;

/// Max number of fields of a tracked integer.
const FIELDS: usize = 6;

/// A 32-bit integer as the sum of disjoint fields of the thread's index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ThreadFields {
    fields: [Field; FIELDS],
    count: usize,
}

/// The bits `mask` of the thread's index shifted left by `shift` bits, or right by `-shift`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) shift: i32,
    pub(crate) mask: u32,
}

impl ThreadFields {
    /// Creates the integer of one field.
    pub(crate) fn new(shift: i32, mask: u32) -> Self {
        Self::default().with(Field { shift, mask }).unwrap_or_default()
    }

    /// Returns the fields.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields[..self.count]
    }

    /// Returns the fields of `op` applied to the integer and a constant; `None` if the result is not tracked.
    pub(crate) fn apply(self, op: Binary, constant: u64) -> Option<Self> {
        let constant = u32::try_from(constant).ok()?;
        let moved = |by: u32, left: bool| {
            let sign = if left { 1 } else { -1 };
            let mask = |mask: u32| if left { mask.checked_shl(by) } else { mask.checked_shr(by) };
            self.map(|field| Some(Field { shift: field.shift + sign * by as i32, mask: mask(field.mask)? }))
        };
        match op {
            Binary::And => self.map(|field| Some(Field { mask: field.mask & constant, ..field })),
            Binary::Shl => moved(constant, true),
            Binary::ShrU => moved(constant, false),
            Binary::Mul if constant.is_power_of_two() => moved(constant.trailing_zeros(), true),
            _ => None,
        }
    }

    /// Returns the sum of two integers whose fields are disjoint; `None` if they overlap, or have too many fields.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        other.fields().iter().try_fold(self, |sum, &field| sum.with(field))
    }

    /// Returns the sum of two integers if at least one field of it consists of a field of each; `None` otherwise. Bit 31,
    /// the sign of an offset, must be clear.
    pub(crate) fn merged(self, other: Self) -> Option<Self> {
        let is_shorter = |sum: &Self| sum.count < self.count + other.count;
        self.plus(other).filter(is_shorter).filter(Self::is_non_negative)
    }

    /// Whether bit 31, the sign bit of an `i32`, is clear.
    pub(crate) fn is_non_negative(&self) -> bool {
        self.fields().iter().all(|field| field.mask >> 31 == 0)
    }

    /// Whether `op` with a constant, applied to the integer as an `i64`, has no bits beyond a non-negative `i32`.
    pub(crate) fn keeps_bits(&self, op: Binary, constant: u64) -> bool {
        let by = match op {
            Binary::Shl => constant,
            Binary::Mul => constant.trailing_zeros().into(),
            _ => 0,
        };
        self.fields().iter().all(|field| by < u64::from(field.mask.leading_zeros()))
    }

    fn map(self, change: impl Fn(Field) -> Option<Field>) -> Option<Self> {
        self.fields().iter().try_fold(Self::default(), |all, &field| all.with(change(field)?))
    }

    fn with(mut self, field: Field) -> Option<Self> {
        if field.mask == 0 {
            return Some(self);
        }
        if self.fields().iter().any(|known| known.mask & field.mask != 0) {
            return None;
        }
        let count = self.count;
        match self.fields[..count].iter_mut().find(|known| known.shift == field.shift) {
            Some(known) => known.mask |= field.mask,
            None => {
                *self.fields.get_mut(count)? = field;
                self.count += 1;
            }
        }
        Some(self)
    }
}

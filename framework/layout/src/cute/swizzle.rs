//! Swizzles, and layouts under swizzles.

use std::fmt;

use super::{CuteError, CuteLayout, composition};

/// `x ^ ((x & yyy) >> shift)`, where `yyy` are `bits` bits from bit `base + max(0, shift)`; a
/// negative shift shifts left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// `Swizzle<bits, base, shift>`.
    ///
    /// # Errors
    /// [`CuteError::Swizzle`] where the bits read and written overlap or lie past bit 63.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Self, CuteError> {
        let wrong = |reason| Err(CuteError::Swizzle { bits, base, shift, reason });
        if shift.unsigned_abs() < bits {
            return wrong("the shift must be at least the number of bits, or they would overlap");
        }
        if u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs()) > 64 {
            return wrong("it reaches past bit 63");
        }
        Ok(Self { bits, base, shift })
    }

    /// How many bits are changed.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// How many low bits stay.
    pub fn base(self) -> u32 {
        self.base
    }

    /// How far above the changed bits the changing ones lie; negative for below.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// The swizzled number; doing it twice is doing nothing.
    pub fn apply(self, x: u64) -> u64 {
        if self.bits == 0 {
            return x;
        }
        let low = (u64::MAX >> (64 - self.bits)) << self.base;
        let by = self.shift.unsigned_abs();
        if self.shift >= 0 { x ^ ((x >> by) & low) } else { x ^ ((x & low) << by) }
    }

    /// The swizzle on elements `2^by` as wide.
    pub(super) fn narrowed(self, by: u32) -> Option<Self> {
        Some(Self { base: self.base.checked_sub(by)?, ..self })
    }

    /// The swizzle on elements `2^by` of which make one.
    pub(super) fn widened(self, by: u32) -> Result<Self, CuteError> {
        Self::new(self.bits, self.base + by, self.shift)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Swizzle<{},{},{}>", self.bits, self.base, self.shift)
    }
}

/// `S o offset o L`: the swizzles, the last first, of the offset plus the value of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    swizzles: Vec<Swizzle>,
    offset: u64,
    layout: CuteLayout,
}

impl ComposedLayout {
    /// Swizzles (the outermost first) over an offset over a layout.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] where offset and largest value do not fit a word.
    pub fn new(swizzles: Vec<Swizzle>, offset: u64, layout: CuteLayout) -> Result<Self, CuteError> {
        let reach = layout.cosize().checked_add(offset);
        reach.ok_or(CuteError::Overflow { what: "the offset and the largest value of the layout" })?;
        Ok(Self { swizzles, offset, layout })
    }

    /// The swizzles, the outermost first.
    pub fn swizzles(&self) -> &[Swizzle] {
        &self.swizzles
    }

    /// The offset, which is added before the swizzles.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The layout.
    pub fn layout(&self) -> &CuteLayout {
        &self.layout
    }

    /// The value at an integer coordinate.
    ///
    /// # Errors
    /// [`CuteError::Overflow`].
    pub fn at(&self, index: u64) -> Result<u64, CuteError> {
        let inside = self.layout.at(index)?.checked_add(self.offset);
        let inside = inside.ok_or(CuteError::Overflow { what: "the value at the coordinate" })?;
        Ok(self.swizzles.iter().rev().fold(inside, |x, swizzle| swizzle.apply(x)))
    }

    /// The map `c` to `self(inner(c))`.
    ///
    /// # Errors
    /// As [`composition`] of the layouts.
    pub fn compose(&self, inner: &CuteLayout) -> Result<Self, CuteError> {
        Self::new(self.swizzles.clone(), self.offset, composition(&self.layout, inner)?)
    }

    /// The layout on elements of which each is `factor` of these.
    ///
    /// # Errors
    /// [`CuteError::Recast`] where swizzle or offset lie within an element, and as
    /// [`super::upcast`].
    pub fn upcast(&self, factor: u64) -> Result<Self, CuteError> {
        let by = self.bits_of(factor)?;
        let inside = |reason| CuteError::Recast { factor, reason };
        if !self.offset.is_multiple_of(factor) {
            return Err(inside("the offset lies within an element"));
        }
        let swizzles = self.swizzles.iter().map(|swizzle| swizzle.narrowed(by)).collect::<Option<_>>();
        let swizzles = swizzles.ok_or_else(|| inside("a swizzle moves parts of an element"))?;
        Self::new(swizzles, self.offset / factor, super::upcast(&self.layout, factor)?)
    }

    /// The layout on elements of which `factor` are one of these.
    ///
    /// # Errors
    /// [`CuteError::Recast`], [`CuteError::Swizzle`], [`CuteError::Overflow`].
    pub fn downcast(&self, factor: u64) -> Result<Self, CuteError> {
        let by = self.bits_of(factor)?;
        let swizzles = self.swizzles.iter().map(|swizzle| swizzle.widened(by)).collect::<Result<_, _>>()?;
        let offset = self.offset.checked_mul(factor).ok_or(CuteError::Overflow { what: "the offset" })?;
        Self::new(swizzles, offset, super::downcast(&self.layout, factor)?)
    }

    fn bits_of(&self, factor: u64) -> Result<u32, CuteError> {
        if self.swizzles.is_empty() || factor.is_power_of_two() {
            return Ok(factor.checked_ilog2().unwrap_or(0));
        }
        Err(CuteError::Recast { factor, reason: "a swizzle needs a power of two" })
    }
}

impl fmt::Display for ComposedLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for swizzle in &self.swizzles {
            write!(out, "{swizzle} o ")?;
        }
        if !self.swizzles.is_empty() || self.offset != 0 {
            write!(out, "{} o ", self.offset)?;
        }
        write!(out, "{}", self.layout)
    }
}

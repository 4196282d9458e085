//! Swizzles, and layouts composed with swizzles.

use std::fmt;

use super::{CuteError, CuteLayout, composition};

/// The CuTe swizzle `x ^ ((x & yyy) >> shift)`, where `yyy` are `bits` bits from bit `base + max(0, shift)`; a negative
/// shift shifts left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// The swizzle that CuTe writes `Swizzle<bits, base, shift>`.
    ///
    /// # Errors
    /// [`CuteError::Swizzle`] if the bits read and written overlap or lie past bit 63.
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

    /// Number of bits that the swizzle changes.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Number of low bits that the swizzle neither reads nor changes.
    pub fn base(self) -> u32 {
        self.base
    }

    /// The distance from the changed bits up to the bits that change them; negative if those lie below.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// Applies the swizzle to a number; the swizzle is its own inverse.
    pub fn apply(self, x: u64) -> u64 {
        if self.bits == 0 {
            return x;
        }
        let low = (u64::MAX >> (64 - self.bits)) << self.base;
        let by = self.shift.unsigned_abs();
        if self.shift >= 0 { x ^ ((x >> by) & low) } else { x ^ ((x & low) << by) }
    }

    /// The same swizzle of element indices if `2^by` old elements form one new element; `None` if it moves old elements
    /// within a new one.
    pub(super) fn to_wider_elements(self, by: u32) -> Option<Self> {
        Some(Self { base: self.base.checked_sub(by)?, ..self })
    }

    /// The same swizzle of element indices if each old element is split into `2^by` new ones.
    pub(super) fn to_narrower_elements(self, by: u32) -> Result<Self, CuteError> {
        Self::new(self.bits, self.base + by, self.shift)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Swizzle<{},{},{}>", self.bits, self.base, self.shift)
    }
}

/// The composed layout `S o offset o L`: the value of a layout, plus an offset, passed through swizzles from the last
/// to the first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ComposedLayout {
    swizzles: Vec<Swizzle>,
    offset: u64,
    layout: CuteLayout,
}

impl ComposedLayout {
    /// The composed layout of swizzles (the outermost first) over an offset over a layout.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if offset plus largest value does not fit a word.
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

    /// The layout, whose values the offset and the swizzles change.
    pub fn layout(&self) -> &CuteLayout {
        &self.layout
    }

    /// The same offset and swizzles over another layout.
    pub(super) fn with_layout(&self, layout: CuteLayout) -> Result<Self, CuteError> {
        Self::new(self.swizzles.clone(), self.offset, layout)
    }

    /// The value at an integer coordinate.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if the value does not fit 64 bits.
    pub fn at(&self, index: u64) -> Result<u64, CuteError> {
        let inside = self.layout.at(index)?.checked_add(self.offset);
        let inside = inside.ok_or(CuteError::Overflow { what: "the value at the coordinate" })?;
        Ok(self.swizzles.iter().rev().fold(inside, |x, swizzle| swizzle.apply(x)))
    }

    /// The composition `c -> self(inner(c))`.
    ///
    /// # Errors
    /// As [`composition`] of the layouts.
    pub fn compose(&self, inner: &CuteLayout) -> Result<Self, CuteError> {
        Self::new(self.swizzles.clone(), self.offset, composition(&self.layout, inner)?)
    }

    /// The composed layout of the same memory in wider elements, each of `ratio` old elements.
    ///
    /// # Errors
    /// [`CuteError::Recast`] if the swizzle or offset lies within an element, and as
    /// [`super::upcast`].
    pub fn upcast(&self, ratio: u64) -> Result<Self, CuteError> {
        let by = self.bits_of(ratio)?;
        let inside = |reason| CuteError::Recast { ratio, reason };
        if !self.offset.is_multiple_of(ratio) {
            return Err(inside("the offset is within an element"));
        }
        let swizzles = self.swizzles.iter().map(|swizzle| swizzle.to_wider_elements(by)).collect::<Option<_>>();
        let swizzles = swizzles.ok_or_else(|| inside("a swizzle moves parts of an element"))?;
        Self::new(swizzles, self.offset / ratio, super::upcast(&self.layout, ratio)?)
    }

    /// The composed layout of the same memory in narrower elements, `ratio` for each old element.
    ///
    /// # Errors
    /// [`CuteError::Recast`] if there are swizzles and `ratio` is not a power of two, [`CuteError::Swizzle`] if a
    /// swizzle reaches past bit 63, [`CuteError::Overflow`] if the offset does not fit 64 bits, and as
    /// [`super::downcast`].
    pub fn downcast(&self, ratio: u64) -> Result<Self, CuteError> {
        let by = self.bits_of(ratio)?;
        let swizzles =
            self.swizzles.iter().map(|swizzle| swizzle.to_narrower_elements(by)).collect::<Result<_, _>>()?;
        let offset = self.offset.checked_mul(ratio).ok_or(CuteError::Overflow { what: "the offset" })?;
        Self::new(swizzles, offset, super::downcast(&self.layout, ratio)?)
    }

    fn bits_of(&self, ratio: u64) -> Result<u32, CuteError> {
        if self.swizzles.is_empty() || ratio.is_power_of_two() {
            return Ok(ratio.checked_ilog2().unwrap_or(0));
        }
        Err(CuteError::Recast { ratio, reason: "a swizzle needs a power of two" })
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

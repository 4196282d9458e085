//! What atomic operations and fences are told apart by.

use super::rule::{FLOAT_SCALAR, OFFSET, TypeSet};
use crate::Element;
use tilewright_target::named_enum;

named_enum! {
    /// What an atomic operation makes of what is in memory and of its value.
    pub enum Atomic {
        /// Sum modulo 2^width.
        Add = "add",
        /// Floating-point sum, rounded to nearest even; whether subnormals are kept is the target's.
        FAdd = "f_add",
        /// The lesser of integers with sign.
        MinS = "min_s",
        /// The greater of integers with sign.
        MaxS = "max_s",
        /// The lesser of integers without sign.
        MinU = "min_u",
        /// The greater of integers without sign.
        MaxU = "max_u",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The value, whatever was there.
        Exchange = "exchange",
    }
}

named_enum! {
    /// How an atomic operation orders the accesses around it.
    pub enum MemoryOrder {
        /// Not at all.
        Relaxed = "relaxed",
        /// What comes after stays after.
        Acquire = "acquire",
        /// What comes before stays before.
        Release = "release",
        /// Both.
        AcquireRelease = "acquire_release",
    }
}

named_enum! {
    /// Among whom an order of accesses of memory holds.
    pub enum MemoryScope {
        /// The lanes of one block.
        Block = "block",
        /// All blocks of the device.
        Device = "device",
        /// The host and other devices, too.
        System = "system",
    }
}

impl Atomic {
    /// Whether it works on values of this element.
    #[must_use]
    pub fn takes(self, element: Element) -> bool {
        match self {
            Self::FAdd => element.is_float(),
            _ => matches!(element, Element::I32 | Element::I64),
        }
    }

    /// The types of its value.
    pub(super) fn operand(self) -> TypeSet {
        if self == Self::FAdd { FLOAT_SCALAR } else { OFFSET }
    }
}

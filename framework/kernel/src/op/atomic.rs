//! Kinds of atomic operations, memory orders and memory scopes.

use super::rule::{FLOAT, OFFSET, TypeSet};
use crate::Element;
use tilewright_target::named_enum;

named_enum! {
    /// The operation by which an atomic combines memory with its value.
    pub enum Atomic {
        /// Sum modulo 2^width.
        Add = "add",
        /// Floating-point sum, rounded to nearest even; whether subnormals are flushed depends on the target.
        FAdd = "f_add",
        /// Minimum of signed integers.
        MinS = "min_s",
        /// Maximum of signed integers.
        MaxS = "max_s",
        /// Minimum of unsigned integers.
        MinU = "min_u",
        /// Maximum of unsigned integers.
        MaxU = "max_u",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The value itself, whatever memory held before.
        Exchange = "exchange",
    }
}

named_enum! {
    /// How an atomic operation orders the accesses around it.
    pub enum MemoryOrder {
        /// The operation orders no other accesses.
        Relaxed = "relaxed",
        /// Later accesses stay after the operation.
        Acquire = "acquire",
        /// Earlier accesses stay before the operation.
        Release = "release",
        /// Both acquire and release.
        AcquireRelease = "acquire_release",
    }
}

named_enum! {
    /// The lanes that observe the memory order of an atomic operation or fence (CUDA's thread scope).
    pub enum MemoryScope {
        /// The lanes of one block.
        Block = "block",
        /// The lanes of all blocks of the device.
        Device = "device",
        /// The lanes of the device, of other devices, and the host.
        System = "system",
    }
}

impl Atomic {
    /// Whether the atomic operation works on this element type.
    #[must_use]
    pub fn supports_element(self, element: Element) -> bool {
        match self {
            Self::FAdd => element.is_float(),
            _ => matches!(element, Element::I32 | Element::I64),
        }
    }

    /// Returns the types that the value operand of the operation may have.
    pub(super) fn operand(self) -> TypeSet {
        if self == Self::FAdd { FLOAT } else { OFFSET }
    }
}

//! What atomic operations and fences are told apart by.

use serde::{Deserialize, Serialize};

use super::named::named;
use crate::Element;

/// What an atomic operation makes of what is in memory and of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomic {
    /// Sum modulo 2^width.
    Add,
    /// Floating-point sum, rounded to nearest even; whether subnormals are kept is the target's.
    FAdd,
    /// The lesser of integers with sign.
    MinS,
    /// The greater of integers with sign.
    MaxS,
    /// The lesser of integers without sign.
    MinU,
    /// The greater of integers without sign.
    MaxU,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The value, whatever was there.
    Exchange,
}

/// How an atomic operation orders the accesses around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOrder {
    /// Not at all.
    Relaxed,
    /// What comes after stays after.
    Acquire,
    /// What comes before stays before.
    Release,
    /// Both.
    AcquireRelease,
}

/// Among whom an order of accesses of memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// The lanes of one block.
    Block,
    /// All blocks of the device.
    Device,
    /// The host and other devices, too.
    System,
}

named!(Atomic {
    Add => "add",
    FAdd => "f_add",
    MinS => "min_s",
    MaxS => "max_s",
    MinU => "min_u",
    MaxU => "max_u",
    And => "and",
    Or => "or",
    Xor => "xor",
    Exchange => "exchange",
});
named!(MemoryOrder {
    Relaxed => "relaxed",
    Acquire => "acquire",
    Release => "release",
    AcquireRelease => "acquire_release",
});
named!(MemoryScope { Block => "block", Device => "device", System => "system" });

impl Atomic {
    /// Whether it works on values of this element.
    #[must_use]
    pub fn takes(self, element: Element) -> bool {
        match self {
            Self::FAdd => element.is_float(),
            _ => matches!(element, Element::I32 | Element::I64),
        }
    }
}

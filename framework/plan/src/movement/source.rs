//! Which lane each lane reads from in an exchange.

use tilewright_kernel::{Builder, Value};
use tilewright_target::LaneXors;

use super::address::Thread;

/// The lane that a lane reads from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// The lane of an index that lanes compute.
    Lane(Value),
    /// The lane whose index differs in these bits.
    Across(u32),
}

impl Source {
    /// The lane whose index differs in the bits of `mask`, by the constant where lanes can exchange so.
    pub(super) fn across(builder: &mut Builder, thread: Thread, mask: u32, xors: LaneXors) -> Self {
        if xors.contains(u64::from(mask)) {
            return Self::Across(mask);
        }
        Self::Lane(thread.neighbour(builder, mask))
    }

    /// A word of 32 bits of that lane.
    pub(super) fn exchange(self, builder: &mut Builder, word: Value) -> Value {
        match self {
            Self::Lane(lane) => builder.exchange(word, lane),
            Self::Across(mask) => builder.exchange_xor(word, mask),
        }
    }
}

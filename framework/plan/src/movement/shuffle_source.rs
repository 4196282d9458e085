//! The source lane of a shuffle: a lane index, or the lane whose index differs by a constant xor.

use tilewright_kernel::{Builder, Value};
use tilewright_target::ShuffleXorMasks;

use super::address::ThreadIndices;

/// The lane from which a lane reads in a shuffle.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// The lane with this index, which is computed at run time.
    Lane(Value),
    /// The lane whose index differs from the reading lane's in these constant bits (a butterfly shuffle).
    Across(u32),
}

impl Source {
    /// Returns the source for reads from the lane whose index differs from the reading lane's in the bits of `mask`: a
    /// constant xor if the target has a shuffle by this xor, else a lane index that is emitted.
    pub(super) fn across(builder: &mut Builder, thread: ThreadIndices, mask: u32, xors: ShuffleXorMasks) -> Self {
        if xors.contains(u64::from(mask)) {
            return Self::Across(mask);
        }
        Self::Lane(thread.neighbour(builder, mask))
    }

    /// Emits the shuffle of a 32-bit word from the source lane.
    pub(super) fn shuffle(self, builder: &mut Builder, word: Value) -> Value {
        match self {
            Self::Lane(lane) => builder.shuffle(word, lane),
            Self::Across(mask) => builder.shuffle_xor(word, mask),
        }
    }
}

//! Who accesses a tensor in memory, and what is asked of its layout.

use tilewright_layout::LinearLayout;
use tilewright_target::Direction;

use super::super::GlobalTensor;
use super::Kind;

/// Who stores a tensor to memory, or loads it from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accessor {
    /// Where registers hold the tensor.
    pub layout: LinearLayout,
    /// Whether it is stored or loaded.
    pub direction: Direction,
    /// How often that happens, against the others.
    pub weight: u64,
    /// Where the stores are those of a copy from global memory without addresses of its lanes' own.
    pub copy: Option<ConsecutiveCopy>,
}

impl Accessor {
    /// Stores the tensor once.
    #[must_use]
    pub fn store(layout: LinearLayout) -> Self {
        Self { layout, direction: Direction::Store, weight: 1, copy: None }
    }

    /// Loads the tensor once.
    #[must_use]
    pub fn load(layout: LinearLayout) -> Self {
        Self { direction: Direction::Load, ..Self::store(layout) }
    }

    /// The same, so many times.
    #[must_use]
    pub fn times(self, weight: u64) -> Self {
        Self { weight, ..self }
    }

    /// The same by copies from global memory that write consecutively.
    #[must_use]
    pub fn copied(self, copy: ConsecutiveCopy) -> Self {
        Self { copy: Some(copy), ..self }
    }
}

/// A copy from global to shared memory that takes one address in shared memory for a warp: it writes
/// what lane 0 fetches, then what lane 1 fetches, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsecutiveCopy {
    /// What it copies from.
    pub global: GlobalTensor,
    /// The most bits that a lane fetches at a time.
    pub access_bits: u32,
}

/// How memory begins, whatever else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begin {
    /// The elements that the first offset bits stand for, packed as the first accessor's layout packs them.
    pub order: Vec<u64>,
    /// Of these bits the first ones that no swizzle changes, and no padding parts.
    pub kept: usize,
    /// Of these bits the first ones that keep the same elements together, in whatever order; none where it is zero.
    pub together: usize,
}

/// What the layout may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraints {
    /// The kinds that are allowed.
    pub kinds: Vec<Kind>,
    /// Bytes that a block may take; all that the target has where absent.
    pub max_bytes: Option<u64>,
    /// Weighted wavefronts above the lower bound that are as good as none: fewer bytes are worth more.
    pub excess: u64,
    /// How many layouts each search may look at.
    pub budget: u64,
}

impl Default for Constraints {
    /// All kinds, all memory, the fewest wavefronts.
    fn default() -> Self {
        Self { kinds: Kind::ALL.to_vec(), max_bytes: None, excess: 0, budget: 1 << 14 }
    }
}

impl Constraints {
    /// Only layouts of one kind.
    #[must_use]
    pub fn only(kind: Kind) -> Self {
        Self { kinds: vec![kind], ..Self::default() }
    }
}

//! SSA values.

use serde::{Deserialize, Serialize};

/// An SSA value, by its number; defined once in its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Value(pub u32);

/// Exclusive upper bound of value numbers, so that tables can be indexed by them.
pub const MAX_VALUES: u32 = 1 << 24;

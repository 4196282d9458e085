//! Values.

use serde::{Deserialize, Serialize};

/// A value, by its number; each is defined once in its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Value(pub u32);

/// Numbers of values are below this, so that tables can be indexed by them.
pub const MAX_VALUES: u32 = 1 << 24;

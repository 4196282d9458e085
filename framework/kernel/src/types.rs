//! Types of kernel-IR values.

use std::fmt;

use serde::{Deserialize, Serialize};
use tilewright_target::named_enum;

named_enum! {
    /// What a scalar is. Widths are powers of two.
    pub enum Element as array {
        /// One bit: the result of a comparison.
        I1 = "i1",
        /// An 8-bit integer without sign.
        I8 = "i8",
        /// A 16-bit integer without sign.
        I16 = "i16",
        /// A 32-bit integer without sign.
        I32 = "i32",
        /// A 64-bit integer without sign.
        I64 = "i64",
        /// IEEE binary16.
        F16 = "f16",
        /// The upper half of a binary32.
        Bf16 = "bf16",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
    }
}

impl Element {
    /// Width in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::I1 => 1,
            Self::I8 => 8,
            Self::I16 | Self::F16 | Self::Bf16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The integer of the given width, where there is one.
    #[must_use]
    pub fn integer(bits: u32) -> Option<Self> {
        match bits {
            1 => Some(Self::I1),
            8 => Some(Self::I8),
            16 => Some(Self::I16),
            32 => Some(Self::I32),
            64 => Some(Self::I64),
            _ => None,
        }
    }
}

named_enum! {
    /// A memory.
    pub enum MemorySpace as array {
        /// Memory that all blocks see; 64-bit addresses.
        Global = "global",
        /// Memory of one block; 32-bit addresses counted from its start.
        Shared = "shared",
        /// Shared memory of a block of the cluster, be it the own or another: which block, and a 32-bit
        /// address counted from the start of its memory.
        Cluster = "cluster",
    }
}

impl MemorySpace {
    /// Width of an address in bits, within one memory.
    #[must_use]
    pub fn address_bits(self) -> u32 {
        match self {
            Self::Global => 64,
            Self::Shared | Self::Cluster => 32,
        }
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// One element.
    Scalar(Element),
    /// A power-of-two number, two or more, of elements held by one lane.
    Vector(Element, u32),
    /// A byte address in a memory.
    Pointer(MemorySpace),
    /// What an asynchronous operation will give: so many elements, a scalar where it is one. Only a wait
    /// makes it that; an instruction may take it as the accumulator that is handed on to it.
    Pending(Element, u32),
    /// The map of a tensor in global memory, encoded by the host. Only a parameter is one, only an instruction takes it.
    TensorMap,
}

impl Type {
    /// Width in bits; nobody knows that of a map: zero.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Scalar(element) => element.bits(),
            Self::Vector(element, count) | Self::Pending(element, count) => element.bits() * count,
            Self::Pointer(space) => space.address_bits(),
            Self::TensorMap => 0,
        }
    }

    /// The element of a scalar or vector; none of what is pending.
    #[must_use]
    pub fn element(self) -> Option<Element> {
        match self {
            Self::Scalar(element) | Self::Vector(element, _) => Some(element),
            Self::Pointer(_) | Self::Pending(..) | Self::TensorMap => None,
        }
    }

    /// How many elements it holds: one for scalars and pointers.
    #[must_use]
    pub fn count(self) -> u32 {
        match self {
            Self::Vector(_, count) | Self::Pending(_, count) => count,
            Self::Scalar(_) | Self::Pointer(_) | Self::TensorMap => 1,
        }
    }

    /// What a wait makes of it: the scalar or vector that is pending; other types stay.
    #[must_use]
    pub fn awaited(self) -> Self {
        match self {
            Self::Pending(element, count) => Self::of(element, count),
            plain => plain,
        }
    }

    /// The same scalar or vector while it is pending; other types stay.
    #[must_use]
    pub fn pending(self) -> Self {
        match self {
            Self::Scalar(element) => Self::Pending(element, 1),
            Self::Vector(element, count) => Self::Pending(element, count),
            other => other,
        }
    }

    /// Whether only a wait may take it, or an instruction that it is handed on to.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Pending(..))
    }

    /// The scalar of its element; other types stay.
    #[must_use]
    pub(crate) fn scalar(self) -> Self {
        self.element().map_or(self, Self::Scalar)
    }

    /// The `i1`s of a comparison, one for each element.
    #[must_use]
    pub(crate) fn flags(self) -> Self {
        Self::of(Element::I1, self.count())
    }

    /// The scalar where `count` is one, the vector otherwise.
    #[must_use]
    pub fn of(element: Element, count: u32) -> Self {
        if count == 1 { Self::Scalar(element) } else { Self::Vector(element, count) }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(element) => f.write_str(element.name()),
            Self::Vector(element, count) => write!(f, "{count}x{}", element.name()),
            Self::Pointer(space) => write!(f, "ptr.{}", space.name()),
            Self::Pending(..) => write!(f, "pending.{}", self.awaited()),
            Self::TensorMap => f.write_str("map"),
        }
    }
}

/// How far a value is known to be the same; of two, the later says less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uniformity {
    /// Equal in all lanes of a cluster.
    ClusterUniform,
    /// Equal in all lanes of a block.
    BlockUniform,
    /// Equal in all lanes of a warp.
    Uniform,
    /// May differ between lanes.
    Varying,
}

impl Uniformity {
    /// What is known of a value that depends on both: the less of the two.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether the value is equal in all lanes of a warp at least.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self <= Self::Uniform
    }
}

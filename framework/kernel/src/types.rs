//! Types of kernel-IR values.

use std::fmt;

use serde::{Deserialize, Serialize};
use tilewright_target::named_enum;

named_enum! {
    /// The element type of a scalar or vector. Widths are powers of two.
    pub enum Element as array {
        /// One bit: the result of a comparison.
        I1 = "i1",
        /// An 8-bit integer, signless.
        I8 = "i8",
        /// A 16-bit integer, signless.
        I16 = "i16",
        /// A 32-bit integer, signless.
        I32 = "i32",
        /// A 64-bit integer, signless.
        I64 = "i64",
        /// IEEE binary16.
        F16 = "f16",
        /// Bfloat16: the upper half of a binary32.
        Bf16 = "bf16",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
    }
}

impl Element {
    /// Width of an element in bits.
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

    /// Returns the integer type of this width in bits; `None` if there is none.
    #[must_use]
    pub fn integer_of_width(bits: u32) -> Option<Self> {
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
    /// A memory space that pointers address.
    pub enum MemorySpace as array {
        /// Global memory; 64-bit addresses.
        Global = "global",
        /// Shared memory of the block; 32-bit addresses from its start.
        Shared = "shared",
        /// Shared memory of any block of the cluster (PTX `shared::cluster`): a block index, and a 32-bit address from
        /// the start of its memory.
        Cluster = "cluster",
    }
}

impl MemorySpace {
    /// Width of an address in bits; the block index of [`Self::Cluster`] is not counted.
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
    /// A scalar of this element type.
    Scalar(Element),
    /// A vector of elements in one lane; the count is a power of two, at least two.
    Vector(Element, u32),
    /// A byte address in a memory space.
    Pointer(MemorySpace),
    /// The result of an asynchronous operation in flight: a vector of this many elements, a scalar if it is 1. Only
    /// a wait makes it readable; an instruction may take it as its accumulator.
    Pending(Element, u32),
    /// A tensor map, encoded by the host. Only parameters have this type, and only instructions take them.
    TensorMap,
}

impl Type {
    /// Width of a value in bits; zero for a tensor map.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Scalar(element) => element.bits(),
            Self::Vector(element, count) | Self::Pending(element, count) => element.bits() * count,
            Self::Pointer(space) => space.address_bits(),
            Self::TensorMap => 0,
        }
    }

    /// The element type of a scalar or vector; `None` for other types, pending ones included.
    #[must_use]
    pub fn element(self) -> Option<Element> {
        match self {
            Self::Scalar(element) | Self::Vector(element, _) => Some(element),
            Self::Pointer(_) | Self::Pending(..) | Self::TensorMap => None,
        }
    }

    /// Returns the number of elements of a vector, or of the vector that is pending; one for other types.
    #[must_use]
    pub fn element_count(self) -> u32 {
        match self {
            Self::Vector(_, count) | Self::Pending(_, count) => count,
            Self::Scalar(_) | Self::Pointer(_) | Self::TensorMap => 1,
        }
    }

    /// Returns the type of a value after a wait: for a pending type, the scalar or vector that is pending. Other types are
    /// unchanged.
    #[must_use]
    pub fn after_wait(self) -> Self {
        match self {
            Self::Pending(element, count) => Self::vector_or_scalar(element, count),
            plain => plain,
        }
    }

    /// The pending form of a scalar or vector; other types are unchanged.
    #[must_use]
    pub fn to_pending(self) -> Self {
        match self {
            Self::Scalar(element) => Self::Pending(element, 1),
            Self::Vector(element, count) => Self::Pending(element, count),
            other => other,
        }
    }

    /// Whether values of this type are pending: only a wait, or an instruction that takes the value as its accumulator,
    /// may use it.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Pending(..))
    }

    /// Returns the scalar type of a vector's elements; other types are unchanged.
    #[must_use]
    pub(crate) fn element_scalar(self) -> Self {
        self.element().map_or(self, Self::Scalar)
    }

    /// The result type of a comparison: an `i1` for each element.
    #[must_use]
    pub(crate) fn comparison_result(self) -> Self {
        Self::vector_or_scalar(Element::I1, self.element_count())
    }

    /// Returns the type of `count` elements: a scalar if `count` is 1, otherwise a vector.
    #[must_use]
    pub fn vector_or_scalar(element: Element, count: u32) -> Self {
        if count == 1 { Self::Scalar(element) } else { Self::Vector(element, count) }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(element) => f.write_str(element.name()),
            Self::Vector(element, count) => write!(f, "{count}x{}", element.name()),
            Self::Pointer(space) => write!(f, "ptr.{}", space.name()),
            Self::Pending(..) => write!(f, "pending.{}", self.after_wait()),
            Self::TensorMap => f.write_str("map"),
        }
    }
}

/// The set of lanes that are known to have the same value; the strongest level (the greatest set) is first.
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
    /// The uniformity of a value that depends on two values: the weaker of their levels.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether the value is equal at least in all lanes of a warp.
    #[must_use]
    pub fn is_uniform(self) -> bool {
        self <= Self::Uniform
    }
}

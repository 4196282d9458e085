//! The operations of the kernel IR.

use serde::{Deserialize, Serialize};

use super::{Element, Region, Value};

/// A value that the hardware supplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecialRegister {
    /// Index of the lane in its warp; `i32`, varying.
    Lane,
    /// Index of the warp in its block; `i32`, uniform.
    Warp,
    /// Index of the block along axis 0, 1 or 2 of the grid; `i32`, block-uniform, along axes 1 and 2
    /// cluster-uniform.
    Program(u8),
    /// Index of the block in its cluster; `i32`, block-uniform.
    Block,
}

/// An operation on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unary {
    /// Floating-point negation.
    FNeg,
}

/// An operation on two values of one type, element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binary {
    /// Sum modulo 2^width.
    Add,
    /// Difference modulo 2^width.
    Sub,
    /// Product modulo 2^width.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift to the left; a shift of the width or more gives an unspecified value.
    Shl,
    /// Shift to the right, filling with zeros; as [`Binary::Shl`] beyond the width.
    ShrU,
    /// Shift to the right, filling with the sign; as [`Binary::Shl`] beyond the width.
    ShrS,
    /// Quotient of unsigned integers; by zero an unspecified value.
    DivU,
    /// Remainder of unsigned integers; by zero an unspecified value.
    RemU,
    /// Floating-point sum, rounded to nearest even.
    FAdd,
    /// Floating-point difference, rounded to nearest even.
    FSub,
    /// Floating-point product, rounded to nearest even.
    FMul,
}

/// A comparison of two integers of one type, giving `i1`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less, unsigned.
    LtU,
    /// Less or equal, unsigned.
    LeU,
    /// Less, signed.
    LtS,
    /// Less or equal, signed.
    LeS,
}

/// A change of type; the target type is the result's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cast {
    /// The low bits of an integer.
    Truncate,
    /// An integer widened by zeros.
    ExtendU,
    /// An integer widened by its sign.
    ExtendS,
    /// The same bits as another type of the same width; element 0 of a vector is in the lowest bits.
    Bits,
    /// The floating-point number nearest to an integer with sign, ties to even.
    FloatS,
    /// The same of an integer without sign.
    FloatU,
    /// A floating-point number in a wider type, exact.
    ExtendF,
    /// A floating-point number rounded to a narrower type, to nearest even.
    RoundF,
}

/// Which lanes a collective concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The lanes of one warp.
    Warp,
    /// All warps of one block.
    Block,
    /// All blocks of one cluster.
    Cluster,
}

/// Who issues a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Issuers {
    /// Every lane of the scope.
    All,
}

/// How lanes of a warp exchange values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// Every lane names the lane that it reads from, by an `i32` below the number of lanes.
    Index,
}

/// Gives every variant of a plain enum the name that text and wire use.
macro_rules! named {
    ($type:ident { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $type {
            /// All there are, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name used in text and on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

named!(Unary { FNeg => "f_neg" });
named!(Binary {
    Add => "add",
    Sub => "sub",
    Mul => "mul",
    And => "and",
    Or => "or",
    Xor => "xor",
    Shl => "shl",
    ShrU => "shr_u",
    ShrS => "shr_s",
    DivU => "div_u",
    RemU => "rem_u",
    FAdd => "f_add",
    FSub => "f_sub",
    FMul => "f_mul",
});
named!(Compare { Eq => "eq", Ne => "ne", LtU => "lt_u", LeU => "le_u", LtS => "lt_s", LeS => "le_s" });
named!(Cast {
    Truncate => "truncate",
    ExtendU => "extend_u",
    ExtendS => "extend_s",
    Bits => "bits",
    FloatS => "float_s",
    FloatU => "float_u",
    ExtendF => "extend_f",
    RoundF => "round_f",
});
named!(Scope { Warp => "warp", Block => "block", Cluster => "cluster" });
named!(Issuers { All => "all" });
named!(Exchange { Index => "index" });

impl Cast {
    /// Whether it goes from one of these elements to the other; [`Cast::Bits`] goes by whole widths.
    #[must_use]
    pub fn goes(self, from: Element, to: Element) -> bool {
        let (narrower, wider) = (to.bits() < from.bits(), to.bits() > from.bits());
        match (self, from.is_float(), to.is_float()) {
            (Self::Truncate, false, false) | (Self::RoundF, true, true) => narrower,
            (Self::ExtendU | Self::ExtendS, false, false) | (Self::ExtendF, true, true) => wider,
            (Self::FloatS | Self::FloatU, false, true) => from != Element::I1,
            (Self::Bits, ..) => from.bits() == to.bits(),
            _ => false,
        }
    }
}

impl Binary {
    /// Whether it works on floating-point elements; the others work on integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::FAdd | Self::FSub | Self::FMul)
    }

    /// Whether it works bit by bit, and so on `i1` too.
    #[must_use]
    pub fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }
}

/// One operation. Operands are values defined before it.
///
/// Serialised by name, so that a reader can tell which operation it does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// A constant: the given bits (of each element, for a vector).
    Constant {
        /// The bits, zero-extended.
        bits: u64,
    },
    /// A value that the hardware supplies.
    Special(SpecialRegister),
    /// The address of a static shared buffer of the kernel, by its index.
    SharedAddress {
        /// Index into [`super::Kernel::shared`].
        buffer: u32,
    },
    /// Where a shared address of the own block is in a block of the cluster: the same buffer and place.
    ClusterAddress {
        /// A pointer to shared memory.
        pointer: Value,
        /// Index of the block in the cluster, an `i32` below the number of its blocks.
        block: Value,
    },
    /// An operation on one value.
    Unary {
        /// Which.
        op: Unary,
        /// The operand.
        a: Value,
    },
    /// An operation on two values.
    Binary {
        /// Which.
        op: Binary,
        /// Left operand.
        a: Value,
        /// Right operand.
        b: Value,
    },
    /// A comparison of integers.
    Compare {
        /// Which.
        op: Compare,
        /// Left operand.
        a: Value,
        /// Right operand.
        b: Value,
    },
    /// `a` where `condition` (`i1`) is true, `b` otherwise.
    Select {
        /// An `i1`.
        condition: Value,
        /// The value where it is true.
        a: Value,
        /// The value where it is false.
        b: Value,
    },
    /// A change of type to the type of the result.
    Cast {
        /// How.
        op: Cast,
        /// The operand.
        a: Value,
    },
    /// A vector of scalars, the first in element 0.
    Pack {
        /// The elements.
        elements: Vec<Value>,
    },
    /// One element of a vector.
    Extract {
        /// The vector.
        vector: Value,
        /// Which element.
        index: u32,
    },
    /// Four bytes chosen from the eight of two `i32`s: bytes 0 to 3 are `a`'s, 4 to 7 `b`'s, lowest
    /// first; nibble `i` of `selector` says which byte becomes byte `i` of the result.
    PermuteBytes {
        /// Supplies bytes 0 to 3.
        a: Value,
        /// Supplies bytes 4 to 7.
        b: Value,
        /// Four nibbles, each 0 to 7.
        selector: u16,
        /// Another selector, for the lanes where the `i1` is true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alternative: Option<(Value, u16)>,
    },
    /// A pointer moved by a number of bytes (`i32` or `i64`, signed).
    Advance {
        /// The pointer.
        pointer: Value,
        /// How many bytes.
        bytes: Value,
    },
    /// Reads a scalar or vector. Lanes whose predicate is false touch no memory and get zero.
    Load {
        /// Where; aligned to `alignment`.
        pointer: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// A constant added to the address, in bytes.
        offset: i32,
        /// Alignment of pointer plus offset, in bytes.
        alignment: u32,
    },
    /// Writes a scalar or vector. Lanes whose predicate is false touch no memory.
    Store {
        /// Where; aligned to `alignment`.
        pointer: Value,
        /// What.
        value: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// A constant added to the address, in bytes.
        offset: i32,
        /// Alignment of pointer plus offset, in bytes.
        alignment: u32,
    },
    /// Gives every lane the value that another lane of its warp holds; a scalar of 32 bits.
    Exchange {
        /// How lanes are named.
        kind: Exchange,
        /// What this lane offers.
        value: Value,
        /// Which lane this one reads from.
        lane: Value,
        /// Who issues it.
        issuers: Issuers,
    },
    /// Gives every lane the value that the lane whose index differs in the bits of a constant holds; a
    /// scalar of 32 bits.
    ExchangeXor {
        /// What this lane offers.
        value: Value,
        /// The bits in which the indices differ; not zero, below the number of lanes.
        mask: u32,
        /// Who issues it.
        issuers: Issuers,
    },
    /// Lanes that differ in one bit of their index trade: where the bit is set a lane gives what it
    /// holds of `a` and gets the other's `b`, where it is not it gives of `b` and gets the other's
    /// `a`. Two results: `a` and `b` after the trade. Scalars of 32 bits.
    Swap {
        /// What lanes with the bit set trade away.
        a: Value,
        /// What the other lanes trade away.
        b: Value,
        /// The bit of the lane index, as its power of two.
        lane: u32,
        /// Who issues it.
        issuers: Issuers,
    },
    /// No lane of the scope passes before all have arrived, and what they wrote to shared memory
    /// before it is seen by all after it.
    Barrier {
        /// Which lanes wait for each other.
        scope: Scope,
        /// Who issues it.
        issuers: Issuers,
    },
    /// A vendor's instruction by the name of its row; its meaning is the row's.
    Instruction {
        /// Name of the row in the target's instruction table.
        name: String,
        /// Its operands in the order of the row.
        operands: Vec<Value>,
    },
    /// Runs one of two regions; results are what the region that ran yields.
    If {
        /// An `i1`.
        condition: Value,
        /// Runs in the lanes where it is true.
        then: Region,
        /// Runs in the others.
        otherwise: Region,
    },
    /// Runs `body` for `index` in `from, from + step, ...` below `to` (unsigned `i32`). The body's
    /// arguments are the index and the carried values; it yields the carried values. No index plus
    /// `step` may reach 2^32.
    For {
        /// First index.
        from: Value,
        /// Bound, not reached.
        to: Value,
        /// Increment, above zero.
        step: Value,
        /// Initial carried values.
        carried: Vec<Value>,
        /// What runs.
        body: Region,
    },
    /// Ends a region with the given values; the last operation of every region but a kernel's.
    Yield {
        /// What the region gives.
        values: Vec<Value>,
    },
}

impl Op {
    /// The name used in text and on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Special(_) => "special",
            Self::SharedAddress { .. } => "shared_address",
            Self::ClusterAddress { .. } => "cluster_address",
            Self::Unary { .. } => "unary",
            Self::Binary { .. } => "binary",
            Self::Compare { .. } => "compare",
            Self::Select { .. } => "select",
            Self::Cast { .. } => "cast",
            Self::Pack { .. } => "pack",
            Self::Extract { .. } => "extract",
            Self::PermuteBytes { .. } => "permute_bytes",
            Self::Advance { .. } => "advance",
            Self::Load { .. } => "load",
            Self::Store { .. } => "store",
            Self::Exchange { .. } => "exchange",
            Self::ExchangeXor { .. } => "exchange_xor",
            Self::Swap { .. } => "swap",
            Self::Barrier { .. } => "barrier",
            Self::Instruction { .. } => "instruction",
            Self::If { .. } => "if",
            Self::For { .. } => "for",
            Self::Yield { .. } => "yield",
        }
    }

    /// The names of all operations that this version knows, as on the wire.
    pub const NAMES: [&'static str; 23] = [
        "constant",
        "special",
        "shared_address",
        "cluster_address",
        "unary",
        "binary",
        "compare",
        "select",
        "cast",
        "pack",
        "extract",
        "permute_bytes",
        "advance",
        "load",
        "store",
        "exchange",
        "exchange_xor",
        "swap",
        "barrier",
        "instruction",
        "if",
        "for",
        "yield",
    ];

    /// The operands, in the order of the fields; regions not entered.
    #[must_use]
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Self::Constant { .. } | Self::Special(_) | Self::SharedAddress { .. } => vec![],
            Self::ClusterAddress { pointer, block } => vec![*pointer, *block],
            Self::Unary { a, .. } | Self::Cast { a, .. } | Self::ExchangeXor { value: a, .. } => vec![*a],
            Self::Binary { a, b, .. } | Self::Compare { a, b, .. } | Self::Swap { a, b, .. } => vec![*a, *b],
            Self::PermuteBytes { a, b, alternative, .. } => {
                [Some(*a), Some(*b), alternative.map(|(condition, _)| condition)].into_iter().flatten().collect()
            }
            Self::Select { condition, a, b } => vec![*condition, *a, *b],
            Self::Pack { elements } => elements.clone(),
            Self::Extract { vector, .. } => vec![*vector],
            Self::Advance { pointer, bytes } => vec![*pointer, *bytes],
            Self::Load { pointer, predicate, .. } => [Some(*pointer), *predicate].into_iter().flatten().collect(),
            Self::Store { pointer, value, predicate, .. } => {
                [Some(*pointer), Some(*value), *predicate].into_iter().flatten().collect()
            }
            Self::Exchange { value, lane, .. } => vec![*value, *lane],
            Self::Barrier { .. } => vec![],
            Self::Instruction { operands, .. } => operands.clone(),
            Self::If { condition, .. } => vec![*condition],
            Self::For { from, to, step, carried, .. } => {
                [*from, *to, *step].into_iter().chain(carried.iter().copied()).collect()
            }
            Self::Yield { values } => values.clone(),
        }
    }

    /// The regions, in the order of the fields.
    #[must_use]
    pub fn regions(&self) -> Vec<&Region> {
        match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::For { body, .. } => vec![body],
            _ => vec![],
        }
    }

    /// Whether the operation always defines exactly one value, whose type
    /// [`super::Statement::results`] gives.
    #[must_use]
    pub fn has_single_result(&self) -> bool {
        !matches!(
            self,
            Self::Store { .. }
                | Self::Swap { .. }
                | Self::Barrier { .. }
                | Self::Yield { .. }
                | Self::If { .. }
                | Self::For { .. }
                | Self::Instruction { .. }
        )
    }
}

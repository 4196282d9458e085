//! What operations are told apart by: plain choices, each with the name that text and wire use.

use serde::{Deserialize, Serialize};

use crate::kernel::Element;

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
    /// The same bits as another type of the same width; element 0 of a vector is in the lowest bits. Of a
    /// pointer to shared memory, its address.
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

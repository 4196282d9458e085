//! What operations are told apart by: plain choices, each with the name that text and wire use.

use serde::{Deserialize, Serialize};

use super::named::named;
use crate::Element;

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
    /// How many blocks the grid has along axis 0, 1 or 2; `i32`, cluster-uniform.
    Programs(u8),
    /// Index of the block in its cluster; `i32`, block-uniform.
    Block,
}

/// An operation on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unary {
    /// Floating-point negation.
    FNeg,
    /// A floating-point number without its sign.
    FAbs,
    /// Square root, rounded to nearest even; of a number below zero a NaN.
    FSqrt,
    /// The greatest whole number that is not greater.
    FFloor,
    /// The least whole number that is not less.
    FCeil,
    /// The whole number next to it towards zero.
    FTrunc,
    /// The nearest whole number, of two the even one.
    FNearest,
    /// How many of the upper bits of an integer are zeros before the first that is one; its width for zero.
    LeadingZeros,
    /// How many bits of an integer are one.
    PopCount,
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
    /// Quotient of integers with sign, towards zero; by zero, and where it does not fit, an unspecified value.
    DivS,
    /// Remainder of integers with sign, of the sign of the first; by zero, and where the quotient does not fit, an
    /// unspecified value.
    RemS,
    /// The upper half of the product of unsigned integers.
    MulHighU,
    /// The upper half of the product of integers with sign.
    MulHighS,
    /// Floating-point sum, rounded to nearest even.
    FAdd,
    /// Floating-point difference, rounded to nearest even.
    FSub,
    /// Floating-point product, rounded to nearest even.
    FMul,
    /// Floating-point quotient, rounded to nearest even.
    FDiv,
    /// The lesser of two floating-point numbers, the number where the other is a NaN.
    FMinNumber,
    /// The greater of two floating-point numbers, the number where the other is a NaN.
    FMaxNumber,
    /// The lesser of two floating-point numbers, a NaN where one is; the negative zero is less.
    FMinimum,
    /// The greater of two floating-point numbers, a NaN where one is; the negative zero is less.
    FMaximum,
}

/// A comparison of two values of one type, giving `i1`s.
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
    /// Floating-point numbers that are equal; false where one is a NaN.
    FEq,
    /// The first is less; false where one is a NaN.
    FLt,
    /// The first is less or equal; false where one is a NaN.
    FLe,
    /// One is a NaN.
    FUnordered,
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
    /// pointer to shared memory, its address; of one to global memory likewise, an `i64`, and back.
    Bits,
    /// The floating-point number nearest to an integer with sign, ties to even.
    FloatS,
    /// The same of an integer without sign.
    FloatU,
    /// A floating-point number in a wider type, exact.
    ExtendF,
    /// A floating-point number rounded to a narrower type, to nearest even.
    RoundF,
    /// The integer with sign next to a floating-point number towards zero; unspecified where it does not fit.
    IntS,
    /// The same without sign.
    IntU,
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

named!(Unary {
    FNeg => "f_neg",
    FAbs => "f_abs",
    FSqrt => "f_sqrt",
    FFloor => "f_floor",
    FCeil => "f_ceil",
    FTrunc => "f_trunc",
    FNearest => "f_nearest",
    LeadingZeros => "leading_zeros",
    PopCount => "pop_count",
});
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
    DivS => "div_s",
    RemS => "rem_s",
    MulHighU => "mul_high_u",
    MulHighS => "mul_high_s",
    FAdd => "f_add",
    FSub => "f_sub",
    FMul => "f_mul",
    FDiv => "f_div",
    FMinNumber => "f_min_number",
    FMaxNumber => "f_max_number",
    FMinimum => "f_minimum",
    FMaximum => "f_maximum",
});
named!(Compare {
    Eq => "eq",
    Ne => "ne",
    LtU => "lt_u",
    LeU => "le_u",
    LtS => "lt_s",
    LeS => "le_s",
    FEq => "f_eq",
    FLt => "f_lt",
    FLe => "f_le",
    FUnordered => "f_unordered",
});
named!(Cast {
    Truncate => "truncate",
    ExtendU => "extend_u",
    ExtendS => "extend_s",
    Bits => "bits",
    FloatS => "float_s",
    FloatU => "float_u",
    ExtendF => "extend_f",
    RoundF => "round_f",
    IntS => "int_s",
    IntU => "int_u",
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
            (Self::IntS | Self::IntU, true, false) => to != Element::I1,
            (Self::Bits, ..) => from.bits() == to.bits(),
            _ => false,
        }
    }
}

impl Binary {
    /// Whether it works on floating-point elements; the others work on integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::FAdd
                | Self::FSub
                | Self::FMul
                | Self::FDiv
                | Self::FMinNumber
                | Self::FMaxNumber
                | Self::FMinimum
                | Self::FMaximum
        )
    }

    /// Whether it works bit by bit, and so on `i1` too.
    #[must_use]
    pub fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }
}

impl Unary {
    /// Whether it works on floating-point elements; the others work on integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        !matches!(self, Self::LeadingZeros | Self::PopCount)
    }
}

impl Compare {
    /// Whether it compares floating-point elements; the others compare integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::FEq | Self::FLt | Self::FLe | Self::FUnordered)
    }
}

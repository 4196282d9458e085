//! What operations are told apart by: plain choices, each with the name that text and wire use.

use serde::{Deserialize, Serialize};
use tilewright_target::named_enum;

use super::rule::{BITS, FLOAT, INTEGER, INTEGER_BUT_I1, TypeSet, WIDE_INTEGER};
use crate::{Element, Uniformity};

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

named_enum! {
    /// An operation on one value.
    pub enum Unary {
        /// Floating-point negation.
        FNeg = "f_neg",
        /// A floating-point number without its sign.
        FAbs = "f_abs",
        /// Square root, rounded to nearest even; of a number below zero a NaN.
        FSqrt = "f_sqrt",
        /// The greatest whole number that is not greater.
        FFloor = "f_floor",
        /// The least whole number that is not less.
        FCeil = "f_ceil",
        /// The whole number next to it towards zero.
        FTrunc = "f_trunc",
        /// The nearest whole number, of two the even one.
        FNearest = "f_nearest",
        /// How many of the upper bits of an integer are zeros before the first that is one; its width for zero.
        LeadingZeros = "leading_zeros",
        /// How many bits of an integer are one.
        PopCount = "pop_count",
    }
}

named_enum! {
    /// An operation on two values of one type, element by element.
    pub enum Binary {
        /// Sum modulo 2^width.
        Add = "add",
        /// Difference modulo 2^width.
        Sub = "sub",
        /// Product modulo 2^width.
        Mul = "mul",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Shift to the left; a shift of the width or more gives an unspecified value.
        Shl = "shl",
        /// Shift to the right, filling with zeros; as [`Binary::Shl`] beyond the width.
        ShrU = "shr_u",
        /// Shift to the right, filling with the sign; as [`Binary::Shl`] beyond the width.
        ShrS = "shr_s",
        /// Quotient of unsigned integers; by zero an unspecified value.
        DivU = "div_u",
        /// Remainder of unsigned integers; by zero an unspecified value.
        RemU = "rem_u",
        /// Quotient of integers with sign, towards zero; by zero, and where it does not fit, an unspecified value.
        DivS = "div_s",
        /// Remainder of integers with sign, of the sign of the first; by zero, and where the quotient does not fit, an
        /// unspecified value.
        RemS = "rem_s",
        /// The upper half of the product of unsigned integers.
        MulHighU = "mul_high_u",
        /// The upper half of the product of integers with sign.
        MulHighS = "mul_high_s",
        /// Floating-point sum, rounded to nearest even.
        FAdd = "f_add",
        /// Floating-point difference, rounded to nearest even.
        FSub = "f_sub",
        /// Floating-point product, rounded to nearest even.
        FMul = "f_mul",
        /// Floating-point quotient, rounded to nearest even.
        FDiv = "f_div",
        /// The lesser of two floating-point numbers, the number where the other is a NaN.
        FMinNumber = "f_min_number",
        /// The greater of two floating-point numbers, the number where the other is a NaN.
        FMaxNumber = "f_max_number",
        /// The lesser of two floating-point numbers, a NaN where one is; the negative zero is less.
        FMinimum = "f_minimum",
        /// The greater of two floating-point numbers, a NaN where one is; the negative zero is less.
        FMaximum = "f_maximum",
    }
}

named_enum! {
    /// A comparison of two values of one type, giving `i1`s.
    pub enum Compare {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less, unsigned.
        LtU = "lt_u",
        /// Less or equal, unsigned.
        LeU = "le_u",
        /// Less, signed.
        LtS = "lt_s",
        /// Less or equal, signed.
        LeS = "le_s",
        /// Floating-point numbers that are equal; false where one is a NaN.
        FEq = "f_eq",
        /// The first is less; false where one is a NaN.
        FLt = "f_lt",
        /// The first is less or equal; false where one is a NaN.
        FLe = "f_le",
        /// One is a NaN.
        FUnordered = "f_unordered",
    }
}

named_enum! {
    /// A change of type; the target type is the result's.
    pub enum Cast {
        /// The low bits of an integer.
        Truncate = "truncate",
        /// An integer widened by zeros.
        ExtendU = "extend_u",
        /// An integer widened by its sign.
        ExtendS = "extend_s",
        /// The same bits as another type of the same width; element 0 of a vector is in the lowest bits. Of a
        /// pointer to shared memory, its address; of one to global memory likewise, an `i64`, and back.
        Bits = "bits",
        /// The floating-point number nearest to an integer with sign, ties to even.
        FloatS = "float_s",
        /// The same of an integer without sign.
        FloatU = "float_u",
        /// A floating-point number in a wider type, exact.
        ExtendF = "extend_f",
        /// A floating-point number rounded to a narrower type, to nearest even.
        RoundF = "round_f",
        /// The integer with sign next to a floating-point number towards zero; unspecified where it does not fit.
        IntS = "int_s",
        /// The same without sign.
        IntU = "int_u",
    }
}

named_enum! {
    /// Which lanes a collective concerns.
    pub enum Scope {
        /// The lanes of one warp.
        Warp = "warp",
        /// All warps of one block.
        Block = "block",
        /// All blocks of one cluster.
        Cluster = "cluster",
    }
}

named_enum! {
    /// Who issues a collective.
    pub enum Issuers {
        /// Every lane of the scope.
        All = "all",
    }
}

named_enum! {
    /// How lanes of a warp exchange values.
    pub enum Exchange {
        /// Every lane names the lane that it reads from, by an `i32` below the number of lanes.
        Index = "index",
    }
}

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

    /// The types of its operand.
    pub(super) fn operand(self) -> TypeSet {
        match self {
            Self::Bits => BITS,
            Self::ExtendF | Self::RoundF | Self::IntS | Self::IntU => FLOAT,
            Self::FloatS | Self::FloatU => INTEGER_BUT_I1,
            Self::Truncate | Self::ExtendU | Self::ExtendS => INTEGER,
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

    /// The types of its operands.
    pub(super) fn operand(self) -> TypeSet {
        match self {
            _ if self.is_float() => FLOAT,
            _ if self.is_bitwise() => INTEGER,
            _ => WIDE_INTEGER,
        }
    }
}

impl Unary {
    /// Whether it works on floating-point elements; the others work on integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        !matches!(self, Self::LeadingZeros | Self::PopCount)
    }

    /// The types of its operands.
    pub(super) fn operand(self) -> TypeSet {
        if self.is_float() { FLOAT } else { WIDE_INTEGER }
    }
}

impl Compare {
    /// Whether it compares floating-point elements; the others compare integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::FEq | Self::FLt | Self::FLe | Self::FUnordered)
    }

    /// The types of its operands.
    pub(super) fn operand(self) -> TypeSet {
        if self.is_float() { FLOAT } else { WIDE_INTEGER }
    }
}

impl Scope {
    /// How uniform a value is that is the same in all lanes of the scope.
    #[must_use]
    pub fn uniformity(self) -> Uniformity {
        match self {
            Self::Warp => Uniformity::Uniform,
            Self::Block => Uniformity::BlockUniform,
            Self::Cluster => Uniformity::ClusterUniform,
        }
    }
}

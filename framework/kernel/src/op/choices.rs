//! Plain enums that select a kind of operation, each variant with its name in text and in serialized modules.

use serde::{Deserialize, Serialize};
use tilewright_target::{FloatFormat, named_enum};

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
    /// Number of blocks in the grid along axis 0, 1 or 2; `i32`, cluster-uniform.
    Programs(u8),
    /// Index of the block in its cluster; `i32`, block-uniform.
    Block,
}

named_enum! {
    /// A counter of the hardware that a kernel reads.
    pub enum ClockCounter {
        /// Cycles of the compute unit that executes the warp (PTX `%clock64`, AMD `s_memtime`).
        Cycles = "cycles",
        /// A time that all compute units share and that grows at a constant rate, in the unit of the target: nanoseconds
        /// (PTX `%globaltimer`), or ticks of a reference clock (AMD `s_memrealtime`).
        Time = "time",
    }
}

named_enum! {
    /// The kind of a unary operation, which applies to each element of a scalar or vector.
    pub enum Unary {
        /// Floating-point negation.
        FNeg = "f_neg",
        /// A floating-point number without its sign.
        FAbs = "f_abs",
        /// Square root, rounded to nearest even; of a number below zero a NaN.
        FSqrt = "f_sqrt",
        /// Largest integral value that is not greater.
        FFloor = "f_floor",
        /// Smallest integral value that is not less.
        FCeil = "f_ceil",
        /// Rounding to an integral value towards zero.
        FTrunc = "f_trunc",
        /// Rounding of a floating-point number to the nearest integral value, ties to even.
        FNearest = "f_nearest",
        /// Number of leading zeros of an integer; for zero, the integer's width in bits.
        LeadingZeros = "leading_zeros",
        /// Number of set bits of an integer.
        PopCount = "pop_count",
    }
}

named_enum! {
    /// A binary operation on two values of one type, element by element.
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
        /// Left shift; unspecified if the shift is the width or more.
        Shl = "shl",
        /// Logical right shift; unspecified if the shift is the width or more.
        ShrU = "shr_u",
        /// Arithmetic right shift; unspecified if the shift is the width or more.
        ShrS = "shr_s",
        /// Quotient of unsigned integers; unspecified if the divisor is zero.
        DivU = "div_u",
        /// Remainder of unsigned integers; unspecified if the divisor is zero.
        RemU = "rem_u",
        /// Quotient of signed integers, towards zero; unspecified if the divisor is zero or the quotient overflows.
        DivS = "div_s",
        /// Remainder of signed integers, with the sign of the dividend; unspecified if the divisor is zero or the
        /// quotient overflows.
        RemS = "rem_s",
        /// High half of the product of unsigned integers.
        MulHighU = "mul_high_u",
        /// High half of the product of signed integers.
        MulHighS = "mul_high_s",
        /// Floating-point sum, rounded to nearest even.
        FAdd = "f_add",
        /// Floating-point difference, rounded to nearest even.
        FSub = "f_sub",
        /// Floating-point product, rounded to nearest even.
        FMul = "f_mul",
        /// Floating-point quotient, rounded to nearest even.
        FDiv = "f_div",
        /// Minimum of two floating-point numbers; if one is a NaN, the other (IEEE 754-2019 `minimumNumber`).
        FMinNumber = "f_min_number",
        /// Maximum of two floating-point numbers; if one is a NaN, the other (IEEE 754-2019 `maximumNumber`).
        FMaxNumber = "f_max_number",
        /// Minimum of two floating-point numbers; NaN if one is a NaN; -0 is less than +0 (IEEE 754-2019 `minimum`).
        FMinimum = "f_minimum",
        /// Maximum of two floating-point numbers; NaN if one is a NaN; -0 is less than +0 (IEEE 754-2019 `maximum`).
        FMaximum = "f_maximum",
    }
}

named_enum! {
    /// A comparison of two values of one type; the result has element type `i1`.
    pub enum Compare {
        /// The integers are equal.
        Eq = "eq",
        /// The integers differ.
        Ne = "ne",
        /// The first unsigned integer is less than the second.
        LtU = "lt_u",
        /// The first unsigned integer is less than or equal to the second.
        LeU = "le_u",
        /// The first signed integer is less than the second.
        LtS = "lt_s",
        /// The first signed integer is less than or equal to the second.
        LeS = "le_s",
        /// Floating-point equal; false if an operand is a NaN.
        FEq = "f_eq",
        /// Floating-point less; false if an operand is a NaN.
        FLt = "f_lt",
        /// Floating-point less or equal; false if an operand is a NaN.
        FLe = "f_le",
        /// At least one operand is a NaN.
        FUnordered = "f_unordered",
    }
}

named_enum! {
    /// A conversion; the destination type is the result's.
    pub enum Cast {
        /// The low bits of an integer.
        Truncate = "truncate",
        /// Zero extension of an integer.
        ExtendU = "extend_u",
        /// Sign extension of an integer.
        ExtendS = "extend_s",
        /// Bitcast to another type of the same width; element 0 of a vector is in the lowest bits. A pointer to shared
        /// memory becomes its 32-bit address; a pointer to global memory becomes an `i64`, and back.
        Bits = "bits",
        /// Signed integer to the nearest floating-point number, ties to even.
        FloatS = "float_s",
        /// Unsigned integer to the nearest floating-point number, ties to even.
        FloatU = "float_u",
        /// Floating-point number to a wider type, exact.
        ExtendF = "extend_f",
        /// Floating-point number rounded to a narrower type, to nearest even.
        RoundF = "round_f",
        /// `f32` rounded to a narrower type, towards zero; infinity stays.
        RoundZ = "round_z",
        /// Floating-point number to a signed integer, towards zero; unspecified if it does not fit.
        IntS = "int_s",
        /// Floating-point number to an unsigned integer, towards zero; unspecified if it does not fit.
        IntU = "int_u",
        /// OCP E4M3 number in a byte to a floating-point type, exact.
        ExtendE4m3 = "extend_e4m3",
        /// OCP E5M2 number in a byte to a floating-point type, exact.
        ExtendE5m2 = "extend_e5m2",
        /// E4M3 number without infinity and negative zero, in a byte, to a floating-point type, exact.
        ExtendFp8Fnuz = "extend_fp8_fnuz",
        /// E5M2 number without infinity and negative zero, in a byte, to a floating-point type, exact.
        ExtendBf8Fnuz = "extend_bf8_fnuz",
        /// Floating-point number rounded to OCP E4M3 in a byte, to nearest even; numbers beyond the greatest, and
        /// infinity, become the greatest; NaN becomes the positive NaN.
        RoundE4m3 = "round_e4m3",
        /// Floating-point number rounded to OCP E5M2 in a byte, to nearest even; numbers beyond the greatest, and
        /// infinity, become the greatest; NaN becomes the positive NaN with all bits of the mantissa set.
        RoundE5m2 = "round_e5m2",
    }
}

named_enum! {
    /// The lanes that a collective operation synchronizes.
    pub enum CollectiveScope {
        /// The lanes of one warp.
        Warp = "warp",
        /// All warps of one block.
        Block = "block",
        /// All blocks of one cluster.
        Cluster = "cluster",
    }
}

named_enum! {
    /// The lanes that issue a collective.
    pub enum Issuers {
        /// Every lane of the scope.
        All = "all",
    }
}

named_enum! {
    /// How the lanes of a warp group change their number of registers.
    pub enum RegisterChange {
        /// Gives registers to the pool of the block.
        Release = "release",
        /// Takes registers from the pool of the block, and waits until it has enough.
        Acquire = "acquire",
    }
}

named_enum! {
    /// How a warp takes part in a named barrier.
    pub enum BarrierAction {
        /// Arrives, and continues without a wait.
        Arrive = "arrive",
        /// Arrives, and waits until all have arrived.
        Sync = "sync",
    }
}

named_enum! {
    /// How a lane of a shuffle names its source lane.
    pub enum ShuffleMode {
        /// By an `i32` lane index, below the number of lanes, that may differ between lanes.
        Index = "index",
    }
}

impl Cast {
    /// The casts from and to 8-bit floating-point formats: the cast, the 8-bit format, and whether the cast is from
    /// that format.
    const NARROW: [(Self, FloatFormat, bool); 6] = [
        (Self::ExtendE4m3, FloatFormat::E4M3, true),
        (Self::ExtendE5m2, FloatFormat::E5M2, true),
        (Self::ExtendFp8Fnuz, FloatFormat::E4M3_FNUZ, true),
        (Self::ExtendBf8Fnuz, FloatFormat::E5M2_FNUZ, true),
        (Self::RoundE4m3, FloatFormat::E4M3, false),
        (Self::RoundE5m2, FloatFormat::E5M2, false),
    ];

    /// Returns the cast from an 8-bit floating-point format to a wider type; `None` if there is no such cast.
    #[must_use]
    pub fn extend_from_format(format: FloatFormat) -> Option<Self> {
        Self::NARROW.iter().find(|row| row.1 == format && row.2).map(|row| row.0)
    }

    /// Returns the cast that rounds to an 8-bit floating-point format; `None` if there is no such cast.
    #[must_use]
    pub fn round_to_format(format: FloatFormat) -> Option<Self> {
        Self::NARROW.iter().find(|row| row.1 == format && !row.2).map(|row| row.0)
    }

    /// The 8-bit floating-point format that the cast extends; `None` for other casts.
    #[must_use]
    pub fn extended_format(self) -> Option<FloatFormat> {
        Self::NARROW.iter().find(|row| row.0 == self && row.2).map(|row| row.1)
    }

    /// The 8-bit floating-point format that the cast rounds to; `None` for other casts.
    #[must_use]
    pub fn rounded_format(self) -> Option<FloatFormat> {
        Self::NARROW.iter().find(|row| row.0 == self && !row.2).map(|row| row.1)
    }

    /// Whether the cast converts between these element types; [`Cast::Bits`] compares total widths instead.
    #[must_use]
    pub fn can_convert(self, from: Element, to: Element) -> bool {
        let (narrower, wider) = (to.bits() < from.bits(), to.bits() > from.bits());
        match (self, from.is_float(), to.is_float()) {
            (Self::Truncate, false, false) | (Self::RoundF, true, true) => narrower,
            (Self::RoundZ, true, true) => narrower && from == Element::F32,
            (Self::ExtendU | Self::ExtendS, false, false) | (Self::ExtendF, true, true) => wider,
            (Self::FloatS | Self::FloatU, false, true) => from != Element::I1,
            (Self::IntS | Self::IntU, true, false) => to != Element::I1,
            (Self::Bits, ..) => from.bits() == to.bits(),
            (_, false, true) => self.extended_format().is_some() && from == Element::I8 && to != Element::F64,
            (_, true, false) => self.rounded_format().is_some() && from != Element::F64 && to == Element::I8,
            _ => false,
        }
    }

    /// The types that the operand may have.
    pub(super) fn operand(self) -> TypeSet {
        match self {
            Self::Bits => BITS,
            Self::ExtendF
            | Self::RoundF
            | Self::RoundZ
            | Self::IntS
            | Self::IntU
            | Self::RoundE4m3
            | Self::RoundE5m2 => FLOAT,
            Self::FloatS | Self::FloatU => INTEGER_BUT_I1,
            Self::Truncate
            | Self::ExtendU
            | Self::ExtendS
            | Self::ExtendE4m3
            | Self::ExtendE5m2
            | Self::ExtendFp8Fnuz
            | Self::ExtendBf8Fnuz => INTEGER,
        }
    }
}

impl Binary {
    /// Whether the operation is on floating-point elements; otherwise it is on integers.
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

    /// Whether the operation is bitwise, and so accepts `i1` too.
    #[must_use]
    pub fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }

    /// The types that the operands may have.
    pub(super) fn operand(self) -> TypeSet {
        match self {
            _ if self.is_float() => FLOAT,
            _ if self.is_bitwise() => INTEGER,
            _ => WIDE_INTEGER,
        }
    }
}

impl Unary {
    /// Whether the operation is on floating-point elements; otherwise it is on integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        !matches!(self, Self::LeadingZeros | Self::PopCount)
    }

    /// The types that the operands may have.
    pub(super) fn operand(self) -> TypeSet {
        if self.is_float() { FLOAT } else { WIDE_INTEGER }
    }
}

impl Compare {
    /// Whether the comparison is of floating-point elements; otherwise it is of integers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::FEq | Self::FLt | Self::FLe | Self::FUnordered)
    }

    /// The types that the operands may have.
    pub(super) fn operand(self) -> TypeSet {
        if self.is_float() { FLOAT } else { WIDE_INTEGER }
    }
}

impl CollectiveScope {
    /// Returns the uniformity of a value that is equal in all lanes of this scope.
    #[must_use]
    pub fn uniformity(self) -> Uniformity {
        match self {
            Self::Warp => Uniformity::Uniform,
            Self::Block => Uniformity::BlockUniform,
            Self::Cluster => Uniformity::ClusterUniform,
        }
    }
}

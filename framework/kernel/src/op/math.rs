//! Functions of floating-point numbers.

use serde::{Deserialize, Serialize};

use super::named::named;

/// A function of floating-point numbers, as C's of this name where it has one; hardware or [an expansion](super::Op::Math) computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MathFunction {
    /// e to the power of it.
    Exp,
    /// Two to the power of it.
    Exp2,
    /// Ten to the power of it.
    Exp10,
    /// e to the power of it, minus one.
    Expm1,
    /// Natural logarithm.
    Log,
    /// Logarithm to base two.
    Log2,
    /// Logarithm to base ten.
    Log10,
    /// Natural logarithm of it plus one.
    Log1p,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Tangent of an angle in radians.
    Tan,
    /// The angle of a sine.
    Asin,
    /// The angle of a cosine.
    Acos,
    /// The angle of a tangent.
    Atan,
    /// The angle of the point whose ordinate comes first, its abscissa second.
    Atan2,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse of the hyperbolic sine.
    Asinh,
    /// Inverse of the hyperbolic cosine.
    Acosh,
    /// Inverse of the hyperbolic tangent.
    Atanh,
    /// Error function.
    Erf,
    /// One minus the error function.
    Erfc,
    /// The first to the power of the second.
    Pow,
    /// Cube root.
    Cbrt,
    /// One over the square root.
    Rsqrt,
    /// Square root of the sum of two squares.
    Hypot,
    /// Remainder of the quotient towards zero, exact, of the sign of the first.
    Fmod,
    /// Natural logarithm of the gamma function's magnitude.
    Lgamma,
    /// Gamma function.
    Tgamma,
    /// Inverse of the error function.
    Erfinv,
    /// Inverse of one minus the error function.
    Erfcinv,
    /// One minus the error function, times e to the power of the square.
    Erfcx,
    /// Bessel function of the first kind and order zero.
    BesselJ0,
    /// Bessel function of the first kind and order one.
    BesselJ1,
    /// Bessel function of the first kind, of the first as order, a whole number.
    BesselJn,
    /// Bessel function of the second kind and order zero.
    BesselY0,
    /// Bessel function of the second kind and order one.
    BesselY1,
    /// Bessel function of the second kind, of the first as order, a whole number.
    BesselYn,
    /// Modified Bessel function of the first kind and order zero.
    BesselI0,
    /// Modified Bessel function of the first kind and order one.
    BesselI1,
    /// The exponent, as a number.
    Logb,
    /// The number next to the first toward the second.
    #[serde(rename = "nextafter")]
    NextAfter,
    /// The first times two to the power of the second, a whole number.
    Scalbn,
    /// What the nearest whole quotient leaves, of two the even one; exact.
    Remainder,
    /// A sum, down.
    #[serde(rename = "add_rd")]
    AddDown,
    /// A sum, up.
    #[serde(rename = "add_ru")]
    AddUp,
    /// A sum, toward zero.
    #[serde(rename = "add_rz")]
    AddZero,
    /// A product, down.
    #[serde(rename = "mul_rd")]
    MulDown,
    /// A product, up.
    #[serde(rename = "mul_ru")]
    MulUp,
    /// A product, toward zero.
    #[serde(rename = "mul_rz")]
    MulZero,
    /// A quotient, down.
    #[serde(rename = "div_rd")]
    DivDown,
    /// A quotient, up.
    #[serde(rename = "div_ru")]
    DivUp,
    /// A quotient, toward zero.
    #[serde(rename = "div_rz")]
    DivZero,
    /// A square root, down.
    #[serde(rename = "sqrt_rd")]
    SqrtDown,
    /// A square root, up.
    #[serde(rename = "sqrt_ru")]
    SqrtUp,
    /// A square root, toward zero.
    #[serde(rename = "sqrt_rz")]
    SqrtZero,
    /// The first times the second plus the third, rounded once down.
    #[serde(rename = "fma_rd")]
    FmaDown,
    /// The first times the second plus the third, rounded once up.
    #[serde(rename = "fma_ru")]
    FmaUp,
    /// The first times the second plus the third, rounded once toward zero.
    #[serde(rename = "fma_rz")]
    FmaZero,
}

named!(MathFunction {
    Exp => "exp",
    Exp2 => "exp2",
    Exp10 => "exp10",
    Expm1 => "expm1",
    Log => "log",
    Log2 => "log2",
    Log10 => "log10",
    Log1p => "log1p",
    Sin => "sin",
    Cos => "cos",
    Tan => "tan",
    Asin => "asin",
    Acos => "acos",
    Atan => "atan",
    Atan2 => "atan2",
    Sinh => "sinh",
    Cosh => "cosh",
    Tanh => "tanh",
    Asinh => "asinh",
    Acosh => "acosh",
    Atanh => "atanh",
    Erf => "erf",
    Erfc => "erfc",
    Pow => "pow",
    Cbrt => "cbrt",
    Rsqrt => "rsqrt",
    Hypot => "hypot",
    Fmod => "fmod",
    Lgamma => "lgamma",
    Tgamma => "tgamma",
    Erfinv => "erfinv",
    Erfcinv => "erfcinv",
    Erfcx => "erfcx",
    BesselJ0 => "bessel_j0",
    BesselJ1 => "bessel_j1",
    BesselJn => "bessel_jn",
    BesselY0 => "bessel_y0",
    BesselY1 => "bessel_y1",
    BesselYn => "bessel_yn",
    BesselI0 => "bessel_i0",
    BesselI1 => "bessel_i1",
    Logb => "logb",
    NextAfter => "nextafter",
    Scalbn => "scalbn",
    Remainder => "remainder",
    AddDown => "add_rd",
    AddUp => "add_ru",
    AddZero => "add_rz",
    MulDown => "mul_rd",
    MulUp => "mul_ru",
    MulZero => "mul_rz",
    DivDown => "div_rd",
    DivUp => "div_ru",
    DivZero => "div_rz",
    SqrtDown => "sqrt_rd",
    SqrtUp => "sqrt_ru",
    SqrtZero => "sqrt_rz",
    FmaDown => "fma_rd",
    FmaUp => "fma_ru",
    FmaZero => "fma_rz",
});

/// A direction in which numbers are rounded that lie between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the one below.
    Down,
    /// To the one above.
    Up,
    /// To the one of less size.
    Zero,
}

impl MathFunction {
    /// Whether its results are defined bit for bit, but for what a NaN carries.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == Self::Fmod || self >= Self::Logb
    }

    /// How many numbers it takes.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::Atan2 | Self::Pow | Self::Hypot | Self::Fmod => 2,
            Self::NextAfter | Self::Scalbn | Self::Remainder | Self::BesselJn | Self::BesselYn => 2,
            Self::AddDown | Self::AddUp | Self::AddZero | Self::MulDown | Self::MulUp | Self::MulZero => 2,
            Self::DivDown | Self::DivUp | Self::DivZero => 2,
            Self::FmaDown | Self::FmaUp | Self::FmaZero => 3,
            _ => 1,
        }
    }
}

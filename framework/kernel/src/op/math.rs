//! Functions of floating-point numbers.

use tilewright_target::named_enum;

named_enum! {
    /// A function of floating-point numbers, as C's of this name where it has one; hardware or [an expansion](super::Op::Math) computes it.
    pub enum MathFunction {
        /// e to the power of it.
        Exp = "exp",
        /// Two to the power of it.
        Exp2 = "exp2",
        /// Ten to the power of it.
        Exp10 = "exp10",
        /// e to the power of it, minus one.
        Expm1 = "expm1",
        /// Natural logarithm.
        Log = "log",
        /// Logarithm to base two.
        Log2 = "log2",
        /// Logarithm to base ten.
        Log10 = "log10",
        /// Natural logarithm of it plus one.
        Log1p = "log1p",
        /// Sine of an angle in radians.
        Sin = "sin",
        /// Cosine of an angle in radians.
        Cos = "cos",
        /// Tangent of an angle in radians.
        Tan = "tan",
        /// The angle of a sine.
        Asin = "asin",
        /// The angle of a cosine.
        Acos = "acos",
        /// The angle of a tangent.
        Atan = "atan",
        /// The angle of the point whose ordinate comes first, its abscissa second.
        Atan2 = "atan2",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Inverse of the hyperbolic sine.
        Asinh = "asinh",
        /// Inverse of the hyperbolic cosine.
        Acosh = "acosh",
        /// Inverse of the hyperbolic tangent.
        Atanh = "atanh",
        /// Error function.
        Erf = "erf",
        /// One minus the error function.
        Erfc = "erfc",
        /// The first to the power of the second.
        Pow = "pow",
        /// Cube root.
        Cbrt = "cbrt",
        /// One over the square root.
        Rsqrt = "rsqrt",
        /// Square root of the sum of two squares.
        Hypot = "hypot",
        /// Remainder of the quotient towards zero, exact, of the sign of the first.
        Fmod = "fmod",
        /// Natural logarithm of the gamma function's magnitude.
        Lgamma = "lgamma",
        /// Gamma function.
        Tgamma = "tgamma",
        /// Inverse of the error function.
        Erfinv = "erfinv",
        /// Inverse of one minus the error function.
        Erfcinv = "erfcinv",
        /// One minus the error function, times e to the power of the square.
        Erfcx = "erfcx",
        /// Bessel function of the first kind and order zero.
        BesselJ0 = "bessel_j0",
        /// Bessel function of the first kind and order one.
        BesselJ1 = "bessel_j1",
        /// Bessel function of the first kind, of the first as order, a whole number.
        BesselJn = "bessel_jn",
        /// Bessel function of the second kind and order zero.
        BesselY0 = "bessel_y0",
        /// Bessel function of the second kind and order one.
        BesselY1 = "bessel_y1",
        /// Bessel function of the second kind, of the first as order, a whole number.
        BesselYn = "bessel_yn",
        /// Modified Bessel function of the first kind and order zero.
        BesselI0 = "bessel_i0",
        /// Modified Bessel function of the first kind and order one.
        BesselI1 = "bessel_i1",
        /// The exponent, as a number.
        Logb = "logb",
        /// The number next to the first toward the second.
        NextAfter = "nextafter",
        /// The first times two to the power of the second, a whole number.
        Scalbn = "scalbn",
        /// What the nearest whole quotient leaves, of two the even one; exact.
        Remainder = "remainder",
        /// A sum, down.
        AddDown = "add_rd",
        /// A sum, up.
        AddUp = "add_ru",
        /// A sum, toward zero.
        AddZero = "add_rz",
        /// A product, down.
        MulDown = "mul_rd",
        /// A product, up.
        MulUp = "mul_ru",
        /// A product, toward zero.
        MulZero = "mul_rz",
        /// A quotient, down.
        DivDown = "div_rd",
        /// A quotient, up.
        DivUp = "div_ru",
        /// A quotient, toward zero.
        DivZero = "div_rz",
        /// A square root, down.
        SqrtDown = "sqrt_rd",
        /// A square root, up.
        SqrtUp = "sqrt_ru",
        /// A square root, toward zero.
        SqrtZero = "sqrt_rz",
        /// The first times the second plus the third, rounded once down.
        FmaDown = "fma_rd",
        /// The first times the second plus the third, rounded once up.
        FmaUp = "fma_ru",
        /// The first times the second plus the third, rounded once toward zero.
        FmaZero = "fma_rz",
    }
}

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

//! Math functions of the kernel IR, and the number of their operands.

use tilewright_target::named_enum;

named_enum! {
    /// A math function, with the semantics of the C function of this name if there is one; computed by an instruction
    /// or by [an expansion](super::Op::Math).
    pub enum MathFunction {
        /// e to the power of x.
        Exp = "exp",
        /// 2 to the power of x.
        Exp2 = "exp2",
        /// 10 to the power of x.
        Exp10 = "exp10",
        /// e to the power of x, minus 1.
        Expm1 = "expm1",
        /// Natural logarithm.
        Log = "log",
        /// Logarithm to base two.
        Log2 = "log2",
        /// Logarithm to base ten.
        Log10 = "log10",
        /// Natural logarithm of x + 1.
        Log1p = "log1p",
        /// Sine of an angle in radians.
        Sin = "sin",
        /// Cosine of an angle in radians.
        Cos = "cos",
        /// Tangent of an angle in radians.
        Tan = "tan",
        /// Arc sine.
        Asin = "asin",
        /// Arc cosine.
        Acos = "acos",
        /// Arc tangent.
        Atan = "atan",
        /// Angle of the point (x, y); the first operand is y.
        Atan2 = "atan2",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Inverse hyperbolic sine.
        Asinh = "asinh",
        /// Inverse hyperbolic cosine.
        Acosh = "acosh",
        /// Inverse hyperbolic tangent.
        Atanh = "atanh",
        /// Error function.
        Erf = "erf",
        /// 1 minus the error function.
        Erfc = "erfc",
        /// The first operand to the power of the second.
        Pow = "pow",
        /// Cube root.
        Cbrt = "cbrt",
        /// 1 over the square root.
        Rsqrt = "rsqrt",
        /// Square root, within the error bound of the target's instruction.
        Sqrt = "sqrt",
        /// Quotient, within the error bound of the target's instruction.
        Div = "div",
        /// Square root of the sum of two squares.
        Hypot = "hypot",
        /// Exact remainder of the quotient rounded towards zero, with the sign of the dividend.
        Fmod = "fmod",
        /// Natural logarithm of the gamma function's magnitude.
        Lgamma = "lgamma",
        /// Gamma function.
        Tgamma = "tgamma",
        /// Inverse of the error function.
        Erfinv = "erfinv",
        /// Inverse of the complementary error function.
        Erfcinv = "erfcinv",
        /// Scaled complementary error function: `exp(x * x) * erfc(x)`.
        Erfcx = "erfcx",
        /// Bessel function of the first kind and order zero.
        BesselJ0 = "bessel_j0",
        /// Bessel function of the first kind and order one.
        BesselJ1 = "bessel_j1",
        /// Bessel function of the first kind; the first operand is the integral order.
        BesselJn = "bessel_jn",
        /// Bessel function of the second kind and order zero.
        BesselY0 = "bessel_y0",
        /// Bessel function of the second kind and order one.
        BesselY1 = "bessel_y1",
        /// Bessel function of the second kind; the first operand is the integral order.
        BesselYn = "bessel_yn",
        /// Modified Bessel function of the first kind and order zero.
        BesselI0 = "bessel_i0",
        /// Modified Bessel function of the first kind and order one.
        BesselI1 = "bessel_i1",
        /// The unbiased exponent of x, as a floating-point number.
        Logb = "logb",
        /// The next representable number after the first operand in the direction of the second.
        NextAfter = "nextafter",
        /// The first operand times 2 to the power of the second, which is integral.
        Scalbn = "scalbn",
        /// Exact remainder of the quotient rounded to the nearest integer, ties to even.
        Remainder = "remainder",
        /// Sum, rounded down.
        AddDown = "add_rd",
        /// Sum, rounded up.
        AddUp = "add_ru",
        /// Sum, rounded towards zero.
        AddZero = "add_rz",
        /// Product, rounded down.
        MulDown = "mul_rd",
        /// Product, rounded up.
        MulUp = "mul_ru",
        /// Product, rounded towards zero.
        MulZero = "mul_rz",
        /// Quotient, rounded down.
        DivDown = "div_rd",
        /// Quotient, rounded up.
        DivUp = "div_ru",
        /// Quotient, rounded towards zero.
        DivZero = "div_rz",
        /// Square root, rounded down.
        SqrtDown = "sqrt_rd",
        /// Square root, rounded up.
        SqrtUp = "sqrt_ru",
        /// Square root, rounded towards zero.
        SqrtZero = "sqrt_rz",
        /// Fused multiply-add, rounded down.
        FmaDown = "fma_rd",
        /// Fused multiply-add, rounded up.
        FmaUp = "fma_ru",
        /// Fused multiply-add, rounded towards zero.
        FmaZero = "fma_rz",
    }
}

/// A directed rounding mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectedRounding {
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Towards zero.
    Zero,
}

impl MathFunction {
    /// Whether the results are defined bit for bit, except the payload of a NaN.
    #[must_use]
    pub fn is_bit_exact(self) -> bool {
        self == Self::Fmod || self >= Self::Logb
    }

    /// The number of operands of the function.
    #[must_use]
    pub fn operand_count(self) -> usize {
        match self {
            Self::Atan2 | Self::Pow | Self::Hypot | Self::Fmod | Self::Div => 2,
            Self::NextAfter | Self::Scalbn | Self::Remainder | Self::BesselJn | Self::BesselYn => 2,
            Self::AddDown | Self::AddUp | Self::AddZero | Self::MulDown | Self::MulUp | Self::MulZero => 2,
            Self::DivDown | Self::DivUp | Self::DivZero => 2,
            Self::FmaDown | Self::FmaUp | Self::FmaZero => 3,
            _ => 1,
        }
    }
}

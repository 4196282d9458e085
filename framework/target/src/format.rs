//! Floating-point formats: decoding of elements, and rounding of numbers to them.
//!
//! Sources: IEEE 754; OCP 8-bit Floating Point Specification (`e4m3`, `e5m2`) and OCP Microscaling
//! Formats (`fp4`, `e2m3`, `e3m2`, and the scales `e8m0`); NVIDIA's PTX ISA for the scales `ue4m3`; for the `fnuz`
//! variants Noune et al., "8-bit Numerical Formats for Deep Neural Networks", as documented with ROCm; for `tf32`
//! NVIDIA's PTX ISA: the upper 19 bits of binary32.

/// A binary floating-point format: a sign bit if signed, exponent bits, mantissa bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    signed: bool,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
    /// Number of low bits of the encoding that are ignored, as in TF32.
    ignored: u32,
    /// Number of high bits of the encoding, above the format's fields, that are ignored.
    unused: u32,
}

/// The encodings of a format that stand for infinity or NaN instead of finite numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Specials {
    /// The highest exponent is special, as in IEEE 754: infinity if the mantissa is zero, else NaN.
    Ieee,
    /// The encoding of all ones, apart from the sign, is NaN; there is no infinity.
    AllOnes,
    /// The encoding of negative zero is NaN; there is no infinity.
    NegativeZero,
    /// No special encoding: every encoding is a number.
    None,
}

const fn format(exponent: u32, mantissa: u32, specials: Specials) -> FloatFormat {
    let bias = (1 << (exponent - 1)) - 1;
    // Without infinities no exponent is reserved; formats without negative zero shift the bias by one.
    let bias = if matches!(specials, Specials::NegativeZero) { bias + 1 } else { bias };
    FloatFormat { signed: true, exponent, mantissa, bias, specials, ignored: 0, unused: 0 }
}

/// The rounding direction for a number between two neighbouring values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundingMode {
    /// To the nearer neighbour; if both are equally near, to the one with an even code.
    NearestEven,
    /// To the neighbour nearer to zero.
    Zero,
    /// To the lesser neighbour.
    Down,
    /// To the greater neighbour.
    Up,
    /// To the neighbour with an odd code. A second rounding, to a format of at least two bits less, then gives the
    /// correctly rounded result (Boldo and Melquiond, 2008).
    Odd,
}

impl FloatFormat {
    /// IEEE binary64.
    pub const F64: Self = format(11, 52, Specials::Ieee);
    /// IEEE binary32.
    pub const F32: Self = format(8, 23, Specials::Ieee);
    /// NVIDIA TF32: the upper 19 bits of a binary32.
    pub const TF32: Self = Self { ignored: 13, ..format(8, 10, Specials::Ieee) };
    /// Bfloat16: the upper half of a binary32.
    pub const BF16: Self = format(8, 7, Specials::Ieee);
    /// IEEE binary16.
    pub const F16: Self = format(5, 10, Specials::Ieee);
    /// OCP E5M2.
    pub const E5M2: Self = format(5, 2, Specials::Ieee);
    /// OCP E4M3: no infinity, one NaN for each sign.
    pub const E4M3: Self = format(4, 3, Specials::AllOnes);
    /// E5M2 without infinity and negative zero, whose encoding is the NaN.
    pub const E5M2_FNUZ: Self = format(5, 2, Specials::NegativeZero);
    /// E4M3 without infinity and negative zero, whose encoding is the NaN.
    pub const E4M3_FNUZ: Self = format(4, 3, Specials::NegativeZero);
    /// OCP E2M1, four bits.
    pub const E2M1: Self = format(2, 1, Specials::None);
    /// OCP E2M3, six bits.
    pub const E2M3: Self = format(2, 3, Specials::None);
    /// OCP E3M2, six bits.
    pub const E3M2: Self = format(3, 2, Specials::None);
    /// OCP E8M0: powers of two, for scales.
    pub const E8M0: Self = Self { signed: false, ..format(8, 0, Specials::AllOnes) };
    /// E4M3 without sign, for scales; the highest bit is ignored.
    pub const UE4M3: Self = Self { signed: false, unused: 1, ..format(4, 3, Specials::AllOnes) };

    /// Returns the width of an encoding in bits, including ignored bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        u32::from(self.signed) + self.exponent + self.mantissa + self.ignored + self.unused
    }

    /// Returns three widths in bits: of the exponent field, of the mantissa field, and of the ignored low bits.
    #[must_use]
    pub fn field_widths(self) -> [u32; 3] {
        [self.exponent, self.mantissa, self.ignored]
    }

    /// Whether the format has negative numbers.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Returns the encoding of the number one.
    #[must_use]
    pub fn encode_one(self) -> u64 {
        (self.bias as u64) << (self.mantissa + self.ignored)
    }

    /// Returns the exponent bias: a normal number has the exponent `field - bias`.
    #[must_use]
    pub fn bias(self) -> i32 {
        self.bias
    }

    /// Returns the NaN encoding of a format that has only one NaN apart from its sign: the bits of the encoding, and
    /// the mask of the bits to compare with them. `None` if the format has no NaN, or NaNs with payloads.
    #[must_use]
    pub fn single_nan(self) -> Option<(u64, u64)> {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::AllOnes => Some((magnitude, magnitude)),
            Specials::NegativeZero => Some((magnitude + 1, 2 * magnitude + 1)),
            Specials::Ieee | Specials::None => None,
        }
    }

    /// Whether the format encodes infinities (then the highest exponent is reserved for infinities and NaN, as in IEEE
    /// 754).
    #[must_use]
    pub fn has_infinity(self) -> bool {
        self.specials == Specials::Ieee
    }

    /// Returns the encoding of the greatest finite number.
    #[must_use]
    pub fn encode_max_finite(self) -> u64 {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        let bits = match self.specials {
            Specials::Ieee => magnitude - (1 << self.mantissa),
            Specials::AllOnes => magnitude - 1,
            Specials::NegativeZero | Specials::None => magnitude,
        };
        bits << self.ignored
    }

    /// Returns the encoding of a NaN: all ones, or the encoding of negative zero; `None` if the format has no NaN.
    #[must_use]
    pub fn encode_nan(self) -> Option<u64> {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::Ieee | Specials::AllOnes => Some(magnitude << self.ignored),
            Specials::NegativeZero => Some((magnitude + 1) << self.ignored),
            Specials::None => None,
        }
    }

    /// Returns the encoding of the quiet NaN without payload; `None` if the format has no NaN.
    #[must_use]
    pub fn encode_quiet_nan(self) -> Option<u64> {
        let top_exponent = ((1u64 << self.exponent) - 1) << self.mantissa;
        match self.specials {
            Specials::Ieee => Some((top_exponent | 1 << (self.mantissa - 1)) << self.ignored),
            _ => self.encode_nan(),
        }
    }

    /// The least positive normal value; without a mantissa, the least value of all.
    #[must_use]
    pub fn min_normal(self) -> f64 {
        power(self.min_exponent() + self.mantissa as i32)
    }

    /// Returns the binary exponent of the greatest power of two that the format can represent.
    #[must_use]
    pub fn max_exponent(self) -> i32 {
        let reserved = match self.specials {
            Specials::Ieee => 1,
            // Without a mantissa NaN occupies the whole exponent.
            Specials::AllOnes => i32::from(self.mantissa == 0),
            Specials::NegativeZero | Specials::None => 0,
        };
        (1 << self.exponent) - 1 - reserved - self.bias
    }

    /// Returns the binary exponent of the least positive number, which is subnormal if the format has a mantissa.
    #[must_use]
    pub fn min_exponent(self) -> i32 {
        if self.mantissa == 0 { -self.bias } else { 1 - self.bias - self.mantissa as i32 }
    }

    /// Whether every value of this format, including infinities and NaN, is a value of `other`.
    pub(super) fn is_exact_in(self, other: Self) -> bool {
        self == other
            || self.specials_are_in(other)
                && (other.signed || !self.signed)
                && self.mantissa <= other.mantissa
                && self.max_exponent() <= other.max_exponent()
                && self.min_exponent() >= other.min_exponent()
    }

    /// Whether `to` can represent this format's infinities, NaN and negative zero, and reserves no encoding within this
    /// format's number range for a special value.
    fn specials_are_in(self, to: Self) -> bool {
        match to.specials {
            Specials::Ieee => true,
            Specials::None => self.specials == Specials::None,
            // From its greatest power of two upwards, `to` has a NaN in place of one number.
            Specials::AllOnes => !self.has_infinity() && self.max_exponent() < to.max_exponent(),
            // `to` has no negative zero.
            Specials::NegativeZero => false,
        }
    }

    /// Returns the value of the element with these bits. It is exact, since binary64 represents all values of these
    /// formats.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        if self.exponent == 11 {
            return f64::from_bits(bits);
        }
        let bits = bits >> self.ignored;
        let magnitude = bits & ((1 << (self.exponent + self.mantissa)) - 1);
        let negative = self.signed && bits >> (self.exponent + self.mantissa) & 1 == 1;
        let (exponent, mantissa) = (magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1));
        let top = exponent == (1 << self.exponent) - 1;
        let nan = match self.specials {
            Specials::Ieee => top && mantissa != 0,
            Specials::AllOnes => top && mantissa == (1 << self.mantissa) - 1,
            Specials::NegativeZero => negative && magnitude == 0,
            Specials::None => false,
        };
        if nan {
            return f64::NAN;
        }
        let value = if top && self.specials == Specials::Ieee {
            f64::INFINITY
        } else if exponent == 0 && self.mantissa > 0 {
            mantissa as f64 * power(1 - self.bias - self.mantissa as i32)
        } else {
            (mantissa + (1 << self.mantissa)) as f64 * power(exponent as i32 - self.bias - self.mantissa as i32)
        };
        if negative { -value } else { value }
    }

    /// Rounds `value` to this format by `mode`; returns the encoding. A NaN gives the quiet NaN without payload. A
    /// number beyond the greatest gives infinity or, depending on the mode, the greatest number.
    ///
    /// `None` if the format lacks the result: NaN, infinity, or a negative number in an unsigned format. A format
    /// without zero rounds to its least number instead of zero.
    #[must_use]
    pub fn round(self, value: f64, mode: RoundingMode) -> Option<u64> {
        if value.is_nan() {
            return self.encode_quiet_nan();
        }
        if value < 0.0 && !self.signed {
            return None;
        }
        let negative = value.is_sign_negative();
        let greatest = (self.encode_max_finite() >> self.ignored) as i64;
        let mut code =
            if value.is_infinite() { greatest + 1 } else { self.round_magnitude(value.abs(), negative, mode) };
        if code > greatest {
            let is_cut = match mode {
                RoundingMode::NearestEven => false,
                RoundingMode::Zero | RoundingMode::Odd => true,
                RoundingMode::Down => !negative,
                RoundingMode::Up => negative,
            };
            if is_cut && value.is_finite() {
                code = greatest;
            } else if self.has_infinity() {
                code = greatest + 1;
            } else {
                return None;
            }
        }
        // If the encoding of negative zero is NaN, only positive zero exists.
        let has_sign = self.signed && negative && !(code == 0 && self.specials == Specials::NegativeZero);
        Some((u64::from(has_sign) << (self.exponent + self.mantissa) | code as u64) << self.ignored)
    }

    /// Rounds a finite magnitude; returns its code, which is the encoding without the sign and the ignored low bits.
    /// Codes count the numbers of the format upwards from zero, or from the least one, and continue beyond the
    /// greatest. `negative` is the sign of the rounded number.
    fn round_magnitude(self, magnitude: f64, negative: bool, mode: RoundingMode) -> i64 {
        const DIGITS: i32 = 52;
        let (field, fraction) = ((magnitude.to_bits() >> DIGITS) as i32, magnitude.to_bits() & ((1 << DIGITS) - 1));
        let (exponent, significand) = match field {
            0 => (-1022, fraction),
            _ => (field - 1023, fraction | 1 << DIGITS),
        };
        // Subnormal numbers have the exponent of the least normal ones; formats without a mantissa have none.
        let least = if self.mantissa == 0 { -self.bias } else { 1 - self.bias };
        let rounded = exponent.max(least);
        // Significands are below 2^53, so a shift by more than 63 would give the same result as one by 63.
        let cut = (DIGITS - self.mantissa as i32 + rounded - exponent).min(63);
        let (kept, rest) = ((significand >> cut) as i64, significand & ((1 << cut) - 1));
        let code = (i64::from(rounded + self.bias - 1) << self.mantissa) + kept;
        let half = (1u64 << cut) >> 1;
        let is_up = rest != 0
            && match mode {
                RoundingMode::NearestEven => rest > half || rest == half && code & 1 == 1,
                RoundingMode::Zero => false,
                RoundingMode::Down => negative,
                RoundingMode::Up => !negative,
                RoundingMode::Odd => code & 1 == 0,
            };
        // In a format without zero, code 0 is the least number; lesser magnitudes get code -1, which is raised to 0.
        (code + i64::from(is_up)).max(0)
    }
}

/// Returns 2^`exponent`, which must lie in binary64's normal range.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

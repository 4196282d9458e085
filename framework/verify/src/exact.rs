//! Elements whose products and sums are known without any rounding: how integers are written in every element
//! type, independently of how emulator and plans read them.

/// A number that looks like any other.
pub(super) fn scrambled(index: u64, seed: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

/// How integers are written as elements of a type.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Integer {
        bits: u32,
        signed: bool,
    },
    /// Widths of exponent and mantissa, the bias, and unused low bits.
    Float {
        exponent: u32,
        mantissa: u32,
        bias: i64,
        below: u32,
    },
}

impl Kind {
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let integer = |bits, signed| Self::Integer { bits, signed };
        let float = |exponent, mantissa, bias| Self::Float { exponent, mantissa, bias, below: 0 };
        Ok(match name {
            "s64" | "i64" => integer(64, true),
            "s32" | "i32" => integer(32, true),
            "s16" | "i16" => integer(16, true),
            "u64" => integer(64, false),
            "u32" => integer(32, false),
            "u16" => integer(16, false),
            "s8" | "i8" | "iu8" => integer(8, true),
            "u8" => integer(8, false),
            "s4" | "iu4" => integer(4, true),
            "u4" => integer(4, false),
            "s2" => integer(2, true),
            "u2" => integer(2, false),
            "f64" => float(11, 52, 1023),
            "f32" => float(8, 23, 127),
            "tf32" | "xf32" => Self::Float { exponent: 8, mantissa: 10, bias: 127, below: 13 },
            "bf16" => float(8, 7, 127),
            "f16" => float(5, 10, 15),
            "e5m2" | "bf8" => float(5, 2, 15),
            "e4m3" | "fp8" => float(4, 3, 7),
            "bf8_fnuz" => float(5, 2, 16),
            "fp8_fnuz" => float(4, 3, 8),
            "e2m1" | "fp4" => float(2, 1, 1),
            "e2m3" | "fp6" => float(2, 3, 1),
            "e3m2" | "bf6" => float(3, 2, 3),
            "u1" | "b1" => integer(1, false),
            // Scales have no sign; of one, only numbers above zero are asked for.
            "e8m0" | "ue8m0" => float(8, 0, 127),
            "ue4m3" => float(4, 3, 7),
            _ => return Err(format!("elements of type `{name}` are not known here")),
        })
    }

    /// An integer from -2 to 2 as one that the type has: without its sign, or what its low bits stand for.
    pub(super) fn nearest(self, value: i64) -> i64 {
        match self {
            Self::Integer { bits, signed: true } => value << (64 - bits) >> (64 - bits),
            Self::Integer { bits, signed: false } => value.abs() & ((1 << bits.min(62)) - 1),
            Self::Float { .. } => value,
        }
    }

    /// The integer of the type that is nearest to a value; other types stay.
    pub(super) fn saturated(self, value: i64) -> i64 {
        match self {
            Self::Integer { bits, signed: true } => value.max(-1 << (bits - 1)).min(i64::MAX >> (64 - bits)),
            Self::Integer { bits, signed: false } => value.clamp(0, (1i64 << bits.min(62)) - 1),
            Self::Float { .. } => value,
        }
    }

    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            // Scales of eight bits and no mantissa have no sign.
            Self::Float { exponent: 8, mantissa: 0, .. } => 8,
            Self::Float { exponent, mantissa, below, .. } => 1 + exponent + mantissa + below,
        }
    }

    /// Whether the encoding stands for NaN, where NaN has the highest exponent and is not one encoding alone.
    pub(super) fn is_nan(self, bits: u64) -> bool {
        let Self::Float { exponent, mantissa, below, .. } = self else { return false };
        let bits = bits >> below;
        let top = (1 << exponent) - 1;
        exponent >= 5 && bits >> mantissa & top == top && bits & ((1 << mantissa) - 1) != 0
    }

    /// The bits of an integer: wrapped, or where it is a floating-point number exact.
    pub(super) fn encode(self, value: i64) -> Result<u64, String> {
        let Self::Float { exponent, mantissa, bias, below } = self else {
            return Ok(value as u64 & (u64::MAX >> (64 - self.bits())));
        };
        if value == 0 {
            return Ok(0);
        }
        let (magnitude, sign) = (value.unsigned_abs(), u64::from(value < 0));
        let top = magnitude.ilog2();
        let fraction = (magnitude ^ 1 << top) << mantissa >> top;
        if fraction << top >> mantissa != magnitude ^ 1 << top {
            return Err(format!("{value} is no number of {mantissa} bits of mantissa"));
        }
        let biased = (i64::from(top) + bias) as u64;
        Ok(((sign << exponent | biased) << mantissa | fraction) << below)
    }
}

impl Kind {
    /// The value of a finite element; NaN for others.
    pub(super) fn decode(self, bits: u64) -> f64 {
        let Self::Float { exponent, mantissa, bias, below } = self else { return f64::NAN };
        let bits = bits >> below;
        let (field, fraction) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
        let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1.0 } else { 1.0 };
        let two = |power: i64| 2f64.powi(power as i32);
        let scaled = fraction as f64 / two(i64::from(mantissa));
        match field {
            0 => sign * scaled * two(1 - bias),
            _ if exponent >= 5 && field == (1 << exponent) - 1 => f64::NAN,
            _ => sign * (1.0 + scaled) * two(field as i64 - bias),
        }
    }
}

//! Floating-point arithmetic of PTX: every result is the exact one, rounded once in the instruction's rounding mode.
//!
//! An exact result is represented by the nearest binary64 number and the sign of the remainder (exact value minus that
//! number), which suffices to round to any narrower type. Source: PTX ISA, floating-point instructions, "canonical
//! NaN".
//!
//! This module may import only `tilewright_target`.

use tilewright_target::{ElementType, FloatFormat};

/// A rounding mode of PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Even,
    /// `.rna`: to nearest, ties away from zero.
    Away,
    /// `.rz`: toward zero.
    Zero,
    /// `.rm`: toward negative infinity.
    Down,
    /// `.rp`: toward positive infinity.
    Up,
}

impl Rounding {
    /// Returns the rounding mode of a modifier such as `rn`, or `rni`, which rounds to an integer; `None` for other
    /// words.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "rn" | "rni" => Self::Even,
            "rna" => Self::Away,
            "rz" | "rzi" => Self::Zero,
            "rm" | "rmi" => Self::Down,
            "rp" | "rpi" => Self::Up,
            _ => return None,
        })
    }
}

/// An exact result before rounding: the nearest binary64 number, and the sign of the exact result minus that number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exact {
    pub(super) nearest: f64,
    pub(super) rest: f64,
}

impl From<f64> for Exact {
    fn from(nearest: f64) -> Self {
        Self { nearest, rest: 0.0 }
    }
}

impl Exact {
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let nearest = a + b;
        let rounded_b = nearest - a;
        let rest = (a - (nearest - rounded_b)) + (b - rounded_b);
        Self { nearest, rest: if nearest.is_finite() { rest } else { 0.0 } }
    }

    pub(super) fn product(a: f64, b: f64) -> Self {
        let nearest = a * b;
        Self { nearest, rest: if nearest.is_finite() { a.mul_add(b, -nearest) } else { 0.0 } }
    }

    pub(super) fn quotient(a: f64, b: f64) -> Self {
        let nearest = a / b;
        if !nearest.is_finite() || b.is_infinite() {
            return nearest.into();
        }
        // `a - nearest * b` has the sign of the quotient's error if `b` is positive, and the opposite sign if `b` is
        // negative.
        let left = (-nearest).mul_add(b, a);
        Self { nearest, rest: if b < 0.0 { -left } else { left } }
    }

    pub(super) fn root(a: f64) -> Self {
        let nearest = a.sqrt();
        Self { nearest, rest: if nearest.is_finite() { (-nearest).mul_add(nearest, a) } else { 0.0 } }
    }

    /// Returns `a * b + c` before rounding; the caller guarantees that `a * b` is exact in binary64.
    pub(super) fn fused(a: f64, b: f64, c: f64) -> Self {
        Self::sum(a * b, c)
    }

    /// Rounds to odd: returns the nearest binary64 number if it is exact, otherwise the adjacent binary64 number whose
    /// last bit is one. A later rounding of this result to at most 51 bits equals a rounding of the exact value (Boldo
    /// and Melquiond, 2008).
    fn odd(self) -> f64 {
        let Self { nearest, rest } = self;
        if rest == 0.0 || !nearest.is_finite() || nearest.to_bits() & 1 == 1 {
            return nearest;
        }
        if nearest == 0.0 {
            return f64::MIN_POSITIVE.copysign(rest);
        }
        let grows = (rest > 0.0) == (nearest > 0.0);
        f64::from_bits(if grows { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
    }

    /// Rounds to binary64 in the given rounding mode. `Away` is treated as `Even`: no PTX instruction rounds a binary64
    /// result by `.rna`.
    fn directed(self, rounding: Rounding) -> f64 {
        let Self { nearest, rest } = self;
        let up = match rounding {
            Rounding::Even | Rounding::Away => return nearest,
            Rounding::Zero => rest != 0.0 && (rest > 0.0) != (nearest > 0.0),
            Rounding::Down => rest < 0.0,
            Rounding::Up => rest > 0.0,
        };
        match (up, rounding) {
            (false, _) => nearest,
            (true, Rounding::Up) => nearest.next_up(),
            (true, Rounding::Down) => nearest.next_down(),
            (true, _) if nearest > 0.0 => nearest.next_down(),
            (true, _) => nearest.next_up(),
        }
    }
}

/// A floating-point type of PTX: its format, and its width in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Float {
    format: FloatFormat,
    bits: u32,
}

impl Float {
    /// Returns the type with this PTX name, such as `e4m3`; `None` for other names.
    pub(super) fn named(name: &str) -> Option<Self> {
        let number = ElementType::from_name(name)?;
        match number {
            ElementType::Float(format) => Some(Self { format, bits: number.bits() }),
            ElementType::Integer { .. } => None,
        }
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    pub(super) fn is_double(self) -> bool {
        self.bits == 64
    }

    pub(super) fn is_single(self) -> bool {
        self.format.field_widths() == [8, 23, 0]
    }

    pub(super) fn decode(self, bits: u64) -> f64 {
        self.format.decode(bits)
    }

    /// Returns the bits of the canonical NaN that PTX instructions return for this type.
    pub(super) fn nan(self) -> u64 {
        let [exponent, mantissa, ignored] = self.format.field_widths();
        if self.is_double() { 0x7ff8_0000_0000_0000 } else { (1 << (exponent + mantissa + ignored)) - 1 }
    }

    fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// Flushes a subnormal number: returns the bits of a zero with the same sign, or `bits` unchanged if the number is
    /// not subnormal.
    pub(super) fn flushed(self, bits: u64) -> u64 {
        let value = self.decode(bits);
        if value != 0.0 && value.abs() < self.format.min_normal() { bits & self.sign() } else { bits }
    }

    /// Rounds an exact result to this type and returns its bits. A result beyond the largest finite number becomes
    /// infinity, or the largest finite number if `finite`.
    pub(super) fn round(self, value: impl Into<Exact>, rounding: Rounding, finite: bool) -> u64 {
        let value = value.into();
        if value.nearest.is_nan() {
            return self.nan();
        }
        if self.is_double() {
            return value.directed(rounding).to_bits();
        }
        let odd = value.odd();
        let negative = odd.is_sign_negative();
        let sign = if negative { self.sign() } else { 0 };
        sign | self.magnitude(odd.abs(), negative, rounding, finite)
    }

    fn magnitude(self, value: f64, negative: bool, rounding: Rounding, finite: bool) -> u64 {
        let [_, mantissa, ignored] = self.format.field_widths();
        let toward_zero = match rounding {
            Rounding::Zero => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
            Rounding::Even | Rounding::Away => false,
        };
        let beyond = match (finite, self.format.has_infinity()) {
            (true, _) => self.format.encode_max_finite(),
            (false, true) if toward_zero && value.is_finite() => self.format.encode_max_finite(),
            (false, true) => self.format.encode_max_finite() + (1 << ignored),
            (false, false) => self.nan() & (self.sign() - 1),
        };
        if value.is_infinite() {
            return beyond;
        }
        if value == 0.0 {
            return 0;
        }
        let (significand, exponent) = significand_and_exponent(value);
        let min = 1 - self.format.bias();
        let top = (exponent + significand.ilog2() as i32).max(min);
        let shift = top - mantissa as i32 - exponent;
        let away = (rounding == Rounding::Down && negative) || (rounding == Rounding::Up && !negative);
        let kept = shifted(significand, shift, rounding, away);
        let biased = (top + self.format.bias() - 1) as u64;
        let bits = ((biased << mantissa) + kept) << ignored;
        if bits > self.format.encode_max_finite() { beyond } else { bits }
    }
}

/// Returns (s, e) with an integer s so that `value` = s * 2^e, for a positive number.
fn significand_and_exponent(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// Shifts an integer right by `shift` bits, left if negative, and rounds by the dropped bits. For directed rounding,
/// `away` is true if the rounding is away from zero.
fn shifted(value: u64, shift: i32, rounding: Rounding, away: bool) -> u64 {
    if shift <= 0 {
        return value << -shift;
    }
    if shift > 60 {
        return u64::from(away);
    }
    let (kept, rest, half) = (value >> shift, value & ((1 << shift) - 1), 1u64 << (shift - 1));
    let up = match rounding {
        Rounding::Even => rest > half || rest == half && kept & 1 == 1,
        Rounding::Away => rest >= half,
        Rounding::Zero => false,
        Rounding::Down | Rounding::Up => away && rest > 0,
    };
    kept + u64::from(up)
}

/// Rounds a number to an integer value in the given rounding mode.
pub(super) fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Even => value.round_ties_even(),
        Rounding::Away => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// Converts an integer to an exact result before rounding: the nearest binary64 number and the remainder.
pub(super) fn of_integer(value: i128) -> Exact {
    let nearest = value as f64;
    Exact { nearest, rest: (value - nearest as i128) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(name: &str) -> Float {
        Float::named(name).expect("a type")
    }

    #[test]
    fn binary32_is_rounded_as_the_processor_does() {
        let single = float("f32");
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let [a, b] = [(state >> 32) as u32, state as u32 ^ (state >> 17) as u32].map(f32::from_bits);
            let wide = |value: f32| f64::from(value);
            let cases = [
                (Exact::sum(wide(a), wide(b)), a + b),
                (Exact::product(wide(a), wide(b)), a * b),
                (Exact::quotient(wide(a), wide(b)), a / b),
                (Exact::fused(wide(a), wide(b), wide(b)), a.mul_add(b, b)),
                (Exact::root(wide(a)), a.sqrt()),
            ];
            for (exact, expected) in cases {
                let got = single.round(exact, Rounding::Even, false);
                let same = expected.is_nan() && got == single.nan() || got == u64::from(expected.to_bits());
                assert!(same, "{a:e} {b:e}: {got:#x}, expected {:#x}", expected.to_bits());
            }
        }
    }

    #[test]
    fn directed_modes_enclose_the_exact_result() {
        // 1/3 is not representable in any of these types, so it lies strictly between two adjacent numbers.
        for name in ["f16", "bf16", "f32", "f64", "tf32"] {
            let (float, third) = (float(name), Exact::quotient(1.0, 3.0));
            let [down, up, zero] =
                [Rounding::Down, Rounding::Up, Rounding::Zero].map(|mode| float.round(third, mode, false));
            let step = if name == "tf32" { 1 << 13 } else { 1 };
            assert_eq!((down + step, down), (up, zero), "{name}");
            let minus = Exact::quotient(-1.0, 3.0);
            assert_eq!(float.round(minus, Rounding::Down, false), up | float.sign(), "{name}");
            assert_eq!(float.round(minus, Rounding::Up, false), down | float.sign(), "{name}");
        }
    }

    #[test]
    fn narrow_types_end_as_published() {
        // OCP OFP8: the largest numbers are 448 (e4m3, which has no infinity) and 57344 (e5m2). IEEE 754: 65504 for
        // f16.
        let bits = |name: &str, value: f64, finite| float(name).round(value, Rounding::Even, finite);
        assert_eq!((bits("e4m3", 1e9, true), bits("e4m3", 464.0, true), bits("e4m3", 1e9, false)), (0x7e, 0x7e, 0x7f));
        assert_eq!((bits("e5m2", -1e9, true), bits("e5m2", 1e9, false)), (0xfb, 0x7c));
        assert_eq!((bits("f16", 65519.9, false), bits("f16", 65520.0, false)), (0x7bff, 0x7c00));
        assert_eq!((bits("f16", 2f64.powi(-25), false), bits("f16", 2f64.powi(-25) * 1.5, false)), (0, 1));
        assert_eq!(float("f16").round(1e9, Rounding::Zero, false), 0x7bff);
        assert_eq!(bits("tf32", 1.0 + 2f64.powi(-11), false), 0x3f80_0000, "a tie goes to even");
        assert_eq!(float("tf32").round(1.0 + 2f64.powi(-11), Rounding::Away, false), 0x3f80_2000);
    }

    #[test]
    fn integers_are_rounded_once() {
        let wide = (1i128 << 60) + (1 << 36) + 1;
        assert_eq!(float("f32").round(of_integer(wide), Rounding::Even, false), 0x5d80_0001);
        assert_eq!(float("f32").round(of_integer(wide - 1), Rounding::Even, false), 0x5d80_0000, "a tie goes to even");
    }
}

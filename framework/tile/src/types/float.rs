//! Floating-point elements, by the names that programs write, and numbers as their bits.

use std::fmt;

use tilewright_target::{Format, Number};

/// A floating-point element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Float {
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    Bf16,
    /// The upper 19 bits of a binary32.
    Tf32,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// OCP E4M3: no infinity, one NaN for each sign.
    F8E4M3Fn,
    /// OCP E5M2.
    F8E5M2,
    /// E4M3 without infinity and negative zero, whose encoding is the NaN.
    F8E4M3Fnuz,
    /// E5M2 without infinity and negative zero, whose encoding is the NaN.
    F8E5M2Fnuz,
    /// OCP E8M0: powers of two, for scales.
    F8E8M0Fnu,
    /// OCP E2M3, six bits.
    F6E2M3Fn,
    /// OCP E3M2, six bits.
    F6E3M2Fn,
    /// OCP E2M1, four bits.
    F4E2M1Fn,
}

/// Each type: its name in programs, and its name in tables of instructions.
const NAMES: [(Float, &str, &str); 13] = [
    (Float::F16, "f16", "f16"),
    (Float::Bf16, "bf16", "bf16"),
    (Float::Tf32, "tf32", "tf32"),
    (Float::F32, "f32", "f32"),
    (Float::F64, "f64", "f64"),
    (Float::F8E4M3Fn, "f8E4M3FN", "e4m3"),
    (Float::F8E5M2, "f8E5M2", "e5m2"),
    (Float::F8E4M3Fnuz, "f8E4M3FNUZ", "fp8_fnuz"),
    (Float::F8E5M2Fnuz, "f8E5M2FNUZ", "bf8_fnuz"),
    (Float::F8E8M0Fnu, "f8E8M0FNU", "e8m0"),
    (Float::F6E2M3Fn, "f6E2M3FN", "e2m3"),
    (Float::F6E3M2Fn, "f6E3M2FN", "e3m2"),
    (Float::F4E2M1Fn, "f4E2M1FN", "e2m1"),
];

impl Float {
    /// The type that a program names so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(float, ..)| *float)
    }

    /// The name in programs: `f16`, `f8E4M3FN`, ...
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The name in tables of instructions: `f16`, `e4m3`, ... ([`Number::named`]).
    #[must_use]
    pub fn number_name(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (Self, &'static str, &'static str) {
        // Every type has its row, which a test shows.
        NAMES.iter().copied().find(|(float, ..)| *float == self).unwrap_or(NAMES[0])
    }

    /// What the bits mean; `None` never, which a test shows.
    fn format(self) -> Option<Format> {
        match Number::named(self.number_name()) {
            Some(Number::Float(format)) => Some(format),
            _ => None,
        }
    }

    /// Bits that an element takes in memory; of `tf32` those of the binary32 that it is the upper part of.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Tf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::F6E2M3Fn | Self::F6E3M2Fn => 6,
            Self::F4E2M1Fn => 4,
            _ => 8,
        }
    }

    /// The number that the bits mean, which binary64 has exactly.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(bits),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => self.format().map_or(f64::NAN, |format| format.decode(bits)),
        }
    }

    /// The bits of the number of this type that is nearest to a finite `value`, ties to even; `None` where its
    /// magnitude is above all of them, where it is negative and the type is not, or where it is no finite number.
    #[must_use]
    pub fn encode(self, value: f64) -> Option<u64> {
        match self {
            _ if !value.is_finite() => None,
            Self::F64 => Some(value.to_bits()),
            Self::F32 => {
                Some(value as f32).filter(|single| single.is_finite()).map(|single| u64::from(single.to_bits()))
            }
            _ => self.format().and_then(|format| nearest(format, value)),
        }
    }

    /// The bits of a quiet NaN of this type; `None` where it has none.
    #[must_use]
    pub fn nan(self) -> Option<u64> {
        let format = self.format()?;
        let [exponent, mantissa, ignored] = format.widths();
        match format.only_nan() {
            Some((bits, _)) => Some(bits),
            None if format.has_infinity() => Some((((1 << exponent) - 1) << mantissa | 1 << (mantissa - 1)) << ignored),
            None => None,
        }
    }
}

/// Of the encodings of positive numbers, which count upwards, the nearest one to a finite value's magnitude, with its
/// sign.
fn nearest(format: Format, value: f64) -> Option<u64> {
    let [exponent, mantissa, ignored] = format.widths();
    let number = |code: u64| format.decode(code << ignored);
    // The codes below `end` are finite numbers.
    let last = (1u64 << (exponent + mantissa)) - 1;
    let end = (0..=last).rev().take_while(|&code| !number(code).is_finite()).last().unwrap_or(last + 1);
    let magnitude = value.abs();
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = (low + high) / 2;
        if number(middle) < magnitude { low = middle + 1 } else { high = middle }
    }
    let code = match (low.checked_sub(1), low) {
        (_, above) if above < end && number(above) == magnitude => above,
        (Some(below), above) => {
            // Above the greatest number lies half a step of its own.
            let step_end =
                if above < end { number(above) } else { 2.0 * number(below) - number(below.checked_sub(1)?) };
            let middle = (number(below) + step_end) / 2.0;
            let up = magnitude > middle || (magnitude == middle && below & 1 == 1);
            if up { above } else { below }
        }
        (None, above) => above,
    };
    if code >= end || (value < 0.0 && !format.is_signed()) {
        return None;
    }
    let sign = u64::from(value.is_sign_negative() && format.is_signed()) << (exponent + mantissa);
    // Where the negative zero is NaN, there is one zero.
    let sign = if number(sign | code).is_nan() { 0 } else { sign };
    Some((sign | code) << ignored)
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_names_and_its_format() {
        for (float, name, _) in NAMES {
            assert_eq!(Float::named(name), Some(float));
            assert_eq!(float.name(), name);
            assert!(float.format().is_some(), "{name}");
        }
    }

    #[test]
    fn every_number_is_its_own_nearest() {
        for (float, name, _) in NAMES.into_iter().filter(|(float, ..)| float.bits() <= 16) {
            for bits in 0..1u64 << float.bits() {
                let value = float.decode(bits);
                if value.is_finite() {
                    assert_eq!(float.encode(value), Some(bits), "{name} {bits:#x}");
                }
            }
        }
    }

    /// `half` rounds by bits; the search above by comparing numbers.
    #[test]
    fn halves_are_rounded_to_nearest_even() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let single = f32::from_bits((state >> 32) as u32);
            let value = f64::from(single);
            let (f16, bf16) = (half::f16::from_f32(single), half::bf16::from_f32(single));
            assert_eq!(Float::F16.encode(value), f16.is_finite().then(|| u64::from(f16.to_bits())), "{value:e}");
            assert_eq!(Float::Bf16.encode(value), bf16.is_finite().then(|| u64::from(bf16.to_bits())), "{value:e}");
        }
        assert_eq!(Float::F8E4M3Fn.encode(464.0), Some(0x7e), "a tie with what would be 480 goes to even");
        assert_eq!(Float::F8E4M3Fn.encode(465.0), None);
        assert_eq!(Float::F8E8M0Fnu.encode(-1.0), None);
    }
}

//! Types of instructions.

use crate::number::Float;

/// What the bits of a value stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Bits,
    Unsigned,
    Signed,
    Float(Float),
    Predicate,
}

/// A type: so many equal parts side by side, the first in the low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) class: Class,
    /// Bits of one part.
    pub(crate) bits: u32,
    pub(crate) parts: u32,
}

impl Type {
    /// The type of this name, without its dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "pred" {
            return Some(Self { class: Class::Predicate, bits: 1, parts: 1 });
        }
        if let Some((part, count)) = name.split_once('x').filter(|(_, count)| matches!(*count, "2" | "4")) {
            let part = Self::named(part).filter(|part| part.parts == 1 && part.bits <= 16)?;
            return Some(Self { parts: count.parse().ok()?, ..part });
        }
        if let Some(float) = Float::named(name).filter(|_| FLOATS.contains(&name)) {
            return Some(Self { class: Class::Float(float), bits: float.bits(), parts: 1 });
        }
        let (letter, digits) = name.split_at_checked(1)?;
        let class = match letter {
            "b" => Class::Bits,
            "u" => Class::Unsigned,
            "s" => Class::Signed,
            _ => return None,
        };
        let bits = digits.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
        Some(Self { class, bits, parts: 1 })
    }

    /// Bits of all parts.
    pub(crate) fn width(self) -> u32 {
        self.bits * self.parts
    }

    pub(crate) fn is_signed(self) -> bool {
        self.class == Class::Signed
    }

    pub(crate) fn float(self) -> Option<Float> {
        match self.class {
            Class::Float(float) => Some(float),
            _ => None,
        }
    }

    /// All parts from the low bits of a register, with the sign where there is one part that has one.
    pub(crate) fn extended_whole(self, bits: u64) -> u64 {
        if self.parts == 1 { self.extended(bits) } else { bits & mask(self.width()) }
    }

    /// A value of this type from the low bits of a register, with its sign where it has one.
    pub(crate) fn extended(self, bits: u64) -> u64 {
        if self.is_signed() { sign_extend(bits, self.bits) as u64 } else { bits & mask(self.bits) }
    }
}

const FLOATS: [&str; 9] = ["f16", "bf16", "f32", "f64", "tf32", "e4m3", "e5m2", "e2m1", "ue8m0"];

/// So many low bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// A number of so many bits with a sign.
pub(crate) fn sign_extend(bits: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    (bits << shift) as i64 >> shift
}

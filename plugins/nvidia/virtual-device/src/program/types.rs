//! Types of values in PTX instructions, such as `f16x2`.

use crate::float::Float;

/// The class of a type: how the bits of a value are interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Bits,
    Unsigned,
    Signed,
    Float(Float),
    Predicate,
}

/// A PTX type: one element, or several packed elements such as `f16x2`, the first in the low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) class: Class,
    /// Number of bits of one element.
    pub(crate) bits: u32,
    pub(crate) element_count: u32,
}

impl Type {
    /// Returns the type with this PTX name, written without its dot, such as `f16x2`; `None` for other names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "pred" {
            return Some(Self { class: Class::Predicate, bits: 1, element_count: 1 });
        }
        if let Some((element, count)) = name.split_once('x').filter(|(_, count)| matches!(*count, "2" | "4")) {
            let element = Self::named(element).filter(|element| element.element_count == 1)?;
            // At most 64 bits can be packed, and elements wider than 16 bits are packed only in `f32x2`.
            let is_packed = element.bits <= 16 || count == "2" && element.float().is_some_and(Float::is_single);
            let element = Some(element).filter(|_| is_packed)?;
            return Some(Self { element_count: count.parse().ok()?, ..element });
        }
        if let Some(float) = Float::named(name).filter(|_| FLOATS.contains(&name)) {
            return Some(Self { class: Class::Float(float), bits: float.bits(), element_count: 1 });
        }
        let (letter, digits) = name.split_at_checked(1)?;
        let class = match letter {
            "b" => Class::Bits,
            "u" => Class::Unsigned,
            "s" => Class::Signed,
            _ => return None,
        };
        let bits = digits.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
        Some(Self { class, bits, element_count: 1 })
    }

    /// Returns the number of bits of all elements together.
    pub(crate) fn width(self) -> u32 {
        self.bits * self.element_count
    }

    /// Returns the packed type of this type's bytes; a predicate stays itself.
    pub(crate) fn packed_bytes(self) -> Self {
        if self.width() < 8 { self } else { Self { class: Class::Bits, bits: 8, element_count: self.width() / 8 } }
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

    /// Returns the value that a register holds in its low bits as this type. A single signed element is sign-extended
    /// to 64 bits; everything else is zero-extended.
    pub(crate) fn extend_all_elements(self, bits: u64) -> u64 {
        if self.element_count == 1 { self.extended(bits) } else { bits & mask(self.width()) }
    }

    /// Returns the first element that a register holds in its low bits, extended to 64 bits by the sign if signed,
    /// otherwise by zeros.
    pub(crate) fn extended(self, bits: u64) -> u64 {
        if self.is_signed() { sign_extend(bits, self.bits) as u64 } else { bits & mask(self.bits) }
    }
}

const FLOATS: [&str; 9] = ["f16", "bf16", "f32", "f64", "tf32", "e4m3", "e5m2", "e2m1", "ue8m0"];

/// Returns a mask of the lowest `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Sign-extends the low `width` bits of a number to 64 bits.
pub(crate) fn sign_extend(bits: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    (bits << shift) as i64 >> shift
}

//! Parses numbers, and converts them to the bits of a type.

use super::Parser;
use crate::types::{FloatType, Signedness, TileType};
use crate::{Attribute, NumberAttribute};
use tilewright_layout::text::Parsed;

/// A number in the text, without its type.
#[derive(Clone, Copy)]
pub(super) struct Literal {
    at: usize,
    negative: bool,
    kind: LiteralKind,
}

#[derive(Clone, Copy)]
enum LiteralKind {
    /// A decimal integer.
    Integer(u128),
    /// Hexadecimal bits.
    Bits(u128),
    Fraction(f64),
    Bool(bool),
}

impl Literal {
    /// Whether the number is `true`.
    pub fn is_true(self) -> bool {
        matches!(self.kind, LiteralKind::Bool(true))
    }
}

impl Parser<'_> {
    /// Parses a number with its type; 64 bits wide if the text gives no type.
    pub(super) fn number(&mut self) -> Parsed<Attribute> {
        let literal = self.literal()?;
        let ty = if self.cursor.skip_if_next(":") {
            self.ty()?
        } else if matches!(literal.kind, LiteralKind::Fraction(_)) {
            TileType::Float(FloatType::F64)
        } else {
            TileType::integer(64)
        };
        self.typed(literal, ty)
    }

    /// Converts a number to an attribute of the given type.
    pub(super) fn typed(&self, literal: Literal, ty: TileType) -> Parsed<Attribute> {
        let bits = self.bits(literal, &ty)?;
        Ok(if ty == TileType::BOOLEAN {
            Attribute::Bool(bits == 1)
        } else {
            Attribute::Number(NumberAttribute { bits, ty })
        })
    }

    pub(super) fn literal(&mut self) -> Parsed<Literal> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        for (word, value) in [("true", true), ("false", false)] {
            if self.cursor.skip_if_next(word) {
                return Ok(Literal { at, negative: false, kind: LiteralKind::Bool(value) });
            }
        }
        let negative = self.cursor.skip_if_next("-");
        self.cursor.skip_blanks();
        let rest = self.cursor.rest();
        if let Some(digits) = rest.strip_prefix("0x") {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            if end > 0 {
                let value = u128::from_str_radix(&digits[..end], 16);
                let value = value.map_err(|_| self.cursor.error_at(at, "expected a number of at most 128 bits"))?;
                self.cursor.at += 2 + end;
                return Ok(Literal { at, negative, kind: LiteralKind::Bits(value) });
            }
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 {
            return Err(self.cursor.expected_token_error("a number"));
        }
        let end = fraction_end(rest, digits);
        self.cursor.at += end;
        let wrong = |_| self.cursor.error_at(at, format!("`{}` is not a number that fits here", &rest[..end]));
        let kind = if end == digits {
            LiteralKind::Integer(rest[..end].parse().map_err(|_| wrong(()))?)
        } else {
            LiteralKind::Fraction(rest[..end].parse().map_err(|_| wrong(()))?)
        };
        Ok(Literal { at, negative, kind })
    }

    /// Converts a number to the bits of a type.
    pub(super) fn bits(&self, literal: Literal, ty: &TileType) -> Parsed<u64> {
        let wrong = |what: String| self.cursor.error_at(literal.at, what);
        match ty {
            TileType::Float(float) => self.float_bits(literal, *float),
            TileType::Integer(..) | TileType::Index => {
                let (bits, sign) = match ty {
                    TileType::Integer(bits, sign) => (*bits, *sign),
                    _ => (64, Signedness::Signless),
                };
                if bits > 64 {
                    return Err(wrong(format!("constants of `{ty}` are not supported: expected at most 64 bits")));
                }
                let magnitude = match literal.kind {
                    LiteralKind::Integer(value) | LiteralKind::Bits(value) => value,
                    LiteralKind::Bool(value) => u128::from(value),
                    LiteralKind::Fraction(_) => return Err(wrong(format!("expected an integer of type `{ty}`"))),
                };
                let range = 1u128 << bits;
                // A signless type accepts the range of both the signed and the unsigned type.
                let most = match (literal.negative, sign) {
                    (false, Signedness::Signed) => range / 2 - 1,
                    (false, _) => range - 1,
                    (true, Signedness::Unsigned) => 0,
                    (true, _) => range / 2,
                };
                if magnitude > most {
                    return Err(wrong(format!("the number is out of the range of `{ty}`")));
                }
                let value = if literal.negative { (range - magnitude) % range } else { magnitude };
                Ok(value as u64)
            }
            other => Err(wrong(format!("`{other}` has no numbers: expected an integer or floating-point type"))),
        }
    }

    fn float_bits(&self, literal: Literal, float: FloatType) -> Parsed<u64> {
        let wrong = |what: String| self.cursor.error_at(literal.at, what);
        let value = match literal.kind {
            LiteralKind::Bits(bits) if literal.negative || bits >> float.bits() != 0 => {
                return Err(wrong(format!("expected the {} bits of a `{float}`", float.bits())));
            }
            LiteralKind::Bits(bits) => return Ok(bits as u64),
            LiteralKind::Fraction(value) => value,
            LiteralKind::Integer(_) => {
                return Err(wrong(format!("expected a number with a point, since it is a `{float}`: `1.0`")));
            }
            LiteralKind::Bool(_) => return Err(wrong(format!("expected a number, since it is a `{float}`"))),
        };
        let value = if literal.negative { -value } else { value };
        float.round_constant(value).ok_or_else(|| wrong(format!("the number is out of the range of `{float}`")))
    }
}

/// Returns the length in bytes of the number at the start of `text`, whose first `digits` bytes are its integer part.
///
/// A fraction and an exponent are optional.
fn fraction_end(text: &str, digits: usize) -> usize {
    let bytes = text.as_bytes();
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if bytes.get(digits) != Some(&b'.') {
        return digits;
    }
    let end = skip(digits + 1);
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    let exponent = skip(end + 1 + sign);
    if exponent > end + 1 + sign { exponent } else { end }
}

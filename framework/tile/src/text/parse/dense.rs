//! Parses the elements of arrays and of constant tensors.

use super::Parser;
use super::numbers::Literal;
use crate::types::TileType;
use crate::{Attribute, DenseElements};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses an array after the word `array`: `<i32: 1, 0>`.
    pub(super) fn array(&mut self) -> Parsed<Attribute> {
        self.cursor.expect("<")?;
        let ty = self.ty()?;
        let mut values = Vec::new();
        if self.cursor.skip_if_next(":") {
            if self.cursor.is_next(">") {
                return Err(self.cursor.expected_token_error("a number"));
            }
            values = self.list(">", |parser| {
                let literal = parser.literal()?;
                parser.bits(literal, &ty)
            })?;
        } else {
            self.cursor.expect(">")?;
        }
        Ok(Attribute::Array(ty, values))
    }

    /// Parses the elements of a constant tensor after the word `dense`: `<1.0> : tensor<4xf32>`, `<[1, 2]> :
    /// tensor<2xi32>`, `<"0x...">` with the bytes of all elements.
    pub(super) fn dense(&mut self) -> Parsed<DenseElements> {
        self.cursor.expect("<")?;
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let mut literals = Vec::new();
        let mut shape = None;
        let mut raw = None;
        match self.cursor.peek() {
            Some('"') => raw = Some(self.cursor.read_quoted("the bytes of the elements")?),
            Some('[') => shape = Some(self.nested_literals(&mut literals)?),
            Some('>') => shape = Some(vec![0]),
            _ => literals.push(self.literal()?),
        }
        self.cursor.expect(">")?;
        self.cursor.expect(":")?;
        let ty = self.elements_type()?;
        let Some(sizes) = ty.shape() else { return Err(self.cursor.error_at(at, format!("`{ty}` is not a tensor"))) };
        if let Some(raw) = raw {
            let elements = raw_elements(&raw, &ty).map_err(|message| self.cursor.error_at(at, message))?;
            return Ok(DenseElements { ty, elements: shortened(elements) });
        }
        if let Some(shape) = shape.filter(|shape| shape.iter().map(|size| *size as u64).ne(sizes.iter().copied())) {
            let message = format!("the elements have shape {shape:?}, the type has {sizes:?}");
            return Err(self.cursor.error_at(at, message));
        }
        let elements = literals.iter().map(|literal| self.bits(*literal, ty.element())).collect::<Parsed<Vec<_>>>()?;
        Ok(DenseElements { ty, elements: shortened(elements) })
    }

    /// Parses the type of elements: a tensor type, or a vector type, which is read as the tensor type of its shape.
    fn elements_type(&mut self) -> Parsed<TileType> {
        match self.cursor.skip_if_next("vector") {
            true => self.nested(|parser| {
                parser.cursor.skip_blanks();
                let start = parser.cursor.at;
                parser.tensor(start)
            }),
            false => self.ty(),
        }
    }

    /// Parses nested lists of numbers, appends the numbers to `literals`, and returns the size of each axis.
    fn nested_literals(&mut self, literals: &mut Vec<Literal>) -> Parsed<Vec<usize>> {
        self.nested(|parser| {
            let at = parser.cursor.at;
            parser.cursor.expect("[")?;
            let items = parser.list("]", |parser| match parser.cursor.peek() {
                Some('[') => parser.nested_literals(literals),
                _ => {
                    literals.push(parser.literal()?);
                    Ok(Vec::new())
                }
            })?;
            let mut shape = vec![items.len()];
            if let Some(first) = items.first() {
                if items.iter().any(|inner| inner != first) {
                    return Err(parser.cursor.error_at(at, "the parts of this list are not equally long"));
                }
                shape.extend(first);
            }
            Ok(shape)
        })
    }
}

/// Reduces elements to a single one if all of them are equal.
fn shortened(elements: Vec<u64>) -> std::sync::Arc<[u64]> {
    match elements.split_first() {
        Some((first, rest)) if rest.iter().all(|bits| bits == first) => [*first].into(),
        _ => elements.into(),
    }
}

/// Decodes the elements of a tensor type, or one that all share, from hexadecimal bytes, lowest byte first; a bool is a
/// byte.
///
/// The error is the reason why the bytes do not fit.
fn raw_elements(raw: &str, ty: &TileType) -> Result<Vec<u64>, String> {
    let digits = raw.strip_prefix("0x").unwrap_or("-");
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect();
    let bytes = bytes
        .filter(|_| digits.len().is_multiple_of(2))
        .ok_or("expected `0x` and two hexadecimal digits for each byte")?;
    let bits =
        ty.element_bits().filter(|bits| *bits <= 64).ok_or_else(|| format!("`{ty}` has no elements of bytes"))?;
    let width = bits.div_ceil(8) as usize;
    let sizes = ty.shape().unwrap_or_default();
    let all = sizes.iter().try_fold(width as u64, |bytes, size| bytes.checked_mul(*size));
    if bytes.len() != width && Some(bytes.len() as u64) != all {
        return Err(format!("{} bytes: expected {width} for each element of `{ty}`, or for one of all", bytes.len()));
    }
    let element = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let elements = bytes.chunks(width).map(element);
    Ok(if bits == 1 { elements.map(|value| u64::from(value != 0)).collect() } else { elements.collect() })
}

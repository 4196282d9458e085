//! Reads attributes.

use super::{Parsed, Parser};
use crate::tile::types::{Float, LayoutName, Signedness, Type};
use crate::tile::{Attribute, Attributes, Dense, Number};

/// A constant may give at most this many elements one by one.
const MAX_ELEMENTS: u64 = 1 << 24;

/// A number without its type.
#[derive(Clone, Copy)]
pub(super) struct Literal {
    at: usize,
    negative: bool,
    kind: LiteralKind,
}

#[derive(Clone, Copy)]
enum LiteralKind {
    /// A whole number in decimal.
    Whole(u128),
    /// Bits in hexadecimal.
    Bits(u128),
    Fraction(f64),
    Bool(bool),
}

impl<'a> Parser<'a> {
    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        self.nested(Self::any_attribute)
    }

    fn any_attribute(&mut self) -> Parsed<Attribute> {
        match self.cursor.peek() {
            Some('"') => Ok(Attribute::Text(self.cursor.quoted("a text")?.into())),
            Some('@') => self.symbol().map(Attribute::Symbol),
            Some('#') => self.marked_attribute(),
            Some('{') => self.dictionary().map(Attribute::Dictionary),
            Some('[') => {
                self.cursor.expect("[")?;
                self.list("]", Self::attribute).map(Attribute::List)
            }
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            _ => self.worded_attribute(),
        }
    }

    fn worded_attribute(&mut self) -> Parsed<Attribute> {
        if self.cursor.sees("true") || self.cursor.sees("false") {
            let literal = self.literal()?;
            // `true : i1` says no more than `true`.
            if self.cursor.takes(":") {
                let ty = self.ty()?;
                return self.typed(literal, ty);
            }
            return Ok(Attribute::Bool(matches!(literal.kind, LiteralKind::Bool(true))));
        }
        if self.cursor.takes("unit") {
            return Ok(Attribute::Unit);
        }
        if self.cursor.takes("array") {
            return self.array();
        }
        if self.cursor.takes("dense") {
            return self.dense().map(Attribute::Dense);
        }
        if self.cursor.takes("loc") {
            let at = self.cursor.at;
            let text = self.cursor.balanced("(")?;
            return Ok(Attribute::Foreign(format!("loc{}", self.expanded(text, at)?).into()));
        }
        if self.cursor.sees("affine_map") || self.cursor.sees("dense_resource") || self.cursor.sees("sparse") {
            return Err(self.cursor.expected("an attribute that tile programs have"));
        }
        self.ty().map(Attribute::Type)
    }

    /// `@name`, or `@module::@name`.
    pub(super) fn symbol(&mut self) -> Parsed<std::sync::Arc<str>> {
        self.cursor.expect("@")?;
        let mut name = self.symbol_name()?;
        while self.cursor.takes("::") {
            self.cursor.expect("@")?;
            name = format!("{name}::{}", self.symbol_name()?);
        }
        Ok(name.into())
    }

    fn symbol_name(&mut self) -> Parsed<String> {
        if self.cursor.rest().starts_with('"') {
            return self.cursor.quoted("a name");
        }
        Ok(self.cursor.suffix("a name")?.to_owned())
    }

    /// `#name`, which stands for something, or `#dialect.name<...>`.
    fn marked_attribute(&mut self) -> Parsed<Attribute> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.suffix("the name of an attribute")?;
        if self.cursor.rest().starts_with('<') {
            self.cursor.balanced("<")?;
        }
        let end = self.cursor.at;
        let text = self.expanded(&self.cursor.text()[start..end], start)?;
        let is_name = !name.contains('.');
        if is_name && !text.starts_with('#') {
            // The name of an attribute of another kind: it is read where it is used.
            let mut aside = Parser { cursor: super::Cursor::new(&text), ..self.aside() };
            let value = aside.attribute().map_err(|error| self.cursor.error(start, error.message))?;
            return Ok(value);
        }
        match self.layouts.read(self.cursor.text(), start) {
            Ok((spec, read)) if read == end => Ok(Attribute::Layout(LayoutName::new(spec, text))),
            _ => Ok(Attribute::Foreign(text.into())),
        }
    }

    /// A reader that knows no names.
    fn aside<'b>(&self) -> Parser<'b>
    where
        'a: 'b,
    {
        Parser {
            cursor: super::Cursor::new(""),
            dialects: self.dialects,
            depth: self.depth,
            layouts: crate::layout::LayoutNames::default(),
            attribute_names: std::collections::HashMap::new(),
            type_names: std::collections::HashMap::new(),
            tensors: std::collections::HashMap::new(),
            locations: std::collections::HashMap::new(),
            late_locations: std::collections::HashMap::new(),
            body: crate::tile::Body::default(),
            scopes: super::Scopes::default(),
            functions: Vec::new(),
        }
    }

    /// `{name = value, "other name", ...}`.
    pub(super) fn dictionary(&mut self) -> Parsed<Attributes> {
        self.cursor.expect("{")?;
        let entries = self.list("}", |parser| {
            parser.cursor.skip_blanks();
            let at = parser.cursor.at;
            let name = match parser.cursor.peek() {
                Some('"') => parser.cursor.quoted("the name of an attribute")?,
                _ => parser.cursor.word("the name of an attribute")?.to_owned(),
            };
            let value = if parser.cursor.takes("=") { parser.attribute()? } else { Attribute::Unit };
            Ok((at, name, value))
        })?;
        let mut attributes = Attributes::default();
        for (at, name, value) in entries {
            if attributes.set(&name, value).is_some() {
                return Err(self.cursor.error(at, format!("`{name}` is given twice")));
            }
        }
        Ok(attributes)
    }

    /// A number with its type: 64 bits wide where none is said.
    fn number(&mut self) -> Parsed<Attribute> {
        let literal = self.literal()?;
        let ty = if self.cursor.takes(":") {
            self.ty()?
        } else if matches!(literal.kind, LiteralKind::Fraction(_)) {
            Type::Float(Float::F64)
        } else {
            Type::integer(64)
        };
        self.typed(literal, ty)
    }

    /// A number of a type that is known.
    pub(super) fn typed(&self, literal: Literal, ty: Type) -> Parsed<Attribute> {
        let bits = self.bits(literal, &ty)?;
        Ok(if ty == Type::BOOLEAN { Attribute::Bool(bits == 1) } else { Attribute::Number(Number { bits, ty }) })
    }

    pub(super) fn literal(&mut self) -> Parsed<Literal> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        for (word, value) in [("true", true), ("false", false)] {
            if self.cursor.takes(word) {
                return Ok(Literal { at, negative: false, kind: LiteralKind::Bool(value) });
            }
        }
        let negative = self.cursor.takes("-");
        let rest = self.cursor.rest();
        if let Some(digits) = rest.strip_prefix("0x") {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            if end > 0 {
                let value = u128::from_str_radix(&digits[..end], 16);
                let value = value.map_err(|_| self.cursor.error(at, "expected a number of at most 128 bits"))?;
                self.cursor.at += 2 + end;
                return Ok(Literal { at, negative, kind: LiteralKind::Bits(value) });
            }
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 {
            return Err(self.cursor.expected("a number"));
        }
        let end = fraction_end(rest, digits);
        self.cursor.at += end;
        let wrong = |_| self.cursor.error(at, format!("`{}` is no number that fits here", &rest[..end]));
        let kind = if end == digits {
            LiteralKind::Whole(rest[..end].parse().map_err(|_| wrong(()))?)
        } else {
            LiteralKind::Fraction(rest[..end].parse().map_err(|_| wrong(()))?)
        };
        Ok(Literal { at, negative, kind })
    }

    /// The bits of a number of a type.
    fn bits(&self, literal: Literal, ty: &Type) -> Parsed<u64> {
        let wrong = |what: String| self.cursor.error(literal.at, what);
        match ty {
            Type::Float(float) => self.float_bits(literal, *float),
            Type::Integer(..) | Type::Index => {
                let (bits, sign) = match ty {
                    Type::Integer(bits, sign) => (*bits, *sign),
                    _ => (64, Signedness::Signless),
                };
                if bits > 64 {
                    return Err(wrong(format!("constants of `{ty}` are not supported: expected at most 64 bits")));
                }
                let magnitude = match literal.kind {
                    LiteralKind::Whole(value) | LiteralKind::Bits(value) => value,
                    LiteralKind::Bool(value) => u128::from(value),
                    LiteralKind::Fraction(_) => return Err(wrong(format!("expected a whole number of type `{ty}`"))),
                };
                let range = 1u128 << bits;
                // Without a sign of its own a type takes what is in range with or without one.
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

    fn float_bits(&self, literal: Literal, float: Float) -> Parsed<u64> {
        let wrong = |what: String| self.cursor.error(literal.at, what);
        let value = match literal.kind {
            LiteralKind::Bits(bits) if literal.negative || bits >> float.bits() != 0 => {
                return Err(wrong(format!("expected the {} bits of a `{float}`", float.bits())));
            }
            LiteralKind::Bits(bits) => return Ok(bits as u64),
            LiteralKind::Fraction(value) => value,
            LiteralKind::Whole(_) => {
                return Err(wrong(format!("expected a number with a point, since it is a `{float}`: `1.0`")));
            }
            LiteralKind::Bool(_) => return Err(wrong(format!("expected a number, since it is a `{float}`"))),
        };
        let value = if literal.negative { -value } else { value };
        float.encode(value).ok_or_else(|| wrong(format!("the number is out of the range of `{float}`")))
    }

    /// After `array`: `<i32: 1, 0>`.
    fn array(&mut self) -> Parsed<Attribute> {
        self.cursor.expect("<")?;
        let ty = self.ty()?;
        let mut values = Vec::new();
        if self.cursor.takes(":") {
            values = self.list(">", |parser| {
                let literal = parser.literal()?;
                parser.bits(literal, &ty)
            })?;
        } else {
            self.cursor.expect(">")?;
        }
        Ok(Attribute::Array(ty, values))
    }

    /// After `dense`: `<1.0> : tensor<4xf32>`, `<[1, 2]> : tensor<2xi32>`, `<"0x...">` with the bytes of all elements.
    fn dense(&mut self) -> Parsed<Dense> {
        self.cursor.expect("<")?;
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let mut literals = Vec::new();
        let mut shape = None;
        let mut raw = None;
        match self.cursor.peek() {
            Some('"') => raw = Some(self.cursor.quoted("the bytes of the elements")?),
            Some('[') => shape = Some(self.nested_literals(&mut literals)?),
            Some('>') => shape = Some(vec![0]),
            _ => literals.push(self.literal()?),
        }
        self.cursor.expect(">")?;
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        let Some(sizes) = ty.shape() else { return Err(self.cursor.error(at, format!("`{ty}` is no tensor"))) };
        let count = sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
        if let Some(raw) = raw {
            let count = count.filter(|count| *count <= MAX_ELEMENTS);
            let count = count.ok_or_else(|| self.cursor.error(at, format!("more than {MAX_ELEMENTS} elements")))?;
            let elements = raw_elements(&raw, &ty, count).map_err(|message| self.cursor.error(at, message))?;
            return Ok(Dense { ty, elements: shortened(elements) });
        }
        if let Some(shape) = shape.filter(|shape| shape.iter().map(|size| *size as u64).ne(sizes.iter().copied())) {
            let message = format!("the elements are {shape:?}, and the type says {sizes:?}");
            return Err(self.cursor.error(at, message));
        }
        let elements = literals.iter().map(|literal| self.bits(*literal, ty.element())).collect::<Parsed<Vec<_>>>()?;
        Ok(Dense { ty, elements: shortened(elements) })
    }

    /// Numbers in brackets within brackets: how many there are along each axis.
    fn nested_literals(&mut self, literals: &mut Vec<Literal>) -> Parsed<Vec<usize>> {
        self.nested(|parser| {
            let at = parser.cursor.at;
            parser.cursor.expect("[")?;
            let parts = parser.list("]", |parser| match parser.cursor.peek() {
                Some('[') => parser.nested_literals(literals),
                _ => {
                    literals.push(parser.literal()?);
                    Ok(Vec::new())
                }
            })?;
            let mut shape = vec![parts.len()];
            if let Some(first) = parts.first() {
                if parts.iter().any(|part| part != first) {
                    return Err(parser.cursor.error(at, "the parts of this list are not equally long"));
                }
                shape.extend(first);
            }
            Ok(shape)
        })
    }
}

/// Where a number ends that begins with so many digits: after a point with digits, or none, and an exponent.
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

/// One element for all, where all are the same.
fn shortened(elements: Vec<u64>) -> std::sync::Arc<[u64]> {
    match elements.split_first() {
        Some((first, rest)) if rest.iter().all(|bits| bits == first) => [*first].into(),
        _ => elements.into(),
    }
}

/// The elements whose bytes a text gives in hexadecimal, low ones first; truth values lie in bits.
fn raw_elements(raw: &str, ty: &Type, count: u64) -> Result<Vec<u64>, String> {
    let digits = raw.strip_prefix("0x").unwrap_or(raw);
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect();
    let bytes = bytes
        .filter(|_| digits.len().is_multiple_of(2))
        .ok_or("expected `0x` and two hexadecimal digits for each byte")?;
    let bits =
        ty.element_bits().filter(|bits| *bits <= 64).ok_or_else(|| format!("`{ty}` has no elements of bytes"))?;
    if bits == 1 {
        let bit = |index: u64| bytes.get((index / 8) as usize).map(|byte| u64::from(byte >> (index % 8) & 1));
        // All bits of one byte say that all are the same.
        if bytes.len() == 1 && count > 8 && matches!(bytes[0], 0 | 0xff) {
            return Ok(vec![u64::from(bytes[0] & 1)]);
        }
        return (0..count).map(bit).collect::<Option<_>>().ok_or_else(|| "too few bytes".to_owned());
    }
    let width = bits.div_ceil(8) as usize;
    if bytes.len() != width && bytes.len() as u64 != count * width as u64 {
        return Err(format!("{} bytes for {count} elements of {width}", bytes.len()));
    }
    let element = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    Ok(bytes.chunks(width).map(element).collect())
}

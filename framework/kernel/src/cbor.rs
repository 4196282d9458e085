//! CBOR serialization of serde types, for modules and all other data at the plugin boundary.
//!
//! `cbor4ii` writes, and reads single items. Its own serde reader accepts a float only in the width of the requested
//! type, while other writers choose the shortest, and has a fixed limit of depth. The reader here accepts every
//! encoding of a number, skips tags and unknown fields, and limits the nesting depth to the caller's number, so that
//! hostile bytes cannot overflow the stack.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

use cbor4ii::core::dec::{self, Decode, IgnoredAny, Read, Reference};
use cbor4ii::core::{major, marker, types};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};
use serde::{Deserializer, Serialize};
use tilewright_target::ElementType;

/// A CBOR item of any type.
pub use cbor4ii::core::Value;

/// An error of reading or writing a value: wrong bytes, or a value that has no serialized form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CborError {
    /// The description of the error.
    pub message: String,
    /// Whether the bytes are well-formed, but have an enum variant that this version does not know.
    pub unknown_variant: bool,
}

impl fmt::Display for CborError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CborError {}

impl de::Error for CborError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), unknown_variant: false }
    }

    fn unknown_variant(variant: &str, _: &'static [&'static str]) -> Self {
        Self { message: format!("unknown variant `{variant}`"), unknown_variant: true }
    }
}

impl From<dec::Error<Infallible>> for CborError {
    fn from(error: dec::Error<Infallible>) -> Self {
        de::Error::custom(match error {
            dec::Error::Eof { .. } | dec::Error::RequireLength { .. } => "the bytes end within a value".to_owned(),
            dec::Error::DepthOverflow { .. } => "values nest too deep".to_owned(),
            dec::Error::RequireUtf8 { .. } => "a text is not UTF-8".to_owned(),
            other => format!("no CBOR of a known kind: {other}"),
        })
    }
}

/// Serializes a value as CBOR.
///
/// # Errors
/// [`CborError`] if the value has no serialized form.
pub fn to_cbor<T: Serialize>(value: &T) -> Result<Vec<u8>, CborError> {
    cbor4ii::serde::to_vec(Vec::new(), value).map_err(de::Error::custom)
}

/// Reads one value, nested in at most `levels` arrays and maps; returns it with the bytes that follow it.
///
/// # Errors
/// [`CborError`]: malformed bytes, a value of another type, or deeper nesting.
pub fn take_cbor_value<T: DeserializeOwned>(bytes: &[u8], levels: usize) -> Result<(T, &[u8]), CborError> {
    let mut reader = Reader { rest: bytes, levels };
    let value = T::deserialize(&mut reader)?;
    Ok((value, reader.rest))
}

/// A serde reader: the bytes that are not read yet, and the number of nesting levels that the value may still enter.
struct Reader<'de> {
    rest: &'de [u8],
    levels: usize,
}

impl<'de> Read<'de> for Reader<'de> {
    type Error = Infallible;

    fn fill<'b>(&'b mut self, required: usize) -> Result<Reference<'de, 'b>, Infallible> {
        Ok(Reference::Long(&self.rest[..required.min(self.rest.len())]))
    }

    fn advance(&mut self, count: usize) {
        self.rest = &self.rest[count.min(self.rest.len())..];
    }

    fn step_in(&mut self) -> bool {
        let deeper = self.levels.checked_sub(1);
        self.levels = deeper.unwrap_or(0);
        deeper.is_some()
    }

    fn step_out(&mut self) {
        self.levels += 1;
    }
}

impl<'de> Reader<'de> {
    fn item<T: Decode<'de>>(&mut self) -> Result<T, CborError> {
        Ok(T::decode(self)?)
    }

    /// Skips tags, and returns the first byte of the next item.
    fn head(&mut self) -> Result<u8, CborError> {
        loop {
            match self.rest.first() {
                Some(&byte) if dec::if_major(byte) == major::TAG => {
                    self.item::<types::Tag<types::Nothing>>()?;
                }
                Some(&byte) => return Ok(byte),
                None => return Err(de::Error::custom("the bytes end within a value")),
            }
        }
    }

    /// Reads the next item. The function is not generic, so that only the dispatch to a visitor's methods is compiled
    /// for each type.
    fn next(&mut self) -> Result<Item<'de>, CborError> {
        let head = self.head()?;
        Ok(match dec::if_major(head) {
            major::UNSIGNED => Item::Unsigned(self.item()?),
            major::NEGATIVE => Item::Negative(self.item()?),
            major::BYTES => Item::Bytes(self.item::<types::Bytes<Cow<'de, [u8]>>>()?.0),
            major::STRING => Item::Text(self.item()?),
            major::ARRAY => Item::Array(types::Array::len(self)?),
            major::MAP => Item::Map(types::Map::len(self)?),
            _ => match head {
                marker::F16 => Item::Float(half_float(self.item::<types::F16>()?.0)),
                marker::F32 => Item::Float(self.item::<f32>()?.into()),
                marker::F64 => Item::Float(self.item()?),
                marker::NULL | marker::UNDEFINED => {
                    self.advance(1);
                    Item::Nothing
                }
                marker::FALSE | marker::TRUE => Item::Bool(self.item()?),
                _ => return Err(de::Error::custom("a kind of value that this version does not know")),
            },
        })
    }

    /// Enters an array of `left` items, or a map of `left` entries; returns a reader of them. If `left` is `None`, a
    /// break mark ends them.
    fn enter(&mut self, left: Option<usize>) -> Result<Items<'_, 'de>, CborError> {
        if !self.step_in() {
            return Err(de::Error::custom("values nest too deep"));
        }
        Ok(Items { reader: self, left })
    }
}

/// One CBOR item that has been read. Of an array or a map, only the number of its items or entries has been read,
/// `None` if a break mark ends them.
enum Item<'de> {
    Unsigned(u64),
    Negative(i128),
    Bytes(Cow<'de, [u8]>),
    Text(Cow<'de, str>),
    Array(Option<usize>),
    Map(Option<usize>),
    Float(f64),
    Bool(bool),
    Nothing,
}

/// Converts the 16 bits of an IEEE binary16 to its value.
fn half_float(bits: u16) -> f64 {
    match ElementType::from_name("f16") {
        Some(ElementType::Float(format)) => format.decode(bits.into()),
        _ => f64::NAN,
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = CborError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        match self.next()? {
            Item::Unsigned(number) => visitor.visit_u64(number),
            Item::Negative(number) => match i64::try_from(number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_i128(number),
            },
            Item::Bytes(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Item::Bytes(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            Item::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Item::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Item::Array(left) => {
                let mut items = self.enter(left)?;
                let value = visitor.visit_seq(&mut items)?;
                items.leave(1)?;
                Ok(value)
            }
            Item::Map(left) => {
                let mut entries = self.enter(left)?;
                let value = visitor.visit_map(&mut entries)?;
                entries.leave(2)?;
                Ok(value)
            }
            Item::Float(number) => visitor.visit_f64(number),
            Item::Bool(value) => visitor.visit_bool(value),
            Item::Nothing => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        match self.head()? {
            marker::NULL | marker::UNDEFINED => {
                self.advance(1);
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, CborError> {
        visitor.visit_newtype_struct(self)
    }

    /// Reads an enum variant: its name, or a map with one entry from its name to its content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CborError> {
        match dec::if_major(self.head()?) {
            major::STRING => visitor.visit_enum(Variant { reader: self, has_content: false }),
            major::MAP => {
                let only = |more| de::Error::custom(format!("a variant must be a map of one entry, not of {more}"));
                let left = types::Map::len(self)?;
                let mut entries = self.enter(left)?;
                if !entries.next()? {
                    return Err(only("none"));
                }
                let value = visitor.visit_enum(Variant { reader: &mut *entries.reader, has_content: true })?;
                if entries.next()? {
                    return Err(only("more"));
                }
                entries.leave(2)?;
                Ok(value)
            }
            _ => Err(de::Error::custom("a variant must be a text or a map of one entry")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        self.item::<IgnoredAny>()?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// A reader of the items of an array, or of the keys and values of a map.
struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The number of items left; `None` if a break mark ends them.
    left: Option<usize>,
}

impl Items<'_, '_> {
    /// Returns whether another item or entry follows, and decrements the number of those left; at the end, skips the
    /// break mark.
    fn next(&mut self) -> Result<bool, CborError> {
        match &mut self.left {
            Some(0) => Ok(false),
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None if self.reader.rest.first() == Some(&marker::BREAK) => {
                self.reader.advance(1);
                self.left = Some(0);
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// Skips the items or entries that the visitor left unread, which have `per_entry` values each, and leaves the
    /// array or map.
    fn leave(mut self, per_entry: usize) -> Result<(), CborError> {
        while self.next()? {
            (0..per_entry).try_for_each(|_| self.reader.item::<IgnoredAny>().map(drop))?;
        }
        self.reader.step_out();
        Ok(())
    }
}

impl<'de> de::SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = CborError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, CborError> {
        if self.next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

impl<'de> de::MapAccess<'de> for &mut Items<'_, 'de> {
    type Error = CborError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CborError> {
        if self.next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, CborError> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        self.left
    }
}

struct Variant<'a, 'de> {
    reader: &'a mut Reader<'de>,
    has_content: bool,
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = CborError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), CborError> {
        Ok((seed.deserialize(&mut *self.reader)?, self))
    }
}

impl<'a, 'de> Variant<'a, 'de> {
    fn content(self) -> Result<&'a mut Reader<'de>, CborError> {
        if self.has_content { Ok(self.reader) } else { Err(de::Error::custom("a variant lacks its content")) }
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = CborError;

    fn unit_variant(self) -> Result<(), CborError> {
        if self.has_content { self.reader.item::<IgnoredAny>().map(drop) } else { Ok(()) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, CborError> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CborError> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, CborError> {
        self.content()?.deserialize_any(visitor)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds no value fails")]
mod tests {
    use ciborium::Value as Cbor;
    use serde::Deserialize;

    use super::*;

    /// All kinds of values that cross the plugin boundary.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        flags: Vec<bool>,
        integers: (u64, i64, u8),
        floats: Vec<f64>,
        absent: Option<u32>,
        text: String,
        variants: Vec<Shape>,
        nested: Option<Box<Everything>>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Plain,
        Wrapped(u32),
        Pair(u32, String),
        Fields { a: i16, b: Vec<f64> },
    }

    fn everything(nested: Option<Box<Everything>>) -> Everything {
        let variants = vec![
            Shape::Plain,
            Shape::Wrapped(70_000),
            Shape::Pair(1, "π".to_owned()),
            Shape::Fields { a: -300, b: vec![1e-8] },
        ];
        // Exact in 16, 32 and 64 bits, and infinity.
        let floats = vec![0.0, -0.0, 1.5, 5.960_464_477_539_063e-8, 1e10, 0.1, f64::INFINITY, f64::MIN];
        let integers = (u64::MAX, i64::MIN, 24);
        Everything {
            flags: vec![true, false],
            integers,
            floats,
            absent: None,
            text: "tile".to_owned(),
            variants,
            nested,
        }
    }

    #[test]
    fn bytes_of_ciborium_are_read_and_it_reads_ours() {
        let value = everything(Some(Box::new(everything(None))));
        let mut theirs = Vec::new();
        ciborium::into_writer(&value, &mut theirs).unwrap();
        assert_eq!(
            take_cbor_value::<Everything>(&theirs, 8),
            Ok((everything(Some(Box::new(everything(None)))), &[][..]))
        );
        let ours = to_cbor(&value).unwrap();
        assert_eq!(ciborium::from_reader::<Everything, _>(ours.as_slice()).unwrap(), value);
        assert_eq!(take_cbor_value::<Everything>(&ours, 8).unwrap().0, value);
    }

    #[test]
    fn numbers_and_containers_are_read_in_every_form() {
        let read = |bytes: &[u8]| super::take_cbor_value::<Vec<f64>>(bytes, 4).map(|(value, rest)| (value, rest.len()));
        // An array without a length: a tag before a float of 32 bits, integers, a binary16 float; then one byte behind
        // it.
        let bytes = b"\x9f\xc1\xfa\x3f\x80\x00\x00\x02\x21\xf9\x38\x00\xff\x00";
        assert_eq!(read(bytes), Ok((vec![1.0, 2.0, -2.0, 0.5], 1)));
        assert!(read(b"\x82\x01").is_err(), "one is missing");
        assert!(read(b"\x81\xfb\x00").is_err(), "cut off");
        assert!(read(b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01").is_err(), "a length that nobody has");
        let text = super::take_cbor_value::<String>(b"\x7f\x62ti\x62le\xff", 4);
        assert_eq!(text, Ok(("tile".to_owned(), &[][..])));
        // Surplus items of an array or variant are skipped.
        assert_eq!(
            super::take_cbor_value::<((u8, u8), u8)>(b"\x82\x83\x01\x02\x81\x03\x04", 4),
            Ok((((1, 2), 4), &[][..]))
        );
        assert_eq!(
            super::take_cbor_value::<(Shape, u8)>(b"\x82\xa1\x65Plain\x82\x01\x02\x04", 4),
            Ok(((Shape::Plain, 4), &[][..]))
        );
    }

    #[test]
    fn depth_is_bounded_for_what_is_read_and_what_is_skipped() {
        #[derive(Debug, Deserialize)]
        struct Nothing {}
        for (container, end) in
            [(&[0x81u8][..], &[0u8][..]), (b"\x9f", b"\x00"), (b"\xa1\x61a", b"\x00"), (b"\xc1", b"\x00")]
        {
            let bytes = [container.repeat(1_000_000).as_slice(), end].concat();
            // A chain of tags is not nesting.
            let refused = take_cbor_value::<Cbor>(&bytes, 300).is_err();
            assert_eq!(refused, container != b"\xc1", "{container:x?}");
            let skipped = [b"\xa1\x61x", bytes.as_slice()].concat();
            assert!(take_cbor_value::<Nothing>(&skipped, 300).is_err(), "{container:x?}");
        }
        let nested = |depth: usize| [[0x81].repeat(depth).as_slice(), &[0]].concat();
        assert!(take_cbor_value::<Cbor>(&nested(300), 300).is_ok());
        assert!(take_cbor_value::<Cbor>(&nested(301), 300).is_err());
    }

    #[test]
    fn unknown_variants_are_distinguished_from_other_errors() {
        let unknown = |bytes: &[u8]| take_cbor_value::<Shape>(bytes, 4).unwrap_err().unknown_variant;
        assert!(unknown(b"\x64Ring") && unknown(b"\xa1\x64Ring\x01"));
        assert!(
            !unknown(b"\x67Wrapped") && !unknown(b"\xa1\x67Wrapped\x61x") && !unknown(b"\x01") && !unknown(b"\xa0")
        );
    }
}

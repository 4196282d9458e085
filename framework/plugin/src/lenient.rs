//! Reads serde types from CBOR values and skips fields that the type does not know.
//!
//! Types that reject unknown keys in a file, where they are typing errors, must not reject them
//! from the other side of the plugin boundary, where they are a newer version's. Imports nothing.

use std::fmt;

use ciborium::Value;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor};

/// Why a value is not of the type that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// What is wrong.
    pub message: String,
    /// Whether all that is wrong is a variant that this version does not know.
    pub unknown_variant: bool,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), unknown_variant: false }
    }

    fn unknown_variant(variant: &str, _: &'static [&'static str]) -> Self {
        Self { message: format!("unknown variant `{variant}`"), unknown_variant: true }
    }
}

/// The value as a `T`.
pub(super) fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Mismatch> {
    T::deserialize(Lenient(value))
}

#[derive(Clone, Copy)]
struct Lenient<'de>(&'de Value);

impl<'de> IntoDeserializer<'de, Mismatch> for Lenient<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The entries of a map that `keep` wants, by its key.
fn entries<'de>(
    map: &'de [(Value, Value)],
    keep: impl Fn(&Value) -> bool,
) -> impl Iterator<Item = (Lenient<'de>, Lenient<'de>)> {
    map.iter().filter(move |(key, _)| keep(key)).map(|(key, value)| (Lenient(key), Lenient(value)))
}

impl<'de> Deserializer<'de> for Lenient<'de> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_borrowed_str(value),
            Value::Bytes(value) => visitor.visit_borrowed_bytes(value),
            Value::Tag(_, value) => Lenient(value).deserialize_any(visitor),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Lenient))),
            Value::Map(map) => visitor.visit_map(MapDeserializer::new(entries(map, |_| true))),
            Value::Integer(value) => {
                let wide = i128::from(*value);
                match (u64::try_from(wide), i64::try_from(wide)) {
                    (Ok(value), _) => visitor.visit_u64(value),
                    (_, Ok(value)) => visitor.visit_i64(value),
                    _ => visitor.visit_i128(wide),
                }
            }
            _ => Err(de::Error::custom("a kind of value that this version does not know")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Map(map) => {
                let known = |key: &Value| key.as_text().is_some_and(|name| fields.contains(&name));
                visitor.visit_map(MapDeserializer::new(entries(map, known)))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Text(_) => visitor.visit_enum(Variant { name: self.0, content: None }),
            Value::Map(map) => match map.as_slice() {
                [(name, content)] => visitor.visit_enum(Variant { name, content: Some(content) }),
                _ => Err(de::Error::custom("a variant must be a map of one entry")),
            },
            _ => Err(de::Error::custom("a variant must be a text or a map of one entry")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier
    }
}

struct Variant<'de> {
    name: &'de Value,
    content: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Mismatch;
    type Variant = Self;

    fn variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Mismatch> {
        Ok((seed.deserialize(Lenient(self.name))?, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self) -> Result<Lenient<'de>, Mismatch> {
        self.content.map(Lenient).ok_or_else(|| de::Error::custom("a variant lacks its content"))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        Ok(())
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.content()?.deserialize_struct("", fields, visitor)
    }
}

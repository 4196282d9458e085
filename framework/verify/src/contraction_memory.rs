//! Matrices that a contraction is shown with: their elements as bits and as values, and how they lie in memory.

use super::CheckFailure;
use tilewright_target::ElementType;

/// A value as an integer, or as a number.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Integer(i128),
    Real(f64),
}

/// A factor's element times its scale, exact.
pub(super) fn multiplied(element: Value, scale: Option<Value>) -> Value {
    let real = |value: Value| match value {
        Value::Integer(value) => value as f64,
        Value::Real(value) => value,
    };
    match (element, scale) {
        (element, None) => element,
        (Value::Integer(element), Some(Value::Integer(scale))) => Value::Integer(element * scale),
        (element, Some(scale)) => Value::Real(real(element) * real(scale)),
    }
}

/// Elements of one type.
#[derive(Clone)]
pub(super) struct Matrix {
    pub kind: ElementType,
    /// Row-major, as bits and as values.
    pub elements: Vec<(u64, Value)>,
}

impl Matrix {
    pub(super) fn new(
        kind: ElementType,
        count: u64,
        of: impl Fn(ElementType, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, CheckFailure> {
        let elements = (0..count).map(|index| of(kind, index)).collect::<Result<_, _>>().map_err(CheckFailure::Row)?;
        Ok(Self { kind, elements })
    }

    /// The memory, lines of `length` elements one after the other, `at` saying which element is where in a line.
    /// Elements of 1, 2 and 4 bits lie side by side in bytes, the first in the low bits; a line begins with a byte.
    /// Those of six bits have their own, with noise above them.
    pub(super) fn bytes(&self, length: usize, at: impl Fn(usize, usize) -> usize) -> Vec<u8> {
        let bits = self.kind.bits() as usize;
        let mut bytes = Vec::new();
        for line in 0..self.elements.len() / length {
            let elements: Vec<u64> = (0..length).map(|column| self.elements[at(line, column)].0).collect();
            match bits {
                1 | 2 | 4 => bytes.extend(elements.chunks(8 / bits).map(|own| packed(own, bits))),
                _ => {
                    let width = bits.next_power_of_two().div_ceil(8);
                    for element in elements {
                        let above = if bits < 8 { 0xa5 << bits } else { 0 };
                        bytes.extend((element | above).to_le_bytes().into_iter().take(width));
                    }
                }
            }
        }
        bytes
    }
}

fn packed(elements: &[u64], bits: usize) -> u8 {
    (0..).zip(elements).fold(0, |byte, (index, &element)| byte | (element << (index * bits)) as u8)
}

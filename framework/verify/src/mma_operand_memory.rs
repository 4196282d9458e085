//! Matrices of MMA tests: their elements as bits and as values, and their memory layout.

use super::CheckFailure;
use tilewright_target::ElementType;

/// The value of an element: an integer or a real number.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Integer(i128),
    Real(f64),
}

/// Multiplies an operand's element by its scale, exactly; `None` for no scale.
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

/// The elements of a matrix, all of one type.
#[derive(Clone)]
pub(super) struct Matrix {
    pub kind: ElementType,
    /// The elements, row-major, each as bits and as a value.
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

    /// Packs the elements into lines of `length` elements and returns the bytes; `at` maps (line, index in the line) to
    /// the row-major index of an element. Elements of 1, 2 and 4 bits are packed into bytes, the first in the low bits;
    /// a line starts at a byte. Elements of six bits take a byte each, with noise in the upper bits.
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

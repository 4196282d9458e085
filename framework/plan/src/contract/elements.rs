//! The elements of a factor, from what was loaded to what the unit takes: taken out of bytes, cast, scaled, and put
//! side by side again.

use tilewright_kernel::{Binary, Builder, Cast, Element, SpecialRegister, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, Format};

use super::cast;
use super::operands::Operands;
use super::scale::Scale;

const WORD: Type = Type::Scalar(Element::I32);

/// One element: so many bits of a value, from bit `at` on. What is above them is anything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub value: Value,
    pub at: u32,
}

impl Part {
    /// A value that is the element.
    pub(super) fn whole(value: Value) -> Self {
        Self { value, at: 0 }
    }

    /// The element in the low bits of a value.
    pub(super) fn low(self, builder: &mut Builder) -> Value {
        if self.at == 0 { self.value } else { by_constant(builder, Binary::ShrU, self.value, self.at) }
    }
}

/// How elements of a factor, as memory has them, become those that a unit takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making {
    pub from: ElementType,
    pub to: ElementType,
    /// The scales with which they are multiplied first.
    pub scale: Option<Scale>,
    /// The axis that is K.
    pub k_axis: usize,
}

impl Making {
    /// Elements as the unit takes them: taken out of bytes, cast, scaled. `values` and `scales` are one for each
    /// register of the elements' layout.
    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        layout: &LinearLayout,
        values: &[Value],
        scales: &[Value],
    ) -> Vec<Part> {
        let parts = unpacked(builder, values, layout, self.k_axis, self.from);
        match self.scale {
            Some(scale) => scaled(builder, &parts, (self.from, self.to), scales, scale),
            None => cast_all(builder, &parts, self.from, self.to),
        }
    }
}

/// An operation on a value and a constant of its type.
fn by_constant(builder: &mut Builder, op: Binary, value: Value, constant: u32) -> Value {
    let ty = builder.type_of(value);
    let constant = builder.constant(ty, constant.into());
    builder.binary(op, value, constant)
}

/// Log2 of the elements in a byte of memory.
pub(super) fn in_byte(number: ElementType) -> u32 {
    (8 / number.stored_bits().min(8)).trailing_zeros()
}

/// One element of each register of a layout from the bytes in which they lie, one for each register too. Which element
/// of its byte it is, registers say, and lanes where these move within a byte.
fn unpacked(
    builder: &mut Builder,
    bytes: &[Value],
    layout: &LinearLayout,
    k_axis: usize,
    number: ElementType,
) -> Vec<Part> {
    let bits = in_byte(number);
    if bits == 0 {
        return bytes.iter().copied().map(Part::whole).collect();
    }
    let within = |dim| -> Vec<u64> {
        let k = |&column: &u64| layout.outs().coordinate(column, Dim::tensor(k_axis)) & ((1 << bits) - 1);
        layout.columns_of(dim).iter().map(k).collect()
    };
    let (registers, lanes) = (within(Dim::REGISTER), within(Dim::LANE));
    let width = number.stored_bits();
    let of_lane = lanes.iter().any(|&part| part != 0).then(|| lane_sum(builder, &lanes));
    let mut parts = Vec::with_capacity(bytes.len());
    for (register, &byte) in (0u64..).zip(bytes) {
        let own = tilewright_layout::f2::multiply(&registers, register) as u32;
        parts.push(match of_lane {
            None => Part { value: byte, at: own * width },
            Some(of_lane) => {
                let index = builder.binary_const(Binary::Xor, of_lane, own);
                let shift = builder.binary_const(Binary::Mul, index, width);
                let shift = builder.cast(Cast::Truncate, shift, Type::Scalar(Element::I8));
                Part::whole(builder.binary(Binary::ShrU, byte, shift))
            }
        });
    }
    parts
}

/// The sum over F2 of what the bits of the running lane stand for.
pub(super) fn lane_sum(builder: &mut Builder, lanes: &[u64]) -> Value {
    let lane = builder.special(SpecialRegister::Lane);
    let mut sum = builder.i32(0);
    for (bit, &part) in (0..).zip(lanes).filter(|(_, part)| **part != 0) {
        let own = builder.binary_const(Binary::ShrU, lane, bit);
        let own = builder.binary_const(Binary::And, own, 1);
        let own = builder.binary_const(Binary::Mul, own, part as u32);
        sum = builder.binary(Binary::Xor, sum, own);
    }
    sum
}

/// Elements of one type as another.
fn cast_all(builder: &mut Builder, parts: &[Part], from: ElementType, to: ElementType) -> Vec<Part> {
    if from == to {
        return parts.to_vec();
    }
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let value = part.low(builder);
        all.push(Part::whole(cast::cast(builder, value, from, to)));
    }
    all
}

/// Elements of one type times their scales as another: a product of binary32, where it is exact, then rounded to what
/// has it.
fn scaled(
    builder: &mut Builder,
    parts: &[Part],
    (from, to): (ElementType, ElementType),
    scales: &[Value],
    scale: Scale,
) -> Vec<Part> {
    let Some(format) = scale.format() else { return parts.to_vec() };
    // Registers that share a scale share its value.
    let mut known: Vec<(Value, Value)> = Vec::new();
    let mut all = Vec::with_capacity(parts.len());
    for (part, &bits) in parts.iter().zip(scales) {
        let factor = match known.iter().find(|(given, _)| *given == bits) {
            Some(&(_, factor)) => factor,
            None => {
                let factor = decoded(builder, bits, format);
                known.push((bits, factor));
                factor
            }
        };
        let value = part.low(builder);
        let value = cast::as_single(builder, value, from);
        let product = builder.binary(Binary::FMul, value, factor);
        all.push(Part::whole(cast::resized(builder, product, to)));
    }
    all
}

/// A scale as binary32.
fn decoded(builder: &mut Builder, value: Value, format: Format) -> Value {
    let word = builder.cast(Cast::ExtendU, value, WORD);
    cast::decoded(builder, word, format)
}

/// Elements in places as wide as an operand's, side by side, as one value.
pub(super) fn packed(builder: &mut Builder, parts: &[Part], operands: &Operands) -> Value {
    if !operands.bits.is_power_of_two() {
        return across_words(builder, parts, operands.bits);
    }
    if operands.bits < 8 {
        let in_byte = (8 / operands.bits) as usize;
        let bytes: Vec<Value> = parts.chunks(in_byte).map(|own| byte_of(builder, own, operands.bits)).collect();
        return builder.pack(&bytes);
    }
    let place = Type::Scalar(Element::integer(operands.bits).unwrap_or(Element::I32));
    let mut wide = Vec::with_capacity(parts.len());
    for part in parts {
        let element = part.low(builder);
        let element = match operands.number.bits() {
            bits if bits < 8 => by_constant(builder, Binary::And, element, (1 << bits) - 1),
            _ => element,
        };
        wide.push(builder.cast(Cast::ExtendU, element, place));
    }
    builder.pack(&wide)
}

/// Elements side by side, of a width that is no power of two: some straddle two words.
fn across_words(builder: &mut Builder, parts: &[Part], bits: u32) -> Value {
    let count = (parts.len() as u32 * bits).div_ceil(32).next_power_of_two();
    let mut words = vec![builder.i32(0); count as usize];
    for (index, part) in (0u32..).zip(parts) {
        let element = part.low(builder);
        let element = builder.cast(Cast::ExtendU, element, WORD);
        let element = builder.binary_const(Binary::And, element, (1 << bits) - 1);
        let (word, shift) = ((index * bits / 32) as usize, index * bits % 32);
        let low = builder.binary_const(Binary::Shl, element, shift);
        words[word] = builder.binary(Binary::Or, words[word], low);
        if shift + bits > 32 {
            let high = builder.binary_const(Binary::ShrU, element, 32 - shift);
            words[word + 1] = builder.binary(Binary::Or, words[word + 1], high);
        }
    }
    builder.pack(&words)
}

/// A byte of several elements: one that was loaded so, or one that is put together.
fn byte_of(builder: &mut Builder, parts: &[Part], bits: u32) -> Value {
    let first = parts[0].value;
    let as_loaded = (0..).zip(parts).all(|(index, part)| part.value == first && part.at == index * bits);
    if as_loaded && parts.len() as u32 * bits == 8 {
        return first;
    }
    let mut byte = builder.constant(Type::Scalar(Element::I8), 0);
    for (index, part) in (0u32..).zip(parts) {
        let own = part.low(builder);
        let own = by_constant(builder, Binary::And, own, (1 << bits) - 1);
        let own = by_constant(builder, Binary::Shl, own, index * bits);
        byte = builder.binary(Binary::Or, byte, own);
    }
    byte
}

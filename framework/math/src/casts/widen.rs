//! Exact casts of elements to types that have all values of the source type.
//!
//! The kernel IR has no casts of types of at most eight bits. They are converted to binary16 or binary32 by moving the
//! fields of the encoding, and to each other by moving fields and a small table for subnormals. Bits above a narrow
//! element in its byte are ignored.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Value};
use tilewright_target::{ElementType, FloatFormat};

use super::native::NativeCasts;

const WORD: Type = Type::Scalar(Element::I32);
const SINGLE_TYPE: Type = Type::Scalar(Element::F32);

/// Whether [`emit_cast`] supports a cast: it must be exact, or convert a 64-bit integer to binary64, which rounds.
#[must_use]
pub fn is_cast_supported(from: ElementType, to: ElementType) -> bool {
    let widest = matches!(from, ElementType::Integer { bits: 64, .. }) && kernel_element(to) == Some(Element::F64);
    let is_cast = !to.is_float() || kernel_element(to).is_some() || is_by_fields(from, to);
    from == to || widest || from.is_representable_in(to) && is_cast
}

/// Approximate number of operations that multiply one element by its scale (of a block-scaled format such as OCP MX).
pub const SCALING_OPERATION_COUNT: u64 = 3;

/// Returns the approximate number of kernel IR operations that [`emit_cast`] emits for one element.
#[must_use]
pub fn cast_operation_count(from: ElementType, to: ElementType) -> u64 {
    match from {
        _ if from == to => 0,
        ElementType::Float(format) if kernel_element(from).is_none() => match HalfForm::of(format) {
            Some(HalfForm::Prefix) => 2,
            Some(HalfForm::Scaled) => 8,
            None => 12,
        },
        _ if from.bits() < 8 => 3,
        _ => 1,
    }
}

/// Whether [`emit_cast`] moves the fields of the encoding: from a type narrower than a byte to a type of at most eight
/// bits.
fn is_by_fields(from: ElementType, to: ElementType) -> bool {
    from.is_float() && to.is_float() && from.bits() < 8 && to.bits() <= 8
}

/// Returns the kernel IR's element type with the same encoding; `None` if it has none. For `tf32` this is `f32`, which
/// contains its bits.
#[must_use]
pub fn kernel_element(element_type: ElementType) -> Option<Element> {
    let ElementType::Float(format) = element_type else { return Element::integer_of_width(element_type.bits()) };
    match format.field_widths() {
        [11, 52, 0] => Some(Element::F64),
        [8, 23 | 10, _] => Some(Element::F32),
        [8, 7, 0] => Some(Element::Bf16),
        [5, 10, 0] => Some(Element::F16),
        _ => None,
    }
}

/// Returns the integer type that carries an element's bits in the kernel IR: its width, at least a byte, rounded up to
/// a power of two.
#[must_use]
pub fn carrier_type(element_type: ElementType) -> Type {
    Type::Scalar(Element::integer_of_width(element_type.bits().next_power_of_two().max(8)).unwrap_or(Element::I32))
}

/// Casts elements as [`emit_cast`] does, but by instructions of the target if it has them for this cast, or for
/// products of `bf16`.
pub fn emit_casts(
    builder: &mut Builder,
    native: NativeCasts,
    values: &[Value],
    (from, to): (ElementType, ElementType),
) -> Vec<Value> {
    let by_instructions = match (from, kernel_element(to)) {
        (ElementType::Float(format), Some(wide)) if from != to => native.extend(builder, values, format, wide),
        _ => None,
    };
    let is_scaled = |from: FloatFormat| native.multiplies_bf16() && is_scaled_form(from, FloatFormat::BF16);
    match (from, by_instructions) {
        (_, Some(numbers)) => {
            numbers.into_iter().map(|number| builder.cast(Cast::Bits, number, carrier_type(to))).collect()
        }
        (ElementType::Float(format), None) if kernel_element(to) == Some(Element::Bf16) && is_scaled(format) => {
            let of_byte = |&value: &Value| {
                let word = builder.cast(Cast::ExtendU, value, WORD);
                let number = decode_scaled(builder, word, format, (FloatFormat::BF16, Element::Bf16));
                builder.cast(Cast::Bits, number, carrier_type(to))
            };
            values.iter().map(of_byte).collect()
        }
        (_, None) => values.iter().map(|&value| emit_cast(builder, value, from, to)).collect(),
    }
}

/// Casts an element from one type to another, if [`is_cast_supported`] allows it. `value` and the result are the bits
/// of the elements, in integers of their [`carrier_type`] types.
pub fn emit_cast(builder: &mut Builder, value: Value, from: ElementType, to: ElementType) -> Value {
    match (from, to) {
        _ if from == to => value,
        (ElementType::Integer { bits, signed }, _) if bits < 8 => {
            let word = builder.cast(Cast::ExtendU, value, WORD);
            let high = builder.binary_const(Binary::Shl, word, 32 - bits);
            let shift = if signed { Binary::ShrS } else { Binary::ShrU };
            let word = builder.binary_const(shift, high, 32 - bits);
            emit_cast(builder, word, ElementType::Integer { bits: 32, signed: true }, to)
        }
        (ElementType::Integer { bits, .. }, ElementType::Integer { bits: wide, .. }) if bits > wide => {
            builder.cast(Cast::Truncate, value, carrier_type(to))
        }
        (ElementType::Integer { signed, .. }, ElementType::Integer { .. }) => {
            builder.cast(if signed { Cast::ExtendS } else { Cast::ExtendU }, value, carrier_type(to))
        }
        (ElementType::Integer { signed, .. }, _) => {
            // A 16-bit type represents all integers that may be cast to it, and binary32 represents all values of
            // 16-bit types.
            let first = if kernel_element(to) == Some(Element::F64) { Element::F64 } else { Element::F32 };
            let number = builder.cast(if signed { Cast::FloatS } else { Cast::FloatU }, value, Type::Scalar(first));
            emit_exact_cast_bits(builder, number, to)
        }
        (ElementType::Float(format), ElementType::Float(wide)) if is_by_fields(from, to) => {
            let word = builder.cast(Cast::ExtendU, value, WORD);
            let word = by_fields(builder, word, format, wide);
            builder.cast(Cast::Truncate, word, carrier_type(to))
        }
        (ElementType::Float(format), _) => {
            let number = match kernel_element(from) {
                Some(element) => builder.cast(Cast::Bits, value, Type::Scalar(element)),
                None => {
                    let word = builder.cast(Cast::ExtendU, value, WORD);
                    decode(builder, word, format)
                }
            };
            emit_exact_cast_bits(builder, number, to)
        }
    }
}

/// Converts a floating-point element of at most 32 bits, given as its bits, to an `f32` value.
pub fn emit_widen_to_f32(builder: &mut Builder, value: Value, from: ElementType) -> Value {
    match (from, kernel_element(from)) {
        (ElementType::Float(format), None) => {
            let word = builder.cast(Cast::ExtendU, value, WORD);
            emit_decode_to_f32(builder, word, format)
        }
        (_, element) => {
            let number = builder.cast(Cast::Bits, value, Type::Scalar(element.unwrap_or(Element::F32)));
            builder.cast(Cast::ExtendF, number, SINGLE_TYPE)
        }
    }
}

/// Converts a floating-point value of the kernel IR to the type `to`, which must represent it; returns the bits of the
/// result.
pub fn emit_exact_cast_bits(builder: &mut Builder, value: Value, to: ElementType) -> Value {
    let ty = Type::Scalar(kernel_element(to).unwrap_or(Element::F32));
    let have = builder.type_of(value);
    // No cast converts between two types of 16 bits, so the value goes through binary32.
    let value = if have.bits() == ty.bits() && have != ty { single(builder, value) } else { value };
    let value = match (ty.bits(), builder.type_of(value).bits()) {
        (bits, have) if bits > have => builder.cast(Cast::ExtendF, value, ty),
        (bits, have) if bits < have => builder.cast(Cast::RoundF, value, ty),
        _ => value,
    };
    builder.cast(Cast::Bits, value, carrier_type(to))
}

/// Converts an element narrower than a byte from the format `from` to the format `to`, which represents it; both are
/// encodings in 32-bit words. It moves the fields of the encoding, and looks up subnormals in a table.
fn by_fields(builder: &mut Builder, word: Value, from: FloatFormat, to: FloatFormat) -> Value {
    let ([exponent, mantissa, _], [to_exponent, to_mantissa, _]) = (from.field_widths(), to.field_widths());
    let top = 1u32 << (exponent + mantissa);
    let magnitude = builder.binary_const(Binary::And, word, top - 1);
    let fields = builder.binary_const(Binary::Shl, magnitude, to_mantissa - mantissa);
    let normal = builder.binary_const(Binary::Add, fields, ((to.bias() - from.bias()) as u32) << to_mantissa);
    let same = |bits: u64| (0..1u64 << (to_exponent + to_mantissa)).find(|&wide| to.decode(wide) == from.decode(bits));
    let table = (0..1u64 << mantissa).rev().fold(0, |table, bits| table << 8 | same(bits).unwrap_or(0));
    let at = builder.binary_const(Binary::And, magnitude, (1 << mantissa) - 1);
    let at = builder.binary_const(Binary::Shl, at, 3);
    let wide = Type::Scalar(Element::I64);
    let (table, at) = (builder.constant(wide, table), builder.cast(Cast::ExtendU, at, wide));
    let entry = builder.binary(Binary::ShrU, table, at);
    let entry = builder.cast(Cast::Truncate, entry, WORD);
    let entry = builder.binary_const(Binary::And, entry, 0xff);
    let min = builder.i32(1 << mantissa);
    let is_small = builder.compare(Compare::LtU, magnitude, min);
    let number = builder.select(is_small, entry, normal);
    let sign = builder.binary_const(Binary::And, word, top);
    let sign = builder.binary_const(Binary::Shl, sign, to_exponent + to_mantissa - exponent - mantissa);
    builder.binary(Binary::Or, number, sign)
}

/// Converts an element of at most eight bits, given as its encoding in a 32-bit word, to an `f32` value.
pub fn emit_decode_to_f32(builder: &mut Builder, word: Value, format: FloatFormat) -> Value {
    let number = decode(builder, word, format);
    single(builder, number)
}

/// Extends a floating-point value of at most 32 bits to `f32`.
fn single(builder: &mut Builder, number: Value) -> Value {
    if builder.type_of(number) == SINGLE_TYPE { number } else { builder.cast(Cast::ExtendF, number, SINGLE_TYPE) }
}

/// The similarity of a narrow type's encoding to that of binary16, which makes a conversion to binary16 short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HalfForm {
    /// The encoding is the upper bits of a binary16 encoding.
    Prefix,
    /// Exponent and mantissa, moved to the fields of binary16, encode the number divided by a constant power of two.
    /// NaN is an exception.
    Scaled,
}

impl HalfForm {
    pub(super) fn of(format: FloatFormat) -> Option<Self> {
        let [exponent, mantissa, _] = format.field_widths();
        let [half_exponent, half_mantissa, _] = FloatFormat::F16.field_widths();
        let is_bounded = mantissa > 0 && mantissa <= half_mantissa && format.is_signed();
        let is_prefix = exponent == half_exponent && format.has_infinity() && format.bias() == FloatFormat::F16.bias();
        if is_bounded && is_prefix {
            return Some(Self::Prefix);
        }
        is_scaled_form(format, FloatFormat::F16).then_some(Self::Scaled)
    }
}

/// Whether exponent and mantissa of `format`, moved to the fields of `wide`, encode the number divided by a constant
/// power of two, except for NaN.
fn is_scaled_form(format: FloatFormat, wide: FloatFormat) -> bool {
    let ([exponent, mantissa, _], [wide_exponent, wide_mantissa, _]) = (format.field_widths(), wide.field_widths());
    let is_bounded = mantissa > 0 && mantissa <= wide_mantissa && format.is_signed();
    is_bounded && exponent < wide_exponent && !format.has_infinity()
}

/// Converts an element of at most eight bits, given as its encoding in a 32-bit word, to a wider type. This is `f16` if
/// that takes fewer operations, otherwise `f32`.
fn decode(builder: &mut Builder, word: Value, format: FloatFormat) -> Value {
    match HalfForm::of(format) {
        Some(HalfForm::Prefix) => {
            let fields =
                builder.binary_const(Binary::Shl, word, FloatFormat::F16.field_widths()[1] - format.field_widths()[1]);
            low_half(builder, fields, Element::F16)
        }
        Some(HalfForm::Scaled) => decode_scaled(builder, word, format, (FloatFormat::F16, Element::F16)),
        None => decode_in_single(builder, word, format),
    }
}

/// Converts an element, given as its encoding in a 32-bit word, to the 16-bit type `wide`: moves exponent and mantissa
/// to the fields of `wide`, and multiplies by a power of two, which also makes subnormal numbers normal.
/// [`is_scaled_form`] must hold.
fn decode_scaled(
    builder: &mut Builder,
    word: Value,
    format: FloatFormat,
    (wide, element): (FloatFormat, Element),
) -> Value {
    let ([exponent, mantissa, _], [_, wide_mantissa, _]) = (format.field_widths(), wide.field_widths());
    let top = 1u32 << (exponent + mantissa);
    let magnitude = builder.binary_const(Binary::And, word, top - 1);
    let magnitude = builder.binary_const(Binary::Shl, magnitude, wide_mantissa - mantissa);
    let sign = builder.binary_const(Binary::And, word, top);
    let sign = builder.binary_const(Binary::Shl, sign, 15 - exponent - mantissa);
    let fields = builder.binary(Binary::Or, magnitude, sign);
    let fields = low_half(builder, fields, element);
    // The power of two by which the number was divided: an exponent field without a mantissa.
    let scale = (2 * wide.bias() - format.bias()) as u64;
    let scale = builder.constant(Type::Scalar(element), scale << wide_mantissa);
    let number = builder.binary(Binary::FMul, fields, scale);
    let Some((bits, seen)) = format.single_nan() else { return number };
    let looked_at = builder.binary_const(Binary::And, word, seen as u32);
    let expected = builder.i32(bits as u32);
    let is_nan = builder.compare(Compare::Eq, looked_at, expected);
    // All bits of the exponent, and the first of the mantissa.
    let nan = builder.constant(Type::Scalar(element), 0x7fff >> (wide_mantissa - 1) << (wide_mantissa - 1));
    builder.select(is_nan, nan, number)
}

/// Reinterprets the low 16 bits of a word as a value of the 16-bit type `element`.
fn low_half(builder: &mut Builder, word: Value, element: Element) -> Value {
    let bits = builder.cast(Cast::Truncate, word, Type::Scalar(Element::I16));
    builder.cast(Cast::Bits, bits, Type::Scalar(element))
}

/// Converts an element of at most eight bits, given as its encoding in a 32-bit word, to an `f32` value. It moves the
/// fields of the encoding; a subnormal is computed as its mantissa times a power of two.
fn decode_in_single(builder: &mut Builder, word: Value, format: FloatFormat) -> Value {
    let [exponent, mantissa, _] = format.field_widths();
    if mantissa == 0 {
        return power_of_two(builder, word);
    }
    let top = 1u32 << (exponent + mantissa);
    let magnitude = builder.binary_const(Binary::And, word, top - 1);
    let fields = builder.binary_const(Binary::Shl, magnitude, 23 - mantissa);
    let normal = builder.binary_const(Binary::Add, fields, ((127 - format.bias()) as u32) << 23);
    let as_float = builder.cast(Cast::FloatU, magnitude, Type::Scalar(Element::F32));
    let step = (127 + 1 - format.bias() - mantissa as i32) as u64;
    let step = builder.constant(Type::Scalar(Element::F32), step << 23);
    let small = builder.binary(Binary::FMul, as_float, step);
    let small = builder.cast(Cast::Bits, small, WORD);
    let min = builder.i32(1 << mantissa);
    let is_small = builder.compare(Compare::LtU, magnitude, min);
    let mut number = builder.select(is_small, small, normal);
    if format.has_infinity() {
        let special = builder.binary_const(Binary::Or, fields, 0x7f80_0000);
        let greatest = builder.i32(top - (1 << mantissa));
        let is_finite = builder.compare(Compare::LtU, magnitude, greatest);
        number = builder.select(is_finite, number, special);
    }
    if let Some((bits, seen)) = format.single_nan() {
        let looked_at = builder.binary_const(Binary::And, word, seen as u32);
        let expected = builder.i32(bits as u32);
        let is_nan = builder.compare(Compare::Eq, looked_at, expected);
        let nan = builder.i32(0x7fc0_0000);
        number = builder.select(is_nan, nan, number);
    }
    if format.is_signed() {
        let sign = builder.binary_const(Binary::And, word, top);
        let sign = builder.binary_const(Binary::Shl, sign, 31 - exponent - mantissa);
        number = builder.binary(Binary::Or, number, sign);
    }
    builder.cast(Cast::Bits, number, SINGLE_TYPE)
}

/// Converts the encoding of an E8M0 element, a power of two (OCP MX specification, section 5.4.1), to an `f32` value.
/// The encoding is the exponent field of binary32, except that 0 denotes a subnormal, and the last encoding NaN.
fn power_of_two(builder: &mut Builder, word: Value) -> Value {
    let exponent = builder.binary_const(Binary::Shl, word, 23);
    let zero = builder.i32(0);
    let is_min = builder.compare(Compare::Eq, word, zero);
    let min = builder.i32(1 << 22);
    let power = builder.select(is_min, min, exponent);
    let last = builder.i32(0xff);
    let is_nan = builder.compare(Compare::Eq, word, last);
    let nan = builder.i32(0x7fc0_0000);
    let bits = builder.select(is_nan, nan, power);
    builder.cast(Cast::Bits, bits, SINGLE_TYPE)
}

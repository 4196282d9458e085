//! Casts to and from 8-bit formats whose encodings are the upper bytes of `f16` encodings (`e5m2`), several numbers in
//! a 32-bit word at a time. They need instructions that select bytes and that round two `f32` numbers to `f16`.

use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Unary, Value};
use tilewright_target::FloatFormat;

use super::widen::HalfForm;

const WORD: Type = Type::Scalar(Element::I32);
const PAIR: Type = Type::Vector(Element::F16, 2);

/// Bytes in a word.
pub(super) const BYTES: usize = 4;

/// Whether encodings of `format` are the upper bytes of `f16` encodings.
pub(super) fn is_upper_byte(format: FloatFormat) -> bool {
    let is_byte = format.is_signed() && format.field_widths()[..2].iter().sum::<u32>() == 7;
    is_byte && HalfForm::of(format) == Some(HalfForm::Prefix)
}

/// Selects two pairs of `f16` numbers from the bytes of two words, and returns the pairs.
pub(super) fn select_pairs(builder: &mut Builder, [a, b]: [Value; 2], selectors: [u16; 2]) -> [Value; 2] {
    selectors.map(|selector| {
        let pair = builder.permute_bytes(a, b, selector);
        builder.cast(Cast::Bits, pair, PAIR)
    })
}

/// Converts encodings to `f16` numbers, exactly. Their number must be a multiple of four.
pub(super) fn emit_extend(builder: &mut Builder, encodings: &[Value]) -> Vec<Value> {
    let zero = builder.i32(0);
    let pairs = encodings.chunks(BYTES).flat_map(|four| {
        let packed = builder.pack(four);
        let packed = builder.cast(Cast::Bits, packed, WORD);
        select_pairs(builder, [packed, zero], [0x1404, 0x3424])
    });
    let pairs: Vec<Value> = pairs.collect();
    pairs.into_iter().flat_map(|pair| [0, 1].map(|index| builder.extract(pair, index))).collect()
}

/// Rounds numbers of one type (`f16`, `bf16` or `f32`) to encodings, to nearest even and saturating.
pub(super) fn emit_round(builder: &mut Builder, numbers: &[Value]) -> Vec<Value> {
    let mut encodings = Vec::with_capacity(numbers.len());
    for four in numbers.chunks(BYTES) {
        let words: Vec<Value> =
            four.chunks(2).map(|pair| round_pair(builder, [pair[0], pair[pair.len() - 1]])).collect();
        let bytes = builder.permute_bytes(words[0], words[words.len() - 1], 0x7531);
        let bytes = builder.cast(Cast::Bits, bytes, Type::Vector(Element::I8, BYTES as u32));
        encodings.extend((0u32..).zip(four).map(|(index, _)| builder.extract(bytes, index)));
    }
    encodings
}

/// Rounds two numbers; returns a word with the encodings in the upper bytes of its halves.
fn round_pair(builder: &mut Builder, numbers: [Value; 2]) -> Value {
    const SIGNS: u32 = 0x8000_8000;
    let pair = to_half_pair(builder, numbers);
    let magnitudes = builder.unary(Unary::FAbs, pair);
    // The greatest finite number replaces greater ones and NaN.
    let greatest = builder.constant(Type::Scalar(Element::F16), 0x7b00);
    let greatest = builder.pack(&[greatest, greatest]);
    let finite = builder.binary(Binary::FMinNumber, magnitudes, greatest);
    let finite = builder.cast(Cast::Bits, finite, WORD);
    let last_bits = builder.binary_const(Binary::ShrU, finite, 8);
    let last_bits = builder.binary_const(Binary::And, last_bits, 0x0001_0001);
    let rounded = builder.binary_const(Binary::Add, finite, 0x007f_007f);
    let rounded = builder.binary(Binary::Add, rounded, last_bits);
    // A sum with a NaN's magnitude sets the bit above the magnitude. Moved to the bit that the greatest number lacks in
    // its exponent, it makes a NaN of that number.
    let magnitudes = builder.cast(Cast::Bits, magnitudes, WORD);
    let above_infinity = builder.binary_const(Binary::Add, magnitudes, 0x03ff_03ff);
    let nan = builder.binary_const(Binary::ShrU, above_infinity, 5);
    let nan = builder.binary_const(Binary::And, nan, SIGNS >> 5);
    let rounded = builder.binary(Binary::Or, rounded, nan);
    let word = builder.cast(Cast::Bits, pair, WORD);
    let signs = builder.binary_const(Binary::And, word, SIGNS);
    builder.binary(Binary::Or, rounded, signs)
}

/// Converts two numbers to `f16` so that rounding the result to the narrow format equals rounding the numbers to it.
fn to_half_pair(builder: &mut Builder, numbers: [Value; 2]) -> Value {
    let element = builder.type_of(numbers[0]).element();
    if element == Some(Element::F16) {
        return builder.pack(&numbers);
    }
    let singles = numbers.map(|number| {
        let single = builder.cast(Cast::ExtendF, number, Type::Scalar(Element::F32));
        // The low half of a `bf16` number is zero.
        if element == Some(Element::F32) { keep_low_half(builder, single) } else { single }
    });
    let singles = builder.pack(&singles);
    builder.cast(Cast::RoundZ, singles, PAIR)
}

/// Sets the lowest bit of the upper half of an `f32` number if any bit of the lower half is set. Rounding toward zero
/// to `f16` keeps this bit unless the number rounds to zero.
fn keep_low_half(builder: &mut Builder, number: Value) -> Value {
    let bits = builder.cast(Cast::Bits, number, WORD);
    let carried = builder.binary_const(Binary::Add, bits, 0xffff);
    let carry = builder.binary_const(Binary::And, carried, 0x1_0000);
    let kept = builder.binary(Binary::Or, bits, carry);
    builder.cast(Cast::Bits, kept, Type::Scalar(Element::F32))
}

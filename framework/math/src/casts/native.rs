//! Casts of scalars and vectors that only some targets have instructions for: between 8-bit floating-point formats and
//! wider types, of integers to `bf16`, of `f32` to 16-bit types toward zero or in pairs, and of bytes to `f16` by byte
//! permutes.

use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};
use tilewright_target::{FloatFormat, TargetDescription};

use super::upper_byte::{self, is_upper_byte};

/// Max number of elements that one cast instruction converts: as many as a 32-bit register has bytes.
const ELEMENTS: usize = upper_byte::BYTES;

/// The wider types that casts of 8-bit formats convert from or to, in order of preference. If the target has no cast to
/// the required type, [`NativeCasts::extend`] casts to the first of these types that it has a cast to, and converts the
/// result.
const WIDE: [Element; 3] = [Element::F16, Element::F32, Element::Bf16];

/// The set of casts for which a target has instructions, among those that not every target has: between 8-bit
/// floating-point formats and wider types, of 32-bit integers to `bf16`, and of `f32` to 16-bit types toward zero, or
/// of two numbers at a time. A cast that is not in the set is computed by arithmetic, or number by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NativeCasts {
    /// A bit set: the bit `WIDE.len() * cast + wide` is set if the target has the cast. The cast is an index into
    /// `Cast::ALL`, the wider type an index into [`WIDE`].
    listed: u64,
    /// Whether the target multiplies `bf16` numbers by instructions. Others multiply in `f32` and round.
    multiplies_bf16: bool,
    /// Whether the target selects bytes by one instruction.
    permutes_bytes: bool,
}

impl NativeCasts {
    /// Returns the casts that a target's description lists among its native functions.
    #[must_use]
    pub fn from_target(target: &TargetDescription) -> Self {
        let all = Cast::ALL.iter().flat_map(|&cast| WIDE.map(|element| (cast, element)));
        let is_listed =
            |&(cast, element): &(Cast, Element)| target.find_native_function(cast.name(), element.name()).is_some();
        Self {
            listed: all.filter(is_listed).map(|(cast, element)| Self::bit(cast, element)).sum(),
            multiplies_bf16: target.find_native_function(Binary::FMul.name(), Element::Bf16.name()).is_some(),
            permutes_bytes: target.costs.permute.cycles <= target.costs.select.cycles,
        }
    }

    fn bit(cast: Cast, element: Element) -> u64 {
        let at = WIDE.iter().position(|&wide| wide == element).unwrap_or(0);
        let number = Cast::ALL.iter().position(|&known| known == cast).unwrap_or(0);
        1 << (number * WIDE.len() + at)
    }

    /// Whether the target has an instruction for a cast between `element` and the other type of the cast.
    #[must_use]
    pub fn is_native(self, cast: Cast, element: Element) -> bool {
        WIDE.contains(&element) && self.listed & Self::bit(cast, element) != 0
    }

    /// Whether the target has an instruction that multiplies `bf16` numbers.
    #[must_use]
    pub fn multiplies_bf16(self) -> bool {
        self.multiplies_bf16
    }

    /// Converts encodings of the 8-bit format `from` to the wider type `to`, which represents all of them. `None` if
    /// the target has no instruction for this cast, and no byte permutes that do it for several at once.
    pub fn extend(self, builder: &mut Builder, bytes: &[Value], from: FloatFormat, to: Element) -> Option<Vec<Value>> {
        let cast = Cast::extend_from_format(from).filter(|_| WIDE.contains(&to))?;
        let Some(through) = [to].into_iter().chain(WIDE).find(|&element| self.is_native(cast, element)) else {
            let is_packed = self.permutes_bytes && bytes.len().is_multiple_of(ELEMENTS) && is_upper_byte(from);
            let numbers = is_packed.then(|| upper_byte::emit_extend(builder, bytes))?;
            return Some(numbers.into_iter().map(|number| resized(builder, number, to)).collect());
        };
        Some(by_vectors(builder, bytes, |builder, vector| {
            let count = builder.type_of(vector).element_count();
            let wide = builder.cast(cast, vector, Type::vector_or_scalar(through, count));
            resized(builder, wide, to)
        }))
    }

    /// Converts 8-bit integers to `f16`, exactly and four at a time; `None` if the number of integers is no multiple of
    /// four, or if the target has no instruction that selects bytes. Each byte becomes the low half of an `f16` between
    /// 1024 and 2048, where a unit in the last place is one, and a subtraction removes the 1024.
    pub fn convert_bytes(self, builder: &mut Builder, bytes: &[Value], signed: bool) -> Option<Vec<Value>> {
        let (integer, word) = (Type::Scalar(Element::I8), Type::Scalar(Element::I32));
        let is_packed = self.permutes_bytes && bytes.len().is_multiple_of(ELEMENTS);
        if !is_packed || bytes.iter().any(|&byte| builder.type_of(byte) != integer) {
            return None;
        }
        // The sign bit, inverted, adds 128 to a signed integer.
        let (flipped, excess) = if signed { (0x8080_8080, 0xe480) } else { (0, 0xe400) };
        let excess = builder.constant(Type::Scalar(Element::F16), excess);
        let excess = builder.pack(&[excess, excess]);
        let upper = builder.i32(0x6464_6464);
        let pairs = bytes.chunks(ELEMENTS).flat_map(|four| {
            let packed = builder.pack(four);
            let packed = builder.cast(Cast::Bits, packed, word);
            let packed = builder.binary_const(Binary::Xor, packed, flipped);
            let pairs = upper_byte::select_pairs(builder, [packed, upper], [0x4140, 0x4342]);
            pairs.map(|pair| builder.binary(Binary::FAdd, pair, excess))
        });
        let pairs: Vec<Value> = pairs.collect();
        Some(pairs.into_iter().flat_map(|pair| [0, 1].map(|index| builder.extract(pair, index))).collect())
    }

    /// Rounds `f32` numbers to a 16-bit type, to nearest even and two at a time; `None` if the target has no instruction
    /// for this, or if a number has no partner.
    pub fn round_pairs(self, builder: &mut Builder, numbers: &[Value], to: Element) -> Option<Vec<Value>> {
        let is_single = numbers.iter().all(|&number| builder.type_of(number) == Type::Scalar(Element::F32));
        let are_pairs = is_single && numbers.len().is_multiple_of(2);
        (are_pairs && self.is_native(Cast::RoundF, to)).then(|| {
            let pairs = numbers.chunks(2).flat_map(|pair| {
                let pair = builder.pack(pair);
                let rounded = builder.cast(Cast::RoundF, pair, Type::Vector(to, 2));
                [0, 1].map(|index| builder.extract(rounded, index))
            });
            pairs.collect()
        })
    }

    /// Rounds `f32` numbers to a 16-bit type, toward zero; `None` if the target has no instruction for this cast.
    pub fn round_toward_zero(self, builder: &mut Builder, numbers: &[Value], to: Element) -> Option<Vec<Value>> {
        let is_single = numbers.iter().all(|&number| builder.type_of(number) == Type::Scalar(Element::F32));
        (is_single && self.is_native(Cast::RoundZ, to)).then(|| {
            by_vectors(builder, numbers, |builder, vector| {
                let count = builder.type_of(vector).element_count();
                builder.cast(Cast::RoundZ, vector, Type::vector_or_scalar(to, count))
            })
        })
    }

    /// Rounds numbers of one type (`f16`, `bf16` or `f32`) to encodings of the 8-bit format `to`; `None` if the target
    /// has no instruction for this cast, and none to round several at once by words.
    pub fn round(self, builder: &mut Builder, numbers: &[Value], to: FloatFormat) -> Option<Vec<Value>> {
        let from = numbers.first().and_then(|&number| builder.type_of(number).element())?;
        let cast = Cast::round_to_format(to).filter(|_| WIDE.contains(&from))?;
        let Some(through) = [from, Element::F32].into_iter().find(|&element| self.is_native(cast, element)) else {
            let is_packed = self.permutes_bytes && self.is_native(Cast::RoundZ, Element::F16) && is_upper_byte(to);
            return is_packed.then(|| upper_byte::emit_round(builder, numbers));
        };
        Some(by_vectors(builder, numbers, |builder, vector| {
            let wide = resized(builder, vector, through);
            builder.cast(cast, wide, Type::vector_or_scalar(Element::I8, builder.type_of(wide).element_count()))
        }))
    }
}

/// Packs scalars in vectors of at most [`ELEMENTS`] elements, applies `convert` to each vector, and returns the
/// elements of its results, in the order of `values`.
fn by_vectors(builder: &mut Builder, values: &[Value], convert: impl Fn(&mut Builder, Value) -> Value) -> Vec<Value> {
    let mut all = Vec::with_capacity(values.len());
    let mut rest = values;
    while !rest.is_empty() {
        let count = 1usize << rest.len().min(ELEMENTS).ilog2();
        let (own, others) = rest.split_at(count);
        let vector = builder.pack(own);
        let converted = convert(builder, vector);
        all.extend((0..count as u32).map(|index| builder.extract(converted, index)));
        rest = others;
    }
    all
}

/// Converts a scalar or vector of `f16`, `bf16` or `f32` numbers to the element type `to`, which must represent the
/// numbers.
fn resized(builder: &mut Builder, value: Value, to: Element) -> Value {
    let ty = builder.type_of(value);
    let required = |element| Type::vector_or_scalar(element, ty.element_count());
    if ty == required(to) {
        return value;
    }
    let single = if ty.element() == Some(Element::F32) {
        value
    } else {
        builder.cast(Cast::ExtendF, value, required(Element::F32))
    };
    if to == Element::F32 { single } else { builder.cast(Cast::RoundF, single, required(to)) }
}

//! Converts the elements of an operand from the loaded values to the values that the atom takes: unpacks bytes, casts,
//! scales, and packs.

use tilewright_kernel::{Binary, Builder, Cast, Element, SpecialRegister, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, FloatFormat};

use super::cast::{self, NativeCasts};
use super::operands::Operands;
use super::scale::BlockScale;
use crate::movement::emit_f2_product;

const WORD: Type = Type::Scalar(Element::I32);
const SINGLE: ElementType = ElementType::Float(FloatFormat::F32);

/// One element of a matrix in a kernel value: the bits of `value` from bit `at` on. Bits above the element are
/// undefined.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedElement {
    pub value: Value,
    pub at: u32,
}

impl PackedElement {
    /// Creates the element that fills `value`, from bit 0 on.
    pub(super) fn from_value(value: Value) -> Self {
        Self { value, at: 0 }
    }

    /// Emits the shift of the element to the low bits of a value.
    pub(super) fn low(self, builder: &mut Builder) -> Value {
        if self.at == 0 { self.value } else { by_constant(builder, Binary::ShrU, self.value, self.at) }
    }
}

/// The conversion of an operand's elements from their type in memory to the type that the MMA atom takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementConversion {
    pub from: ElementType,
    pub to: ElementType,
    /// The scales that multiply the elements before the cast; `None` for an operand without scales.
    pub scale: Option<BlockScale>,
    /// The axis of the operand along which K runs: 0 or 1.
    pub k_axis: usize,
    /// Cast instructions of the target; casts without one are emitted as plain arithmetic.
    pub native: NativeCasts,
}

impl ElementConversion {
    /// Emits the conversion of elements to the atom's type: unpacks, scales and casts them. `values` has the loaded
    /// value for each register of the elements' layout, and `scales` its scale; the result has one element for each
    /// register.
    pub(super) fn emit(
        &self,
        builder: &mut Builder,
        layout: &LinearLayout,
        values: &[Value],
        scales: &[Value],
    ) -> Vec<PackedElement> {
        let packed_elements = unpacked(builder, values, layout, self.k_axis, self.from);
        match self.scale {
            Some(scale) => self.scaled(builder, &packed_elements, scales, scale),
            None => self.cast_all(builder, &packed_elements),
        }
    }

    /// Casts elements to the atom's type.
    fn cast_all(&self, builder: &mut Builder, packed_elements: &[PackedElement]) -> Vec<PackedElement> {
        if self.from == self.to {
            return packed_elements.to_vec();
        }
        let values: Vec<Value> = packed_elements.iter().map(|element| element.low(builder)).collect();
        if self.takes_upper_half() {
            let singles = cast::emit_casts(builder, self.native, &values, (self.from, SINGLE));
            return singles.into_iter().map(|bits| upper_half(builder, bits)).collect();
        }
        let cast = cast::emit_casts(builder, self.native, &values, (self.from, self.to));
        cast.into_iter().map(PackedElement::from_value).collect()
    }

    /// Whether the elements of the atom are the upper halves of the elements in binary32: `bf16` represents all of
    /// them, scaled ones too, and the target has no instruction that rounds to `bf16`.
    fn takes_upper_half(&self) -> bool {
        let is_exact = match (self.from, self.scale.map(BlockScale::min_exponent)) {
            // The caller scales only elements whose products have few enough digits.
            (ElementType::Float(from), Some(scale)) => {
                scale.is_some_and(|scale| from.min_exponent() + scale >= FloatFormat::BF16.min_exponent())
            }
            _ => true,
        };
        is_exact
            && self.to == ElementType::Float(FloatFormat::BF16)
            && !self.native.is_native(Cast::RoundZ, Element::Bf16)
    }

    /// Emits, for each element, its product with its scale in the type that the atom takes. It is computed in that type
    /// if the target multiplies such numbers, or else in binary32 and rounded.
    fn scaled(
        &self,
        builder: &mut Builder,
        packed_elements: &[PackedElement],
        scales: &[Value],
        scale: BlockScale,
    ) -> Vec<PackedElement> {
        let Some(format) = scale.format() else { return packed_elements.to_vec() };
        let values: Vec<Value> = packed_elements.iter().map(|element| element.low(builder)).collect();
        let element = self.product_element(format);
        let values = match element {
            Element::F32 => self.exact_numbers(builder, &values),
            _ => self.cast_numbers(builder, &values, element),
        };
        // Registers that share a scale share its decoded value.
        let mut known: Vec<(Value, Value)> = Vec::new();
        let mut all = Vec::with_capacity(packed_elements.len());
        for (value, &bits) in values.into_iter().zip(scales) {
            let decoded_scale = match known.iter().find(|(given, _)| *given == bits) {
                Some(&(_, decoded_scale)) => decoded_scale,
                None => {
                    let decoded_scale = decoded(builder, bits, format);
                    let decoded_scale = match element {
                        Element::F32 => decoded_scale,
                        _ => builder.cast(Cast::RoundF, decoded_scale, Type::Scalar(element)),
                    };
                    known.push((bits, decoded_scale));
                    decoded_scale
                }
            };
            let product = builder.binary(Binary::FMul, value, decoded_scale);
            all.push(if element == Element::F32 && self.takes_upper_half() {
                let bits = builder.cast(Cast::Bits, product, WORD);
                upper_half(builder, bits)
            } else {
                PackedElement::from_value(cast::emit_exact_cast_bits(builder, product, self.to))
            });
        }
        all
    }

    /// Returns the type of the products of elements and scales: `bf16` if the target has an instruction for it and the
    /// atom takes `bf16`, or else `f32`. A `bf16` product of an element and a power of two is rounded once, as that in
    /// `f32` is.
    fn product_element(&self, scale: FloatFormat) -> Element {
        let is_bf16 = cast::kernel_element(self.to) == Some(Element::Bf16) && self.from.is_representable_in(self.to);
        // Scales without a mantissa are powers of two.
        let is_power = scale.field_widths()[1] == 0;
        if is_bf16 && is_power && self.native.multiplies_bf16() { Element::Bf16 } else { Element::F32 }
    }

    /// Emits the conversion of elements to the type of the atom, as numbers of the kernel IR's type `element`.
    fn cast_numbers(&self, builder: &mut Builder, values: &[Value], element: Element) -> Vec<Value> {
        let bits = cast::emit_casts(builder, self.native, values, (self.from, self.to));
        bits.into_iter().map(|bits| builder.cast(Cast::Bits, bits, Type::Scalar(element))).collect()
    }

    /// Emits the conversion of elements to binary32, which is exact.
    fn exact_numbers(&self, builder: &mut Builder, values: &[Value]) -> Vec<Value> {
        let by_instructions = match self.from {
            ElementType::Float(format) => self.native.extend(builder, values, format, Element::F32),
            ElementType::Integer { .. } => None,
        };
        by_instructions
            .unwrap_or_else(|| values.iter().map(|&value| cast::emit_widen_to_f32(builder, value, self.from)).collect())
    }
}

/// Emits the upper half of the bits of a binary32 number, which is the number if `bf16` represents it.
fn upper_half(builder: &mut Builder, bits: Value) -> PackedElement {
    let high = builder.binary_const(Binary::ShrU, bits, 16);
    PackedElement::from_value(builder.cast(Cast::Truncate, high, Type::Scalar(Element::I16)))
}

/// Emits the operation `op` on `value` and a constant of the same type.
fn by_constant(builder: &mut Builder, op: Binary, value: Value, constant: u32) -> Value {
    let ty = builder.type_of(value);
    let constant = builder.constant(ty, constant.into());
    builder.binary(op, value, constant)
}

/// Log2 of the number of elements in a byte of memory; 0 for elements of a byte or more.
pub(super) fn in_byte(element_type: ElementType) -> u32 {
    (8 / element_type.stored_bits().min(8)).trailing_zeros()
}

/// Returns one element for each register of a layout. `bytes` has, for each register, the loaded byte that contains its
/// element; register bits, and lane bits that move within a byte along K (the axis `k_axis`), select the element in the
/// byte. An element of a byte or more is the whole loaded value.
fn unpacked(
    builder: &mut Builder,
    bytes: &[Value],
    layout: &LinearLayout,
    k_axis: usize,
    element_type: ElementType,
) -> Vec<PackedElement> {
    let bits = in_byte(element_type);
    if bits == 0 {
        return bytes.iter().copied().map(PackedElement::from_value).collect();
    }
    let within = |dim| -> Vec<u64> {
        let k = |&column: &u64| layout.outs().coordinate(column, Dim::tensor(k_axis)) & ((1 << bits) - 1);
        layout.columns_of(dim).iter().map(k).collect()
    };
    let (registers, lanes) = (within(Dim::REGISTER), within(Dim::LANE));
    let width = element_type.stored_bits();
    let of_lane = emit_lane_xor(builder, &lanes);
    let mut packed_elements = Vec::with_capacity(bytes.len());
    for (register, &byte) in (0u64..).zip(bytes) {
        let own = tilewright_layout::f2::multiply_vector(&registers, register) as u32;
        packed_elements.push(match of_lane {
            None => PackedElement { value: byte, at: own * width },
            Some(of_lane) => {
                let index = builder.binary_const(Binary::Xor, of_lane, own);
                let shift = builder.binary_const(Binary::Mul, index, width);
                let shift = builder.cast(Cast::Truncate, shift, Type::Scalar(Element::I8));
                PackedElement::from_value(builder.binary(Binary::ShrU, byte, shift))
            }
        });
    }
    packed_elements
}

/// Emits the xor of the entries of `lanes` at the set bits of the current lane's index; `None` if all entries are zero.
pub(super) fn emit_lane_xor(builder: &mut Builder, lanes: &[u64]) -> Option<Value> {
    lanes.iter().any(|&column| column != 0).then(|| {
        let lane = builder.special(SpecialRegister::Lane);
        emit_f2_product(builder, lane, lanes)
    })
}

/// Emits the binary32 number that a scale of the type `format` encodes.
fn decoded(builder: &mut Builder, value: Value, format: FloatFormat) -> Value {
    let word = builder.cast(Cast::ExtendU, value, WORD);
    cast::emit_decode_to_f32(builder, word, format)
}

/// Emits one value that packs these elements as the atom takes them: each as wide as the operand's elements are in a
/// register, the first in the low bits.
pub(super) fn packed(builder: &mut Builder, packed_elements: &[PackedElement], operands: &Operands) -> Value {
    if !operands.bits.is_power_of_two() {
        return across_words(builder, packed_elements, operands.bits);
    }
    if operands.bits < 8 {
        let in_byte = (8 / operands.bits) as usize;
        let bytes: Vec<Value> =
            packed_elements.chunks(in_byte).map(|own| byte_of(builder, own, operands.bits)).collect();
        return builder.pack(&bytes);
    }
    let integer_type = Type::Scalar(Element::integer_of_width(operands.bits).unwrap_or(Element::I32));
    let mut wide = Vec::with_capacity(packed_elements.len());
    for packed_element in packed_elements {
        let element = packed_element.low(builder);
        let element = match operands.element_type.bits() {
            bits if bits < 8 => by_constant(builder, Binary::And, element, (1 << bits) - 1),
            _ => element,
        };
        wide.push(builder.cast(Cast::ExtendU, element, integer_type));
    }
    builder.pack(&wide)
}

/// Emits the packing of elements into 32-bit words, for a width of `bits` bits that is no power of two, so that some
/// elements straddle two words.
fn across_words(builder: &mut Builder, packed_elements: &[PackedElement], bits: u32) -> Value {
    let count = (packed_elements.len() as u32 * bits).div_ceil(32).next_power_of_two();
    let mut words = vec![builder.i32(0); count as usize];
    for (index, packed_element) in (0u32..).zip(packed_elements) {
        let element = packed_element.low(builder);
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

/// Emits a byte that packs elements of `bits` bits. If a loaded byte consists of exactly these elements in order, that
/// byte is returned, and nothing is emitted.
fn byte_of(builder: &mut Builder, packed_elements: &[PackedElement], bits: u32) -> Value {
    let first = packed_elements[0].value;
    let as_loaded = (0..)
        .zip(packed_elements)
        .all(|(index, packed_element)| packed_element.value == first && packed_element.at == index * bits);
    if as_loaded && packed_elements.len() as u32 * bits == 8 {
        return first;
    }
    let mut byte = builder.constant(Type::Scalar(Element::I8), 0);
    for (index, packed_element) in (0u32..).zip(packed_elements) {
        let own = packed_element.low(builder);
        let own = by_constant(builder, Binary::And, own, (1 << bits) - 1);
        let own = by_constant(builder, Binary::Shl, own, index * bits);
        byte = builder.binary(Binary::Or, byte, own);
    }
    byte
}

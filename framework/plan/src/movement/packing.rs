//! Packed vector accesses: several elements as the wide integers that one memory access takes.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::address::integer;

/// Returns the type by which one memory access moves `count` elements. Narrow elements become 32-bit words, or one
/// narrower integer if they fill less than a word; a single element, and elements of 32 bits or more, keep their type.
pub(super) fn wide_type(element: Element, count: u32) -> Type {
    match element.bits() * count {
        bits if element.bits() >= 32 || count == 1 => Type::vector_or_scalar(element, bits / element.bits()),
        bits @ ..=32 => integer(bits),
        bits => Type::Vector(Element::I32, bits / 32),
    }
}

/// Packs elements into one value of the type that [`wide_type`] returns for them.
pub(super) fn widened(builder: &mut Builder, elements: &[Value]) -> Value {
    let packed = builder.pack(elements);
    let ty = builder.type_of(packed);
    let wide = ty.element().map_or(ty, |element| wide_type(element, ty.element_count()));
    builder.cast(Cast::Bits, packed, wide)
}

/// Unpacks `count` elements from a value of the type that [`wide_type`] returns for them.
pub(super) fn narrowed(builder: &mut Builder, value: Value, element: Element, count: u32) -> Vec<Value> {
    let vector = builder.cast(Cast::Bits, value, Type::vector_or_scalar(element, count));
    (0..count).map(|index| builder.extract(vector, index)).collect()
}

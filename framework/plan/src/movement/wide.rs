//! Elements as the wide values in which they cross to memory.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::address::integer;

/// The type in which a vector of elements crosses to memory: 32-bit words where it has any.
pub(super) fn wide_type(element: Element, count: u32) -> Type {
    match element.bits() * count {
        bits if element.bits() >= 32 || count == 1 => Type::of(element, bits / element.bits()),
        bits @ ..=32 => integer(bits),
        bits => Type::Vector(Element::I32, bits / 32),
    }
}

/// Elements as one value of their [`wide_type`].
pub(super) fn widened(builder: &mut Builder, elements: &[Value]) -> Value {
    let packed = builder.pack(elements);
    let ty = builder.type_of(packed);
    let wide = ty.element().map_or(ty, |element| wide_type(element, ty.count()));
    builder.cast(Cast::Bits, packed, wide)
}

/// The elements of a value of their [`wide_type`].
pub(super) fn narrowed(builder: &mut Builder, value: Value, element: Element, count: u32) -> Vec<Value> {
    let vector = builder.cast(Cast::Bits, value, Type::of(element, count));
    (0..count).map(|index| builder.extract(vector, index)).collect()
}

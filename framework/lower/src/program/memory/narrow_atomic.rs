//! Atomic operations that no target has: on elements of 8 and 16 bits those of 32 bits are exchanged with what is around them, wider
//! elements by themselves, again until nobody came between.

use tilewright_kernel::{
    Atomic, Binary, Builder, Cast, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value,
};

use super::store::both;

/// What an atomic operation says of memory.
#[derive(Clone, Copy)]
pub(in super::super) struct Ordered {
    pub order: MemoryOrder,
    pub scope: MemoryScope,
}

/// An element within what is exchanged.
struct Place {
    word: Value,
    /// The type of what is exchanged.
    whole: Type,
    /// Of an element within four bytes, how far it is shifted up, and the bits that it has there.
    within: Option<(Value, Value)>,
    ty: Type,
}

const WORD: Type = Type::Scalar(Element::I32);

/// Gives an element, an integer, what `next` makes of the one that is there; what was there.
pub(in super::super) fn changed(
    builder: &mut Builder,
    (pointer, ty): (Value, Type),
    predicate: Option<Value>,
    Ordered { order, scope }: Ordered,
    next: impl FnOnce(&mut Builder, Value) -> Value,
) -> Value {
    let place = Place::of(builder, pointer, ty);
    let nothing = builder.constant(place.whole, 0);
    let read = KernelOp::AtomicRmw { op: Atomic::Or, pointer: place.word, value: nothing, predicate, order, scope };
    let first = builder.value(place.whole, read);
    let expected = builder.begin_region(&[place.whole])[0];
    let old = place.element(builder, expected);
    let new = next(builder, old);
    let value = place.with(builder, expected, new);
    let exchange = KernelOp::AtomicCompareExchange { pointer: place.word, expected, value, predicate, order, scope };
    let found = builder.value(place.whole, exchange);
    let differs = builder.compare(Compare::Ne, found, expected);
    // Those that do not take part see zero, and go round no more.
    let goes_on = both(builder, predicate, Some(differs)).unwrap_or(differs);
    let body = builder.end_region(&[goes_on, found]);
    let last = builder.while_loop(&[first], body)[0];
    place.element(builder, last)
}

/// What an operation on integers makes of two.
pub(in super::super) fn combined(builder: &mut Builder, kind: Atomic, old: Value, value: Value) -> Value {
    let (op, is_less) = match kind {
        Atomic::Add => return builder.binary(Binary::Add, old, value),
        Atomic::And => return builder.binary(Binary::And, old, value),
        Atomic::Or => return builder.binary(Binary::Or, old, value),
        Atomic::Xor => return builder.binary(Binary::Xor, old, value),
        Atomic::Exchange | Atomic::FAdd => return value,
        Atomic::MinS => (Compare::LtS, true),
        Atomic::MaxS => (Compare::LtS, false),
        Atomic::MinU => (Compare::LtU, true),
        Atomic::MaxU => (Compare::LtU, false),
    };
    let less = builder.compare(op, old, value);
    if is_less { builder.select(less, old, value) } else { builder.select(less, value, old) }
}

impl Place {
    fn of(builder: &mut Builder, pointer: Value, ty: Type) -> Self {
        if ty.bits() >= WORD.bits() {
            return Self { word: pointer, whole: ty, within: None, ty };
        }
        let width = builder.type_of(pointer).bits();
        let address = Type::Scalar(Element::integer(width).unwrap_or(Element::I64));
        let mut low = builder.cast(Cast::Bits, pointer, address);
        if width > 32 {
            low = builder.cast(Cast::Truncate, low, WORD);
        }
        let low = builder.binary_const(Binary::And, low, 3);
        let shift = builder.binary_const(Binary::Shl, low, 3);
        let zero = builder.constant(WORD, 0);
        let back = builder.binary(Binary::Sub, zero, low);
        let word = builder.advance(pointer, back);
        let ones = builder.constant(WORD, (1 << ty.bits()) - 1);
        let mask = builder.binary(Binary::Shl, ones, shift);
        Self { word, whole: WORD, within: Some((shift, mask)), ty }
    }

    fn element(&self, builder: &mut Builder, word: Value) -> Value {
        let Some((shift, _)) = self.within else { return word };
        let low = builder.binary(Binary::ShrU, word, shift);
        builder.cast(Cast::Truncate, low, self.ty)
    }

    /// The word with another element.
    fn with(&self, builder: &mut Builder, word: Value, element: Value) -> Value {
        let Some((shift, mask)) = self.within else { return element };
        let element = builder.cast(Cast::ExtendU, element, WORD);
        let element = builder.binary(Binary::Shl, element, shift);
        let ones = builder.constant(WORD, u64::from(u32::MAX));
        let others = builder.binary(Binary::Xor, mask, ones);
        let kept = builder.binary(Binary::And, word, others);
        builder.binary(Binary::Or, kept, element)
    }
}

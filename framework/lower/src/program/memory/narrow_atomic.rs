//! Atomic operations by compare-and-swap loops. Elements of 8 and 16 bits are swapped within their 32-bit word, wider
//! elements alone.

use tilewright_kernel::{
    Atomic, Binary, Builder, Cast, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value,
};

use super::store::both;

/// The memory order and scope of an atomic operation.
#[derive(Clone, Copy)]
pub(in super::super) struct Ordered {
    pub order: MemoryOrder,
    pub scope: MemoryScope,
}

impl Ordered {
    /// Whether accesses before the operation are ordered before it.
    pub(super) fn releases(self) -> bool {
        matches!(self.order, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }

    /// Whether accesses after the operation are ordered after it.
    pub(super) fn acquires(self) -> bool {
        matches!(self.order, MemoryOrder::Acquire | MemoryOrder::AcquireRelease)
    }
}

/// The position of an element in the word that a compare-and-swap exchanges.
struct WordElement {
    word: Value,
    /// The type of the exchanged word.
    word_type: Type,
    /// The kernel values of the shift in bits and of the mask that select the element within the word; `None` for an
    /// element that fills the word.
    within: Option<(Value, Value)>,
    ty: Type,
}

const WORD: Type = Type::Scalar(Element::I32);

/// Emits a loop that atomically replaces an integer element in memory by the value that `next` computes from it;
/// returns the old element.
pub(in super::super) fn emit_compare_and_swap_loop(
    builder: &mut Builder,
    (pointer, ty): (Value, Type),
    predicate: Option<Value>,
    Ordered { order, scope }: Ordered,
    next: impl FnOnce(&mut Builder, Value) -> Value,
) -> Value {
    let in_word = WordElement::of(builder, pointer, ty);
    let nothing = builder.constant(in_word.word_type, 0);
    let read = KernelOp::AtomicRmw { op: Atomic::Or, pointer: in_word.word, value: nothing, predicate, order, scope };
    let first = builder.value(in_word.word_type, read);
    let expected = builder.begin_region(&[in_word.word_type])[0];
    let old = in_word.element(builder, expected);
    let new = next(builder, old);
    let value = in_word.with(builder, expected, new);
    let exchange = KernelOp::AtomicCompareExchange { pointer: in_word.word, expected, value, predicate, order, scope };
    let found = builder.value(in_word.word_type, exchange);
    let differs = builder.compare(Compare::Ne, found, expected);
    // Predicated-off lanes read zero, and leave the loop.
    let repeats = both(builder, predicate, Some(differs)).unwrap_or(differs);
    let body = builder.end_region(&[repeats, found]);
    let last = builder.while_loop(&[first], body)[0];
    in_word.element(builder, last)
}

/// Emits the result of an atomic operation on integers: the combination of the old value in memory with the operand
/// `value`.
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

impl WordElement {
    fn of(builder: &mut Builder, pointer: Value, ty: Type) -> Self {
        if ty.bits() >= WORD.bits() {
            return Self { word: pointer, word_type: ty, within: None, ty };
        }
        let width = builder.type_of(pointer).bits();
        let address = Type::Scalar(Element::integer_of_width(width).unwrap_or(Element::I64));
        let mut low = builder.cast(Cast::Bits, pointer, address);
        if width > 32 {
            low = builder.cast(Cast::Truncate, low, WORD);
        }
        let low = builder.binary_const(Binary::And, low, 3);
        let shift = builder.binary_const(Binary::Shl, low, 3);
        let zero = builder.constant(WORD, 0);
        let back = builder.binary(Binary::Sub, zero, low);
        let word = builder.ptr_add(pointer, back);
        let ones = builder.constant(WORD, (1 << ty.bits()) - 1);
        let mask = builder.binary(Binary::Shl, ones, shift);
        Self { word, word_type: WORD, within: Some((shift, mask)), ty }
    }

    fn element(&self, builder: &mut Builder, word: Value) -> Value {
        let Some((shift, _)) = self.within else { return word };
        let low = builder.binary(Binary::ShrU, word, shift);
        builder.cast(Cast::Truncate, low, self.ty)
    }

    /// Emits the word `word` with this element replaced by the value `element`.
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

//! Arithmetic of atomic operations.

use super::bits::sign_extend;
use super::float::float;
use super::integer::integer;
use tilewright_kernel::{Atomic, Binary, Element};
use tilewright_target::{ElementType, MemoryReduction};

/// Returns the value that an atomic operation writes, from the value `old` in memory and the operand `value`, all as
/// bits of an `element`.
pub(crate) fn atomic(op: Atomic, element: Element, old: u64, value: u64) -> u64 {
    let bits = element.bits();
    let of = |op: Binary| {
        let mut to = [0];
        match op.is_float() {
            true => float(op, element, &[old], &[value], &mut to),
            false => integer(op, bits, &[old], &[value], &mut to),
        }
        to[0]
    };
    let old_if = |first: bool| if first { old } else { value };
    match op {
        Atomic::Add => of(Binary::Add),
        Atomic::FAdd => of(Binary::FAdd),
        Atomic::And => of(Binary::And),
        Atomic::Or => of(Binary::Or),
        Atomic::Xor => of(Binary::Xor),
        Atomic::MinU => old_if(old < value),
        Atomic::MaxU => old_if(old > value),
        Atomic::MinS => old_if(sign_extend(old, bits) < sign_extend(value, bits)),
        Atomic::MaxS => old_if(sign_extend(old, bits) > sign_extend(value, bits)),
        Atomic::Exchange => value,
    }
}

/// Combines the elements of `values` with those of `before`, as bytes; returns the bytes after a bulk reduction.
pub(crate) fn reduce_elements(operation: MemoryReduction, ty: ElementType, before: &[u8], values: &[u8]) -> Vec<u8> {
    let bytes = (ty.bits() / 8).max(1) as usize;
    let bits = |element: &[u8]| element.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
    let elements = before.chunks_exact(bytes).zip(values.chunks_exact(bytes));
    let combined = elements.map(|(old, value)| reduce_element(operation, ty, bits(old), bits(value)).to_le_bytes());
    combined.flat_map(|new| new.into_iter().take(bytes)).collect()
}

/// Combines one element with the element `old` in memory, both as bits.
fn reduce_element(operation: MemoryReduction, ty: ElementType, old: u64, value: u64) -> u64 {
    let is_signed = matches!(ty, ElementType::Integer { signed: true, .. });
    let of_float = |op: Binary, element: Element| {
        let mut to = [0];
        float(op, element, &[old], &[value], &mut to);
        to[0]
    };
    let of_integer = |op: Atomic| atomic(op, if ty.bits() == 64 { Element::I64 } else { Element::I32 }, old, value);
    match (operation, ty.name().filter(|_| ty.is_float()).and_then(Element::from_name)) {
        (MemoryReduction::Add, Some(element)) => of_float(Binary::FAdd, element),
        (MemoryReduction::Min, Some(element)) => of_float(Binary::FMinNumber, element),
        (MemoryReduction::Max, Some(element)) => of_float(Binary::FMaxNumber, element),
        (MemoryReduction::Add, None) => of_integer(Atomic::Add),
        (MemoryReduction::Min, None) => of_integer(if is_signed { Atomic::MinS } else { Atomic::MinU }),
        (MemoryReduction::Max, None) => of_integer(if is_signed { Atomic::MaxS } else { Atomic::MaxU }),
        (MemoryReduction::And, _) => of_integer(Atomic::And),
        (MemoryReduction::Or, _) => of_integer(Atomic::Or),
        (MemoryReduction::Xor, _) => of_integer(Atomic::Xor),
    }
}

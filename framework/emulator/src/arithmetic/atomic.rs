//! Arithmetic of atomic operations.

use super::bits::sign_extend;
use super::float::float;
use super::integer::integer;
use tilewright_kernel::{Atomic, Binary, Element};

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

//! Functions that apply to each element of a packed value, such as `f16x2`.

use crate::program::{Compute, Type, mask};

/// Returns a compute function of one operand that applies `f` to each element of the type.
pub(super) fn one(ty: Type, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, ..]| f(a))
}

/// Returns a compute function of two operands that applies `f` to each pair of elements of the type.
pub(super) fn two(ty: Type, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, b, ..]| f(a, b))
}

/// Returns a compute function of three operands that applies `f` to each triple of elements of the type.
pub(super) fn three(ty: Type, f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, b, c, _]| f(a, b, c))
}

fn per_element(ty: Type, f: impl Fn([u64; 4]) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    if ty.element_count == 1 {
        return Some(Box::new(f));
    }
    Some(Box::new(move |operands| {
        (0..ty.element_count).fold(0, |all, element| {
            let at = element * ty.bits;
            all | (f(operands.map(|bits| bits >> at & mask(ty.bits))) & mask(ty.bits)) << at
        })
    }))
}

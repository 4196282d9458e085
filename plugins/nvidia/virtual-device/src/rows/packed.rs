//! Computations on each part of a packed value by itself.

use crate::program::{Compute, Type, mask};

/// A function of one operand, of each part of a type by itself.
pub(super) fn one(ty: Type, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    of_parts(ty, move |[a, ..]| f(a))
}

/// A function of two operands.
pub(super) fn two(ty: Type, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    of_parts(ty, move |[a, b, ..]| f(a, b))
}

/// A function of three operands.
pub(super) fn three(ty: Type, f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    of_parts(ty, move |[a, b, c, _]| f(a, b, c))
}

fn of_parts(ty: Type, f: impl Fn([u64; 4]) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    if ty.parts == 1 {
        return Some(Box::new(f));
    }
    Some(Box::new(move |operands| {
        (0..ty.parts).fold(0, |all, part| {
            let at = part * ty.bits;
            all | (f(operands.map(|bits| bits >> at & mask(ty.bits))) & mask(ty.bits)) << at
        })
    }))
}

//! Builds functions that apply to each element of a packed value, such as `f16x2`.

use crate::machine::Compute;
use crate::program::{Type, mask};

/// Returns the function by which a lane applies `f` to each element of an operand of type `ty`.
pub(super) fn one(ty: Type, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, ..]| f(a))
}

/// Returns the function by which a lane applies `f` to each pair of corresponding elements of two operands of type
/// `ty`.
pub(super) fn two(ty: Type, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, b, ..]| f(a, b))
}

/// Returns the function by which a lane applies `f` to each triple of corresponding elements of three operands of type
/// `ty`.
pub(super) fn three(ty: Type, f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    per_element(ty, move |[a, b, c, _]| f(a, b, c))
}

/// Returns the function by which a lane finds the defined bits of a packed result of type `ty` from those of `count`
/// operands: an element is defined if this element of every operand is.
pub(crate) fn defined_elements(ty: Type, count: usize) -> Compute {
    let is_defined =
        move |operands: [u64; 4]| operands[..count].iter().all(|bits| bits & mask(ty.bits) == mask(ty.bits));
    let all = move |operands| if is_defined(operands) { mask(ty.bits) } else { 0 };
    Box::new(move |operands| apply_per_element(ty, all, operands))
}

fn per_element(ty: Type, f: impl Fn([u64; 4]) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    if ty.element_count == 1 {
        return Some(Box::new(f));
    }
    Some(Box::new(move |operands| apply_per_element(ty, &f, operands)))
}

fn apply_per_element(ty: Type, f: impl Fn([u64; 4]) -> u64, operands: [u64; 4]) -> u64 {
    (0..ty.element_count).fold(0, |all, element| {
        let at = element * ty.bits;
        all | (f(operands.map(|bits| bits >> at & mask(ty.bits))) & mask(ty.bits)) << at
    })
}

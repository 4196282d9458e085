//! The table of PTX instructions.

use super::access;
use super::arithmetic;
use super::atomic;
use super::barrier;
use super::bits;
use super::bulk;
use super::carry;
use super::compare;
use super::control;
use super::convert;
use super::copy;
use super::exchange;
use super::function;
use super::group_product;
use super::hints;
use super::matrix;
use super::mbarrier;
use super::moves;
use super::product;
use super::vote;
use crate::program::{Compute, Row, Type, mask};

/// All rows.
pub(crate) const ROWS: &[&[Row]] = &[
    arithmetic::ROWS,
    carry::ROWS,
    bits::ROWS,
    function::ROWS,
    convert::ROWS,
    compare::ROWS,
    moves::ROWS,
    access::ROWS,
    atomic::ROWS,
    exchange::ROWS,
    vote::ROWS,
    barrier::ROWS,
    control::ROWS,
    matrix::ROWS,
    product::ROWS,
    group_product::ROWS,
    copy::ROWS,
    bulk::ROWS,
    mbarrier::ROWS,
    hints::ROWS,
];

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

//! The instruction table: what begins an opcode, what may follow it, what it does. An instruction is a row, or a row of
//! the target's own table where it is one of matrices ([`matrix`]).
//!
//! Source of all meanings: PTX ISA, "Instructions". Modifiers that say how memory is cached or ordered change nothing
//! here: one warp runs at a time, and sees everything.
//!
//! May import [`super::program`], [`super::machine`] and [`super::number`].

mod access;
mod arithmetic;
mod atomic;
mod barrier;
mod bits;
mod bulk;
mod call;
mod carry;
mod compare;
mod control;
mod convert;
mod copy;
mod exchange;
mod float;
mod function;
mod group_product;
mod groups;
mod hints;
mod integer;
mod matrix;
mod mbarrier;
mod moves;
mod product;
mod vote;

use super::program::{Compute, Row, Type, mask};

/// All rows.
pub(super) const ROWS: &[&[Row]] = &[
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
fn one(ty: Type, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    of_parts(ty, move |[a, ..]| f(a))
}

/// A function of two operands.
fn two(ty: Type, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
    of_parts(ty, move |[a, b, ..]| f(a, b))
}

/// A function of three operands.
fn three(ty: Type, f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<Compute> {
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

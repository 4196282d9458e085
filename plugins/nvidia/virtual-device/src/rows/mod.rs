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
mod packed;
mod product;
mod table;
mod vote;

use packed::{one, three, two};
pub(super) use table::ROWS;

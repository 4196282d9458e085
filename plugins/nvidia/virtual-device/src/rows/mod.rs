//! The table of PTX instructions: opcodes, their modifiers and types, and their semantics. Matrix instructions have
//! rows here too, but their layouts come from the target's instruction table (see [`matrix`]).
//!
//! Source of all semantics: PTX ISA, "Instructions". Modifiers for caching and memory order have no effect: one warp
//! runs at a time and sees all memory.
//!
//! This module may import [`super::program`], [`super::machine`] and [`super::float`].

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
mod float;
mod function;
mod groups;
mod hints;
mod integer;
mod matrix;
mod mbarrier;
mod mma;
mod moves;
mod packed;
mod shuffle;
mod table;
mod tensor_map;
mod vote;
mod wgmma;

pub(super) use packed::defined_elements;
use packed::{one, three, two};
pub(super) use table::ROWS;

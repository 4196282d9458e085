//! Reductions along an axis of a distributed layout.
//!
//! A tensor is combined first within registers, then between lanes, then between warps (seed 000,
//! section 5.1: a layout says which of them hold the axis). Copies are told from data by the algebra,
//! so nothing is combined or stored twice. What warps still hold in parts is moved by an ordinary
//! conversion, from the layout of the partial results to one in which every lane holds all the parts
//! that it combines; so swizzles, vectors and predicates are those of conversions. Where warps are many, each
//! result is combined once and another conversion hands it out.

mod lanes;
mod problem;
mod reduction;
mod way;

pub use reduction::{Reduction, reduce, reductions};

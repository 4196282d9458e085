//! Operations on numbers: of a tensor, register by register.

mod cast;
mod compare;
mod constant;
mod elementwise;
mod float;
mod function;
mod integer;
mod mapped;
mod narrow;
mod power;

pub(super) use constant::{constant, number};
use elementwise::{Results, Scalar, one};
pub(super) use elementwise::{elementwise, is_known};
pub(super) use float::in_single;
pub(super) use mapped::mapped;

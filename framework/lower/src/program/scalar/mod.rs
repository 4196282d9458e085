//! Lowers scalar operations; for tensors they are lowered register by register.

mod cast;
mod compare;
mod constant;
mod division_width;
mod elementwise;
mod float;
mod function;
mod integer;
mod mapped;
mod narrow;
mod power;
mod scalar_operation;

pub(super) use constant::{constant, scalar_constant};
pub(super) use elementwise::{elementwise, is_known};
pub(super) use float::in_single;
pub(super) use integer::add_elements;
pub(super) use mapped::mapped;
use scalar_operation::{Results, Scalar, one};

//! The neutral families: those that belong to no vendor.
//!
//! [`NeutralFamilies`] resolves `blocked`, `slice`, `linear`, `generic_linear`, `dot_operand` (alias `dot_op`) of a
//! blocked parent, `swizzled_shared`, `padded_shared`, `shared_linear` and `partitioned_shared`. [`cluster`] extends
//! the layout of a tile to the layout of a whole tensor, for the families of vendors too.

mod attribute_syntax;
mod blocked;
pub mod cluster;
mod dot_operand;
mod linear;
mod neutral;
mod samples;
mod shared;
mod slice;
mod tile;

pub use neutral::NeutralFamilies;
pub(super) use neutral::to_attribute_form;

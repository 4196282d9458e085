//! The neutral families: those that belong to no vendor.
//!
//! [`Neutral`] resolves `blocked`, `slice`, `linear`, `dot_operand` (also spelled `dot_op`) of a blocked
//! parent, `swizzled_shared`, `padded_shared` and `shared_linear`. [`cluster`] has the step that turns a
//! tile into the layout of a whole tensor, which vendors' families share.

mod blocked;
pub mod cluster;
mod dot_operand;
mod linear;
mod neutral;
mod samples;
mod shared;
mod slice;
mod spelling;
mod tile;

pub use neutral::Neutral;
pub(super) use neutral::in_words;

//! Types of values in tile programs.
//!
//! A type is cheap to copy and to compare: what is long stands behind a shared pointer. Layouts are named, not
//! resolved: what a name means is for the families of a target to say ([`tilewright_layout::Families`]).

mod float;
mod print;
mod ty;

pub use float::Float;
pub(crate) use print::{WriteLayout, write_types};
pub(crate) use ty::CONSTANT;
pub use ty::{
    FunctionType, GLOBAL, LayoutName, MemDescType, Pointer, Signedness, TensorDescriptorType, TensorType,
    TensorViewType, TileType,
};

//! Types of values in tile programs.
//!
//! A type is cheap to clone and to compare: large parts are behind a shared pointer. A layout is a name with
//! parameters, which the families of a target resolve ([`tilewright_layout::Families`]).

mod float;
mod print;
mod ty;

pub use float::FloatType;
pub(crate) use print::{WriteLayout, write_types};
pub use ty::{
    AddressSpace, FunctionType, LayoutAttribute, MemDescType, PointerType, Signedness, TensorDescriptorType,
    TensorType, TensorViewType, TileType,
};

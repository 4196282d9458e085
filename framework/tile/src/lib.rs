//! Tile programs: typed operations on whole tensors, which the lanes of a block carry out together.
//!
//! The text of this IR is Triton's ([`text`]), so that real programs are read as they are. What operations there are
//! is data ([`op`]): rows of dialect files, to which vendors' dialects are added from outside. A [`TileModule`] has
//! functions; a function's [`Body`] is an arena of operations, blocks, regions and values.
//!
//! [`facts`] is what is known of integers and pointers before a program runs.

mod attribute;
mod body;
mod build;
mod constant;
mod decimal;
pub mod facts;
pub mod import;
pub mod marks;
mod module;
pub mod op;
mod order;
pub mod text;
pub mod transform;
mod types;
mod verify;
pub mod view_layout;

pub use attribute::{Attribute, Attributes, Dense, TypedNumber};
pub use body::{Block, Body, Location, Op, Operation, Region, Successor, Value, ValueOrigin, Values};
pub use build::{BuildError, FunctionBuilder, OperationBuilder};
pub use module::{Function, TileModule, Visibility};
pub use types::{
    Float, FunctionType, GLOBAL, LayoutName, MemDescType, Pointer, Signedness, TensorDescriptorType, TensorType,
    TensorViewType, TileType,
};
pub use verify::{TileViolation, verify};

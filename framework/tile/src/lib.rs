//! Tile programs: typed operations on tensors, which the lanes of a block execute together.
//!
//! The text form is Triton IR ([`text`]), so that real programs are read as they are. The set of operations is data
//! ([`op`]): rows of dialect files; plugins add the dialects of vendors. A [`TileModule`] has functions; a function's
//! [`FunctionBody`] is an arena of operations, blocks, regions and values.
//!
//! [`axis_info`] is static axis information about integers and pointers (Triton AxisInfo).

mod attribute;
pub mod axis_info;
mod body;
mod build;
mod constant;
mod decimal;
pub mod import;
mod module;
pub mod op;
pub mod op_attrs;
mod order;
pub mod rules;
pub mod text;
pub mod transform;
mod types;
mod value_uses;
mod verify;
pub mod view_layout;

pub use attribute::{Attribute, Attributes, DenseElements, NumberAttribute};
pub use body::{Block, FunctionBody, Location, Op, Operation, Region, Successor, Value, ValueOrigin, Values};
pub use build::{BuildError, FunctionBuilder, OperationBuilder};
pub use module::{Function, TileModule, Visibility};
pub use types::{
    FloatType, FunctionType, LayoutAttribute, MemDescType, PointerType, Signedness, TensorDescriptorType, TensorType,
    TensorViewType, TileType,
};
pub use value_uses::ValueUses;
pub use verify::{TileViolation, verify_module, verify_module_with_families, verify_transformed_module};

//! What a GPU is, as data.
//!
//! A [`TargetDescription`] is one product, read from TOML: lanes, limits, bank rows, exchange
//! primitives, costs. An [`Instruction`] is one row of a vendor's instruction table. Whatever
//! scores or lowers data movement asks these and never a name.

mod bank;
mod block_operand;
mod box_operand;
mod catalogue;
mod check;
mod completion;
mod cost;
mod description;
mod document;
mod dominators;
mod format;
mod function;
mod instruction;
mod lane_xors;
mod memory_operand;
mod named_enum;
mod nearest;
mod number;
mod numerics;
#[cfg(test)]
mod schema;
mod tensor_memory;
mod throughput;
mod unused;

pub use bank::{BankRow, Direction, linear_wavefronts, linear_wavefronts_without, wavefronts};
pub use block_operand::{BlockMatrix, BlockOperand, MatrixFigure};
pub use box_operand::{TensorCopyLayout, TensorCopyOperand};
pub use catalogue::{Catalogue, CatalogueError};
pub use check::DescriptionFault;
pub use completion::{Completion, Queue};
pub use cost::{Cost, CostTable, Evidence};
pub use description::{
    ExchangeKind, ExchangeRow, Global, Lanes, Limits, MatrixUnit, Shared, TargetDescription, TargetFileError,
};
pub use dominators::dominators;
pub use format::{Format, RoundingMode};
pub use function::NativeFunction;
pub use instruction::{Instruction, InstructionKind, Operand, Semantics};
pub use lane_xors::LaneXors;
pub use memory_operand::{
    CanonicalLayout, Descriptor, DescriptorFields, Field, MemoryOperand, Step, Stride, XorSwizzle,
};
pub use nearest::nearest;
pub use number::ElementType;
pub use numerics::{Numerics, Summation};
pub use tensor_memory::{TensorMemory, TensorOperand};
pub use throughput::Throughput;
pub use unused::UnusedInstruction;

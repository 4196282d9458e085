//! GPU models as data.
//!
//! A [`TargetDescription`] is one GPU model, read from TOML: lanes, limits, banks, shuffles, costs. An [`Instruction`]
//! is one entry of a vendor's instruction table. Cost models and lowering of data movement depend on this data, and
//! never on the name of a model or instruction.

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
mod element_type;
mod format;
mod function;
mod instruction;
mod lane_xors;
mod matrix_unit;
mod memory_operand;
mod named_enum;
mod numerics;
mod optimization;
#[cfg(test)]
mod schema;
mod tensor_memory;
mod throughput;
mod unused;

pub use bank::{
    BankTableEntry, Direction, PairedLanePhases, count_access_wavefronts, count_linear_wavefronts,
    count_masked_linear_wavefronts,
};
pub use block_operand::{
    BlockLoadMatrixParameter, BlockLoadOperand, BlockLoadSourceMatrix, BlockLoadSourceMatrixError,
};
pub use box_operand::{TensorCopyLayout, TensorCopyOperand};
pub use catalogue::{TargetCatalogue, TargetCatalogueError};
pub use check::DescriptionError;
pub use completion::{Completion, Queue};
pub use cost::{Cost, CostTable, Evidence};
pub use description::{
    AddressUnitRate, Global, Limits, RegisterReallocation, Shared, ShuffleKind, ShufflePrimitive, SupportedWarpSizes,
    TargetDescription, TargetFileError, UnifiedCache, VectorAtomicAdd,
};
pub use dominators::immediate_dominators;
pub use element_type::ElementType;
pub use format::{FloatFormat, RoundingMode};
pub use function::HardwareMathFunction;
pub use instruction::{Instruction, InstructionKind, InstructionOperand, MemoryReduction, Semantics};
pub use lane_xors::ShuffleXorMasks;
pub use matrix_unit::{InstructionCyclesEvidence, MatrixRate, MmaIssueCycles, MmaIssuer, MmaThroughput};
pub use memory_operand::{
    CanonicalLayout, CanonicalLayoutStride, CanonicalMode, DescriptorField, DescriptorFields, DescriptorFormat,
    MemoryOperand, XorSwizzle,
};
pub use numerics::{MmaNumerics, Summation};
pub use optimization::{Optimization, OptimizationSet, UnknownOptimizationError};
pub use tensor_memory::{TensorMemory, TensorMemoryOperand};
pub use throughput::DeviceThroughput;
pub use tilewright_layout::find_similar_name;
pub use unused::OmittedInstruction;

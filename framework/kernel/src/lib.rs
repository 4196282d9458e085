//! The SIMT kernel IR.
//!
//! A [`Module`] holds kernels; a [`Kernel`] is one entry point with parameters, static shared memory and a body. The
//! body is typed SSA with structured control flow: lanes are implicit, every operation is executed by all lanes that
//! reach it, and lanes reconverge where a region ends. Every value has a [`Type`] and a [`Uniformity`]: uniform values
//! are equal in all lanes of a warp, block-uniform ones in all lanes of a block, cluster-uniform ones in all lanes of a
//! cluster ([`analyze_uniformity`] computes it). A collective names its [`CollectiveScope`] and its [`Issuers`]; all of
//! its issuers must reach it together, so it may stand only under control that is uniform over its scope. Vendor
//! instructions are collectives of a warp.
//!
//! Asynchronous operations are instructions whose entries in the instruction table say how they complete: on a
//! [`Queue`] of the warp, committed in groups and waited for, or on an mbarrier. Their results are pending
//! ([`Type::Pending`]) until the wait.
//!
//! Pointers are byte addresses in one [`MemorySpace`]; [`Op::PtrAdd`] adds bytes to a pointer, and
//! [`Op::ClusterAddress`] converts it to the shared memory of another block. Elements have power-of-two bit widths.
//!
//! Modules print to and parse from text ([`text`]) and cross the plugin boundary as CBOR
//! ([`encode_module`], [`decode_module`]); [`verify`] checks all that a code generator may rely on.

mod build;
mod bytes;
pub mod cbor;
mod count;
mod mapped_rows;
mod module;
mod op;
mod signature;
mod signature_error;
mod source;
mod tensor_map;
mod tensor_map_error;
pub mod text;
mod types;
mod uniformity;
mod value;
mod verify;

pub use build::Builder;
pub use bytes::{DecodeError, decode_module, encode_module};
pub use count::Counts;
pub use mapped_rows::{LaunchDerivedTensorMap, LaunchTimeElementCount};
pub use module::{Kernel, MAX_CLUSTER_BLOCKS, Module, Parameter, SharedBuffer, StaticLaunchConfig};
pub use op::{
    Atomic, BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, DirectedRounding, Issuers,
    MAX_REGION_DEPTH, MathFunction, MemoryOrder, MemoryScope, Op, Region, RegisterChange, ShuffleMode, SpecialRegister,
    Statement, Unary,
};
pub use signature::{
    InstructionSignature, ValueTypeRequirement, check_instruction_tensor_maps, is_result_operand, is_value_operand,
    verify_vendor_instructions,
};
pub use signature_error::SignatureError;
pub use source::SourceLocation;
pub use tensor_map::{MAX_TENSOR_MAP_RANK, OutOfBoundsFill, TensorMap, TensorMapBinding};
pub use tensor_map_error::TensorMapError;
pub use tilewright_target::Queue;
pub use types::{Element, MemorySpace, Type, Uniformity};
pub use uniformity::analyze_uniformity;
pub use value::{MAX_VALUES, Value};
pub use verify::{VerifyError, Violation, verify, verify_without_uniformity};

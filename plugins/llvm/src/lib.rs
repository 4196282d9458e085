//! Translates kernel IR to LLVM, for vendors whose GPUs LLVM generates code for.
//!
//! [`compile_module`] translates a kernel-IR module to LLVM IR, verifies and optimizes it, and writes the requested
//! forms: LLVM IR text, assembly, a relocatable object, or bitcode whose functions a host calls. This crate translates
//! arithmetic, memory accesses, control flow and types, which are the same for every target. The vendor's crate
//! provides the rest as a [`TargetDialect`]: names in LLVM's target registry, attributes of a kernel, and the emission
//! of lane indices, shuffles and barriers.
//!
//! The compiled module need not be trusted. The translation checks each of its assumptions, and a module that breaks a
//! rule gives [`CompileError::Invalid`] with the location. LLVM's verifier runs on every result, and errors that LLVM
//! reports become [`CompileError::Backend`]. The crate never sets LLVM options that are global to the process.
//!
//! The walk over a kernel is in `tilewright_plugin::codegen`; this crate implements its trait
//! [`CodeGenerator`](tilewright_plugin::codegen::CodeGenerator).
//!
//! [`CompileError::Invalid`]: tilewright_plugin::CompileError::Invalid
//! [`CompileError::Backend`]: tilewright_plugin::CompileError::Backend

mod arithmetic;
mod asynchronous;
mod atomic;
mod bit_reversal;
mod body;
mod bytes;
mod control;
mod dialect;
mod division;
mod emitter;
mod ffi;
mod float;
mod generate;
mod host_io;
mod integer_origin;
mod invariant_offset;
mod lane_access;
mod lines;
mod memory;
mod ordered;
mod pieces;
mod predicates;
mod scalar_base;
mod thread_fields;
mod translate;
mod types;

pub use dialect::{
    AsynchronousDialect, AtomicUpdate, KernelDeclaration, LlvmTarget, PredicatedAccess, ScalarAddress,
    SharedMemoryDeclaration, TargetDialect, TensorMapDeclaration, find_completion_queue, no_clusters_error,
    no_mbarriers_error, no_tensor_memory_error, unsupported_cast_error, unsupported_completion_queue_error,
    unsupported_math_function_error,
};
pub use emitter::{Emitter, FenceOrdering};
pub use generate::{GeneratedCode, LlvmOutputKind, compile_module};
pub use pieces::CallOperand;

/// LLVM types and values that appear in the interface of [`TargetDialect`], re-exported from `inkwell`.
pub mod values {
    pub use inkwell::types::{BasicType, BasicTypeEnum};
    pub use inkwell::values::{
        BasicValue, BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue, IntValue, Operand, PointerValue,
    };
}

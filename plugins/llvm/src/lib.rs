//! Kernel IR to LLVM, for the plugins of vendors whose GPUs LLVM generates code for.
//!
//! [`compile`] turns a kernel-IR module into LLVM IR, checks and optimises it, and writes what is
//! asked for: LLVM IR text, assembly, a relocatable object, bitcode whose functions a host calls. Arithmetic, memory, control flow and
//! types are the same for every target and live here. What differs between targets comes from the
//! vendor's crate as a [`Dialect`]: names for LLVM's target registry, attributes of a kernel, and
//! how lane numbers, exchanges and barriers are spelled.
//!
//! A module may come from anywhere. Whatever the translation relies on is checked where it is
//! relied on, and a module that breaks a rule is [`CompileError::Invalid`] with the place; LLVM's
//! verifier runs on every result, and errors that LLVM reports become
//! [`CompileError::Backend`]. Options that are global to the process are never set.
//!
//! The walk over a kernel is `tilewright_plugin::codegen`'s; this crate implements its [`CodeGenerator`](tilewright_plugin::codegen::CodeGenerator).
//!
//! [`CompileError::Invalid`]: tilewright_plugin::CompileError::Invalid
//! [`CompileError::Backend`]: tilewright_plugin::CompileError::Backend

mod arithmetic;
mod asynchronous;
mod atomic;
mod control;
mod dialect;
mod division;
mod emitter;
mod ffi;
mod float;
mod generate;
mod memory;
mod ordered;
mod outward;
mod pieces;
mod translate;

pub use dialect::{
    AtomicUpdate, Dialect, KernelForm, LlvmTarget, MapForm, SharedForm, no_clusters, no_function, no_mbarriers,
    no_queue, no_tensor_memory, queue_of,
};
pub use emitter::{Emitter, Ordering};
pub use generate::{GeneratedCode, LlvmForm, compile};
pub use pieces::CallOperand;

/// LLVM values as hooks of a [`Dialect`] see them.
pub mod values {
    pub use inkwell::types::{BasicType, BasicTypeEnum};
    pub use inkwell::values::{BasicValue, BasicValueEnum, IntValue, PointerValue};
}

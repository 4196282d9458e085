//! The few calls of LLVM's C interface that `inkwell` has not, or not as safe functions.
//!
//! All `unsafe` of this crate is here. Values come from `inkwell`, which ties them to their context;
//! what else a call needs is checked before it.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_void};

use inkwell::AtomicOrdering;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::core::{
    LLVMBuildAtomicCmpXchgSyncScope, LLVMBuildAtomicRMWSyncScope, LLVMBuildFenceSyncScope, LLVMBuildFreeze,
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
    LLVMGetSyncScopeID,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDiagnosticSeverity};
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, IntValue, PointerValue, StructValue};
use tilewright_kernel::Atomic;

type Errors = RefCell<Vec<String>>;

/// An LLVM context whose error diagnostics are kept instead of ending the process.
#[derive(Debug)]
pub(crate) struct Session {
    // Fields are dropped in order: the context, which holds a pointer to `errors`, goes first.
    context: Context,
    errors: Box<Errors>,
}

impl Session {
    pub(crate) fn new() -> Self {
        let session = Self { context: Context::create(), errors: Box::default() };
        let errors: *const Errors = &raw const *session.errors;
        // SAFETY: the context is alive; `errors` is boxed, so it stays where it is when `Session`
        // moves, and outlives the context; the handler takes its pointer as what it is.
        unsafe {
            LLVMContextSetDiagnosticHandler(session.context.raw(), Some(keep_errors), errors.cast_mut().cast());
        }
        session
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The errors reported since the last call.
    pub(crate) fn take_errors(&self) -> Vec<String> {
        self.errors.take()
    }
}

extern "C" fn keep_errors(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: LLVM calls this with a live diagnostic and the pointer given to
    // `LLVMContextSetDiagnosticHandler`; the description is a C string that the caller frees.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) != LLVMDiagnosticSeverity::LLVMDSError {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        if text.is_null() {
            return;
        }
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        // A borrow that is taken would mean a diagnostic within `take_errors`, which reports none.
        if let Ok(mut errors) = (*errors.cast::<Errors>()).try_borrow_mut() {
            errors.push(message);
        }
    }
}

/// `pointer` plus a number of bytes (signed, any integer width).
///
/// The builder must be positioned.
pub(crate) fn advance<'ctx>(
    builder: &Builder<'ctx>,
    context: &'ctx Context,
    pointer: PointerValue<'ctx>,
    bytes: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>, inkwell::builder::BuilderError> {
    // SAFETY: one integer index into `i8` is well formed for every pointer; without `inbounds` the
    // result is defined for every number of bytes.
    unsafe { builder.build_gep(context.i8_type(), pointer, &[bytes], "") }
}

/// An arbitrary but fixed value where `value` is poison, else `value`.
pub(crate) fn freeze<'ctx>(builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    if builder.get_insert_block().is_none() {
        return value;
    }
    // SAFETY: the builder is positioned and the value is first class, as every `BasicValueEnum` is; the
    // result has its type.
    unsafe { BasicValueEnum::new(LLVMBuildFreeze(builder.as_mut_ptr(), value.as_value_ref(), c"".as_ptr())) }
}

/// A fence of the named synchronisation scope; `None` where the builder is not positioned.
pub(crate) fn fence<'ctx>(
    builder: &Builder<'ctx>,
    context: &'ctx Context,
    ordering: AtomicOrdering,
    scope: &str,
) -> Option<InstructionValue<'ctx>> {
    // Fences order at least one way.
    let ordering = match ordering {
        AtomicOrdering::Monotonic => AtomicOrdering::AcquireRelease,
        other => other,
    };
    builder.get_insert_block()?;
    // SAFETY: the builder is positioned; the ordering is one that fences take; the result is an instruction.
    unsafe {
        let (ordering, scope) = (raw_ordering(ordering), scope_number(context, scope));
        Some(InstructionValue::new(LLVMBuildFenceSyncScope(builder.as_mut_ptr(), ordering, scope, c"".as_ptr())))
    }
}

fn scope_number(context: &Context, scope: &str) -> u32 {
    // SAFETY: the name is given with its length.
    unsafe { LLVMGetSyncScopeID(context.raw(), scope.as_ptr().cast(), scope.len()) }
}

fn raw_ordering(ordering: AtomicOrdering) -> LLVMAtomicOrdering {
    match ordering {
        AtomicOrdering::Monotonic => LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
        AtomicOrdering::Acquire => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
        AtomicOrdering::Release => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
        AtomicOrdering::AcquireRelease => LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease,
        _ => LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}

fn raw_operation(op: Atomic) -> LLVMAtomicRMWBinOp {
    match op {
        Atomic::Add => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd,
        Atomic::FAdd => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpFAdd,
        Atomic::MinS => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMin,
        Atomic::MaxS => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpMax,
        Atomic::MinU => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMin,
        Atomic::MaxU => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpUMax,
        Atomic::And => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAnd,
        Atomic::Or => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpOr,
        Atomic::Xor => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXor,
        Atomic::Exchange => LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg,
    }
}

/// What was at the pointer; `None` where the builder is not positioned. The value is a scalar that the operation takes.
pub(crate) fn atomic_rmw<'ctx>(
    (builder, context): (&Builder<'ctx>, &'ctx Context),
    op: Atomic,
    pointer: PointerValue<'ctx>,
    value: BasicValueEnum<'ctx>,
    ordering: AtomicOrdering,
    scope: &str,
) -> Option<BasicValueEnum<'ctx>> {
    builder.get_insert_block()?;
    let (op, ordering, scope) = (raw_operation(op), raw_ordering(ordering), scope_number(context, scope));
    // SAFETY: the builder is positioned, the pointer is one, the value is a scalar; the result has its type.
    unsafe {
        let (pointer, value) = (pointer.as_value_ref(), value.as_value_ref());
        let old = LLVMBuildAtomicRMWSyncScope(builder.as_mut_ptr(), op, pointer, value, ordering, scope);
        Some(BasicValueEnum::new(old))
    }
}

/// What was at the pointer, which becomes the second value where it was the first, and whether it was; `None` where the
/// builder is not positioned. Both are integers of one type.
pub(crate) fn compare_exchange<'ctx>(
    (builder, context): (&Builder<'ctx>, &'ctx Context),
    pointer: PointerValue<'ctx>,
    values: [BasicValueEnum<'ctx>; 2],
    ordering: AtomicOrdering,
    scope: &str,
) -> Option<StructValue<'ctx>> {
    builder.get_insert_block()?;
    // Where nothing is written nothing is released.
    let failed = match ordering {
        AtomicOrdering::Acquire | AtomicOrdering::AcquireRelease => AtomicOrdering::Acquire,
        _ => AtomicOrdering::Monotonic,
    };
    let (done, failed, scope) = (raw_ordering(ordering), raw_ordering(failed), scope_number(context, scope));
    let [expected, value] = values.map(|value| value.as_value_ref());
    let (builder, pointer) = (builder.as_mut_ptr(), pointer.as_value_ref());
    // SAFETY: the builder is positioned, the pointer is one, both values are integers of one type, and the orderings are
    // some that the instruction takes; the result is a structure of two.
    unsafe {
        let pair = LLVMBuildAtomicCmpXchgSyncScope(builder, pointer, expected, value, done, failed, scope);
        Some(StructValue::new(pair))
    }
}

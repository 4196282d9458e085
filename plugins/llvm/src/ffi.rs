//! Safe wrappers for functions of LLVM's C interface that `inkwell` lacks or exposes only as unsafe.
//!
//! All `unsafe` code of this crate is here. LLVM values come from `inkwell`, which ties them to their context; the
//! functions here check all other requirements.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_void};

use inkwell::AtomicOrdering;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::core::{
    LLVMBuildAtomicCmpXchgSyncScope, LLVMBuildAtomicRMWSyncScope, LLVMBuildFenceSyncScope, LLVMBuildFreeze,
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
    LLVMGetSyncScopeID, LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDiagnosticSeverity};
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, IntValue, PointerValue, StructValue};
use tilewright_kernel::Atomic;

type Errors = RefCell<Vec<String>>;

/// An LLVM context that collects error diagnostics, because LLVM's default handler would end the process.
#[derive(Debug)]
pub(crate) struct Session {
    // Fields are dropped in order. The context must be dropped first, because it holds a pointer to `errors`.
    context: Context,
    errors: Box<Errors>,
}

impl Session {
    pub(crate) fn new() -> Self {
        let session = Self { context: Context::create(), errors: Box::default() };
        let errors: *const Errors = &raw const *session.errors;
        // SAFETY: the context is alive; `errors` is boxed, so its address is stable when `Session` moves, and it
        // outlives the context; the handler receives a pointer of this type.
        unsafe {
            LLVMContextSetDiagnosticHandler(session.context.raw(), Some(keep_errors), errors.cast_mut().cast());
        }
        session
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the errors that LLVM has reported since the last call of this function.
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
        // The borrow fails only if `take_errors` runs, and LLVM reports no diagnostics then.
        if let Ok(mut errors) = (*errors.cast::<Errors>()).try_borrow_mut() {
            errors.push(message);
        }
    }
}

/// Emits the address `bytes` bytes above `pointer`; `bytes` is a signed integer of any width.
///
/// The builder must be positioned in a block.
pub(crate) fn ptr_add<'ctx>(
    builder: &Builder<'ctx>,
    context: &'ctx Context,
    pointer: PointerValue<'ctx>,
    bytes: IntValue<'ctx>,
) -> Result<PointerValue<'ctx>, inkwell::builder::BuilderError> {
    element_pointer(builder, context, pointer, (bytes, 1))
}

/// Emits the address of element `index` of an array at `pointer` whose elements have `element_bytes` bytes; `index` is a
/// signed integer of any width.
///
/// The builder must be positioned in a block.
pub(crate) fn element_pointer<'ctx>(
    builder: &Builder<'ctx>,
    context: &'ctx Context,
    pointer: PointerValue<'ctx>,
    (index, element_bytes): (IntValue<'ctx>, u32),
) -> Result<PointerValue<'ctx>, inkwell::builder::BuilderError> {
    let byte = context.i8_type();
    // SAFETY: one integer index into an array of bytes is valid for every pointer; without `inbounds` the result is
    // defined for every number of bytes.
    unsafe {
        match element_bytes {
            1 => builder.build_gep(byte, pointer, &[index], ""),
            _ => builder.build_gep(byte.array_type(element_bytes), pointer, &[index], ""),
        }
    }
}

/// Emits a `freeze`, whose result is `value`, or an arbitrary but fixed value if `value` is poison.
pub(crate) fn freeze<'ctx>(builder: &Builder<'ctx>, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
    if builder.get_insert_block().is_none() {
        return value;
    }
    // SAFETY: the builder is positioned and the value is first class, as every `BasicValueEnum` is; the result has its
    // type.
    unsafe { BasicValueEnum::new(LLVMBuildFreeze(builder.as_mut_ptr(), value.as_value_ref(), c"".as_ptr())) }
}

/// Gives a loop a property of LLVM, such as `llvm.loop.unroll.disable`, by its back edge, a branch.
pub(crate) fn set_loop_property(context: &Context, back_edge: InstructionValue<'_>, name: &str) {
    let kind = context.get_kind_id("llvm.loop");
    // SAFETY: the strings and arrays are passed with their lengths, and all metadata is of one context. A loop's
    // metadata has itself as its first operand, so a temporary node stands there first; its replacement deletes it.
    unsafe {
        let raw = context.raw();
        let mut property = LLVMMDStringInContext2(raw, name.as_ptr().cast(), name.len());
        let temporary = LLVMTemporaryMDNode(raw, std::ptr::null_mut(), 0);
        let mut operands = [temporary, LLVMMDNodeInContext2(raw, &raw mut property, 1)];
        let node = LLVMMDNodeInContext2(raw, operands.as_mut_ptr(), operands.len());
        LLVMMetadataReplaceAllUsesWith(temporary, node);
        LLVMSetMetadata(back_edge.as_value_ref(), kind, LLVMMetadataAsValue(raw, node));
    }
}

/// Emits a fence of the named synchronization scope; `None` if the builder is not positioned in a block.
pub(crate) fn fence<'ctx>(
    builder: &Builder<'ctx>,
    context: &'ctx Context,
    ordering: AtomicOrdering,
    scope: &str,
) -> Option<InstructionValue<'ctx>> {
    // LLVM has no fence with relaxed order.
    let ordering = match ordering {
        AtomicOrdering::Monotonic => AtomicOrdering::AcquireRelease,
        other => other,
    };
    builder.get_insert_block()?;
    // SAFETY: the builder is positioned; the ordering is valid for fences; the result is an instruction.
    unsafe {
        let (ordering, scope) = (raw_ordering(ordering), scope_number(context, scope));
        Some(InstructionValue::new(LLVMBuildFenceSyncScope(builder.as_mut_ptr(), ordering, scope, c"".as_ptr())))
    }
}

fn scope_number(context: &Context, scope: &str) -> u32 {
    // SAFETY: the name is passed with its length.
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

/// Emits an atomic read-modify-write and returns the old value; `None` if the builder is not positioned in a block.
/// `value` must be a scalar of a type that the operation supports.
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
    // SAFETY: the builder is positioned, the pointer is a pointer, the value is a scalar; the result has its type.
    unsafe {
        let (pointer, value) = (pointer.as_value_ref(), value.as_value_ref());
        let old = LLVMBuildAtomicRMWSyncScope(builder.as_mut_ptr(), op, pointer, value, ordering, scope);
        Some(BasicValueEnum::new(old))
    }
}

/// Emits an atomic compare-exchange. `values` are the expected and the new value, two integers of one type. Returns a
/// struct with the old value and whether it equalled the expected one; `None` if the builder is not positioned in a
/// block.
pub(crate) fn compare_exchange<'ctx>(
    (builder, context): (&Builder<'ctx>, &'ctx Context),
    pointer: PointerValue<'ctx>,
    values: [BasicValueEnum<'ctx>; 2],
    ordering: AtomicOrdering,
    scope: &str,
) -> Option<StructValue<'ctx>> {
    builder.get_insert_block()?;
    // A failed exchange writes nothing, so it cannot release.
    let failed = match ordering {
        AtomicOrdering::Acquire | AtomicOrdering::AcquireRelease => AtomicOrdering::Acquire,
        _ => AtomicOrdering::Monotonic,
    };
    let (done, failed, scope) = (raw_ordering(ordering), raw_ordering(failed), scope_number(context, scope));
    let [expected, value] = values.map(|value| value.as_value_ref());
    let (builder, pointer) = (builder.as_mut_ptr(), pointer.as_value_ref());
    // SAFETY: the builder is positioned, the pointer is a pointer, both values are integers of one type, and the
    // orderings are valid for the instruction; the result is a structure of two.
    unsafe {
        let pair = LLVMBuildAtomicCmpXchgSyncScope(builder, pointer, expected, value, done, failed, scope);
        Some(StructValue::new(pair))
    }
}

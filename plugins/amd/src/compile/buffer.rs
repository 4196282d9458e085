//! Loads and stores under a predicate as accesses through a buffer descriptor, without a branch: lanes whose predicate
//! is false have an offset outside the buffer, where a load returns zero and a store does nothing.
//!
//! The descriptor has the address that is equal in all lanes as its base, and stride 0, so that the hardware compares
//! offsets in bytes with the number of records (AMD ISA references, buffer resource descriptor, range checking).

use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_llvm::{Emitter, PredicatedAccess};
use tilewright_plugin::CompileError;

/// The number of records (bytes) of each buffer, a multiple of 4 beyond the greatest offset of a lane.
const RECORDS: u32 = 0x7fff_fffc;

/// An offset outside each buffer.
const OUTSIDE: u32 = 0x8000_0000;

/// Word 3 of a descriptor on GPUs with 64 native lanes: `DATA_FORMAT` is 32 bits (0 would mean an invalid descriptor).
const WORD_3: u32 = 0x0002_7000;

/// The least number of predicates of stores for which a descriptor, four scalar instructions, costs less than branches.
const MIN_PREDICATES: u32 = 2;

/// LLVM's address space of buffer descriptors.
const DESCRIPTORS: u16 = 8;

/// Emits a load under a predicate; `other` is the result where the predicate is false. `None` if no instruction
/// accesses a value of its size, or if the address has no scalar part.
pub(super) fn load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    access: &PredicatedAccess<'ctx>,
    other: BasicValueEnum<'ctx>,
) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
    let (Some(words), Some((descriptor, offset))) = (words(access.ty), address(emit, access)?) else {
        return Ok(None);
    };
    let (words, required) = (emit.llvm_type(words)?, emit.llvm_type(access.ty)?);
    let name = "llvm.amdgcn.raw.ptr.buffer.load";
    let zero = emit.i32(0).into();
    let loaded = emit.call_intrinsic(name, &[words], &[descriptor.into(), offset.into(), zero, zero])?;
    let loaded = loaded.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{name}` has no result")))?;
    let loaded = emit.bitcast(loaded, required)?;
    Ok(Some(if other == required.const_zero() { loaded } else { emit.select(access.predicate, loaded, other)? }))
}

/// Emits a store under a predicate; false if a descriptor costs more than branches, if no instruction accesses a value
/// of its size, or if the address has no scalar part.
pub(super) fn store<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    access: &PredicatedAccess<'ctx>,
    value: BasicValueEnum<'ctx>,
) -> Result<bool, CompileError> {
    if access.scalar.is_none_or(|scalar| scalar.store_predicates < MIN_PREDICATES) {
        return Ok(false);
    }
    let (Some(words), Some((descriptor, offset))) = (words(access.ty), address(emit, access)?) else {
        return Ok(false);
    };
    let words = emit.llvm_type(words)?;
    let zero = emit.i32(0).into();
    let operands = [emit.bitcast(value, words)?, descriptor.into(), offset.into(), zero, zero];
    emit.call_intrinsic("llvm.amdgcn.raw.ptr.buffer.store", &[words], &operands)?;
    Ok(true)
}

/// Returns the integers as which one instruction accesses a value.
fn words(ty: Type) -> Option<Type> {
    match ty.bits() {
        8 => Some(Type::Scalar(Element::I8)),
        16 => Some(Type::Scalar(Element::I16)),
        bits @ (32 | 64 | 128) => Some(Type::vector_or_scalar(Element::I32, bits / 32)),
        _ => None,
    }
}

/// Emits the descriptor and the offset of an access to global memory.
fn address<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    access: &PredicatedAccess<'ctx>,
) -> Result<Option<(PointerValue<'ctx>, IntValue<'ctx>)>, CompileError> {
    let (Some(scalar), Ok(constant)) = (access.scalar, u32::try_from(access.offset)) else { return Ok(None) };
    let end =
        [constant, access.ty.bits() / 8].iter().try_fold(scalar.greatest_offset, |sum, &part| sum.checked_add(part));
    if access.space != MemorySpace::Global || end.is_none_or(|end| end > RECORDS) {
        return Ok(None);
    }
    let inside = emit.add(emit.truncate_to_word(scalar.offset)?, constant)?;
    let offset = emit.select(access.predicate, inside.into(), emit.i32(OUTSIDE).into())?.into_int_value();
    let name = "llvm.amdgcn.make.buffer.rsrc";
    let types = [emit.pointer_type(DESCRIPTORS), scalar.base.get_type().into()];
    let parts = [scalar.base.into(), emit.i16(0).into(), emit.i64(RECORDS.into()).into(), emit.i32(WORD_3).into()];
    match emit.call_intrinsic(name, &types, &parts)? {
        Some(BasicValueEnum::PointerValue(descriptor)) => Ok(Some((descriptor, offset))),
        _ => Err(CompileError::Backend(format!("LLVM's intrinsic `{name}` does not return a pointer"))),
    }
}

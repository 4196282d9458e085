//! Emits casts between `f32` and narrower floating-point formats, two elements at a time. Whether the bytes are in OCP
//! or FNUZ format depends on the processor, whose target file lists the casts. Source: AMD ISA references,
//! V_CVT_PK_F32_FP8, V_CVT_PK_F32_BF8 and V_CVT_PKRTZ_F16_F32.

use tilewright_kernel::{Cast, Element, Type};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_llvm::{Emitter, unsupported_cast_error};
use tilewright_plugin::CompileError;

/// Emits a cast of one or several 8-bit floats, in bytes, to `f32`, or of `f32` numbers to `f16` toward zero; returns
/// an error for other casts.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    cast: Cast,
    (from, value): (Type, BasicValueEnum<'ctx>),
    to: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let intrinsic = match (cast, to.element()) {
        (Cast::ExtendE4m3 | Cast::ExtendFp8Fnuz, Some(Element::F32)) => "llvm.amdgcn.cvt.pk.f32.fp8",
        (Cast::ExtendE5m2 | Cast::ExtendBf8Fnuz, Some(Element::F32)) => "llvm.amdgcn.cvt.pk.f32.bf8",
        (Cast::RoundZ, Some(Element::F16)) if from.element() == Some(Element::F32) => {
            return toward_zero(emit, (from, value), to);
        }
        _ => return Err(unsupported_cast_error(cast, from, to)),
    };
    let words = match from.bits() {
        0..32 => vec![emit.to_i32_word(value)?],
        bits => emit.split_to_elements(value, Type::vector_or_scalar(Element::I32, bits / 32))?,
    };
    let mut numbers = Vec::with_capacity(from.element_count() as usize);
    for word in words {
        for is_upper in [false, true] {
            let pair = emit.call_value_intrinsic(intrinsic, &[word, emit.i1(is_upper).into()])?;
            numbers.extend(emit.split_to_elements(pair, Type::Vector(Element::F32, 2))?);
        }
    }
    numbers.truncate(from.element_count() as usize);
    emit.join_elements(&numbers, to, to)
}

/// Emits the cast of `f32` numbers to `f16` toward zero; a last number without a partner is cast twice.
fn toward_zero<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    (from, value): (Type, BasicValueEnum<'ctx>),
    to: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let numbers = emit.split_to_elements(value, from)?;
    let mut rounded = Vec::with_capacity(numbers.len());
    for pair in numbers.chunks(2) {
        let pair = emit.call_value_intrinsic("llvm.amdgcn.cvt.pkrtz", &[pair[0], pair[pair.len() - 1]])?;
        rounded.extend(emit.split_to_elements(pair, Type::Vector(Element::F16, 2))?);
    }
    rounded.truncate(numbers.len());
    emit.join_elements(&rounded, to, to)
}

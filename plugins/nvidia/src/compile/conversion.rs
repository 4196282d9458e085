//! Emits casts between 8-bit floating-point formats and wider types, and casts toward zero, two elements at a time.
//! Source: PTX ISA, `cvt`.

use tilewright_kernel::{Cast, Element, Type};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_llvm::{Emitter, unsupported_cast_error};
use tilewright_plugin::CompileError;

use super::registers::Typed;

/// Minimum PTX version, times ten, that offers the casts of 8-bit floats on every processor that has them.
pub(super) const VERSION: u32 = 81;

/// Minimum compute capability, times ten, that converts integers to `bf16` by an instruction.
pub(super) const BF16_OF_INTEGERS: u32 = 90;

/// Emits the conversion of a 32-bit integer to an `f32` number that rounds to `bf16` as the integer does. From 2^24 on,
/// `f32` lacks low bits of the integer. They become low bits of the number, far below the last bit of a `bf16`, so that
/// rounding distinguishes a tie from integers near it. The predicated instruction saves a selection.
pub(super) fn round_integer_before_bf16<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    integer: BasicValueEnum<'ctx>,
    is_signed: bool,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let number = emit.llvm_type(Type::Scalar(Element::F32))?;
    let sign = if is_signed { 's' } else { 'u' };
    let text = format!(
        "{{\n\t.reg .pred lost;\n\t.reg .f32 size;\n\t.reg .b32 bits;\n\t\
         cvt.rz.f32.{sign}32 $0, $1;\n\t\
         abs.f32 size, $0;\n\t\
         setp.ge.f32 lost, size, 0f4B800000;\n\t\
         mov.b32 bits, $0;\n\t\
         @lost lop3.b32 bits, bits, $1, 255, 0xf8;\n\t\
         mov.b32 $0, bits;\n\t}}"
    );
    let numbers = emit.pure_assembly(&text, "=&f,r", &[integer], &[number])?;
    numbers.first().copied().ok_or_else(|| CompileError::Backend("assembly without a result".to_owned()))
}

/// Emits a cast between 8-bit floats in bytes and wider floats: bytes to `f16`, or `f16` or `f32` to bytes. Values are
/// scalars or vectors.
pub(super) fn emit<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    cast: Cast,
    (from, value): Typed<'ctx>,
    to: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let unknown = || unsupported_cast_error(cast, from, to);
    match (cast, from.element(), to.element()) {
        (Cast::ExtendE4m3, Some(Element::I8), Some(Element::F16)) => {
            extend(emit, "llvm.nvvm.e4m3x2.to.f16x2.rn", (from, value), to)
        }
        (Cast::ExtendE5m2, Some(Element::I8), Some(Element::F16)) => {
            extend(emit, "llvm.nvvm.e5m2x2.to.f16x2.rn", (from, value), to)
        }
        (Cast::RoundE4m3, Some(element @ (Element::F16 | Element::F32)), Some(Element::I8)) => {
            round(emit, "e4m3x2", element, (from, value))
        }
        (Cast::RoundE5m2, Some(element @ (Element::F16 | Element::F32)), Some(Element::I8)) => {
            round(emit, "e5m2x2", element, (from, value))
        }
        (Cast::RoundZ, Some(Element::F32), Some(element @ (Element::F16 | Element::Bf16))) => {
            toward_zero(emit, (from, value), element)
        }
        _ => Err(unknown()),
    }
}

/// Emits the cast of `f32` to a 16-bit type toward zero, two elements at a time, by an intrinsic that returns a vector.
fn toward_zero<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    (from, value): Typed<'ctx>,
    element: Element,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let mut numbers = emit.split_to_elements(value, from)?;
    if let &[single] = numbers.as_slice() {
        numbers.push(single);
    }
    let intrinsic = format!("llvm.nvvm.ff2{}x2.rz", element.name());
    let pair = |pair: &[BasicValueEnum<'ctx>]| emit.call_value_intrinsic(&intrinsic, &[pair[1], pair[0]]);
    let pairs = numbers.chunks(2).map(pair).collect::<Result<Vec<_>, _>>()?;
    let two = Type::Vector(element, 2);
    match (from.element_count(), pairs.as_slice()) {
        (1, &[pair]) => first(emit, pair, two),
        (count, _) => {
            let word = emit.llvm_type(Type::Scalar(Element::I32))?;
            let words = pairs.iter().map(|&pair| emit.bitcast(pair, word)).collect::<Result<Vec<_>, _>>()?;
            emit.join_elements(&words, Type::vector_or_scalar(Element::I32, count / 2), Type::Vector(element, count))
        }
    }
}

/// Emits the cast of 8-bit floats to `f16`, two at a time, by an intrinsic that takes two bytes as an `i16`.
fn extend<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    intrinsic: &str,
    (from, value): Typed<'ctx>,
    to: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    const PAIRS_OF_WORD: Type = Type::Vector(Element::I16, 2);
    let pairs = match from.element_count() {
        1 => emit.split_to_elements(emit.to_i32_word(value)?, PAIRS_OF_WORD)?[..1].to_vec(),
        count => emit.split_to_elements(value, Type::vector_or_scalar(Element::I16, count / 2))?,
    };
    let f16_pairs = pairs.into_iter().map(|pair| emit.call_value_intrinsic(intrinsic, &[pair]));
    let f16_pairs = f16_pairs.collect::<Result<Vec<_>, _>>()?;
    match (to.element_count(), f16_pairs.as_slice()) {
        (1, &[pair]) => first(emit, pair, Type::Vector(Element::F16, 2)),
        (count, _) => {
            let word = emit.llvm_type(Type::Scalar(Element::I32))?;
            let words = f16_pairs.iter().map(|&pair| emit.bitcast(pair, word)).collect::<Result<Vec<_>, _>>()?;
            emit.join_elements(&words, Type::vector_or_scalar(Element::I32, count / 2), to)
        }
    }
}

/// Emits the cast of floats of type `element` to the 8-bit `format`, two at a time, by an intrinsic that returns two
/// bytes as an `i16`. Out-of-range numbers saturate to the largest finite number.
fn round<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    format: &str,
    element: Element,
    (from, value): Typed<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let mut numbers = emit.split_to_elements(value, from)?;
    if let &[single] = numbers.as_slice() {
        numbers.push(single);
    }
    let pair = |pair: &[BasicValueEnum<'ctx>]| match element {
        Element::F32 => emit.call_value_intrinsic(&format!("llvm.nvvm.ff.to.{format}.rn"), &[pair[1], pair[0]]),
        _ => {
            let two = Type::Vector(element, 2);
            emit.call_value_intrinsic(
                &format!("llvm.nvvm.f16x2.to.{format}.rn"),
                &[emit.join_elements(pair, two, two)?],
            )
        }
    };
    let pairs = numbers.chunks(2).map(pair).collect::<Result<Vec<_>, _>>()?;
    match (from.element_count(), pairs.as_slice()) {
        (1, &[bytes]) => first(emit, bytes, Type::Vector(Element::I8, 2)),
        (count, _) => emit.join_elements(
            &pairs,
            Type::vector_or_scalar(Element::I16, count / 2),
            Type::Vector(Element::I8, count),
        ),
    }
}

/// Returns the first element of the vector `pair`, which has type `ty`.
fn first<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    pair: BasicValueEnum<'ctx>,
    ty: Type,
) -> Result<BasicValueEnum<'ctx>, CompileError> {
    let elements = emit.split_to_elements(pair, ty)?;
    elements.first().copied().ok_or_else(|| CompileError::Backend("a pair has no elements".to_owned()))
}

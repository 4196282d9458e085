//! LLVM types of the types of the kernel IR.

use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::types::BasicTypeEnum;
use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_plugin::CompileError;

use crate::{LlvmTarget, no_clusters_error};

/// Maximum bits of a vector in the kernel IR; more than the registers of a lane can hold.
const MAX_VECTOR_BITS: u64 = 1 << 14;

/// Returns the LLVM type of a kernel-IR type.
pub(crate) fn llvm_type<'ctx>(
    context: &'ctx Context,
    target: &LlvmTarget,
    ty: Type,
) -> Result<BasicTypeEnum<'ctx>, CompileError> {
    match ty {
        Type::Scalar(element) => Ok(llvm_element(context, element)),
        Type::Vector(element, count) => {
            if count < 2 || !count.is_power_of_two() {
                return Err(CompileError::Invalid(format!(
                    "{ty}: a vector has a power of two, at least 2, of elements"
                )));
            }
            if u64::from(element.bits()) * u64::from(count) > MAX_VECTOR_BITS {
                return Err(CompileError::Unsupported(format!("{ty}: vectors wider than {MAX_VECTOR_BITS} bits")));
            }
            Ok(match llvm_element(context, element) {
                BasicTypeEnum::FloatType(element) => element.vec_type(count).into(),
                BasicTypeEnum::IntType(element) => element.vec_type(count).into(),
                other => other,
            })
        }
        // The result of an asynchronous instruction has the type that it has after the wait, because it is used only
        // after the wait.
        Type::Pending(..) => llvm_type(context, target, ty.after_wait()),
        Type::Pointer(space) => Ok(context.ptr_type(AddressSpace::from(address_space(target, space)?)).into()),
        // A tensor map is represented by the address of the parameter's bytes.
        Type::TensorMap => Ok(context.ptr_type(AddressSpace::default()).into()),
    }
}

fn address_space(target: &LlvmTarget, space: MemorySpace) -> Result<u16, CompileError> {
    match space {
        MemorySpace::Global => Ok(target.global),
        MemorySpace::Shared => Ok(target.shared),
        MemorySpace::Cluster => target.cluster.ok_or_else(no_clusters_error),
    }
}

pub(crate) fn llvm_element(context: &Context, element: Element) -> BasicTypeEnum<'_> {
    match element {
        Element::I1 => context.bool_type().into(),
        Element::I8 => context.i8_type().into(),
        Element::I16 => context.i16_type().into(),
        Element::I32 => context.i32_type().into(),
        Element::I64 => context.i64_type().into(),
        Element::F16 => context.f16_type().into(),
        Element::Bf16 => context.bf16_type().into(),
        Element::F32 => context.f32_type().into(),
        Element::F64 => context.f64_type().into(),
    }
}

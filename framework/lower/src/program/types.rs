//! The kernel IR types of the elements of tile programs.

use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_tile::{self as tile, FloatType};

use super::error::{LowerErrorReason, Lowered};

/// Returns the kernel type that carries an element in registers. Integers and pointers are unchanged, floating-point
/// numbers of eight bits or fewer are integers with their bits, `tf32` is `f32`.
pub(super) fn carrier(ty: &tile::TileType) -> Lowered<Type> {
    let unknown = || LowerErrorReason::unsupported(format!("elements of type `{ty}` cannot be in registers"));
    match ty {
        tile::TileType::Index => Ok(Type::Scalar(Element::I64)),
        tile::TileType::Integer(bits, _) => Element::integer_of_width(*bits).map(Type::Scalar).ok_or_else(unknown),
        tile::TileType::Float(float) => Ok(Type::Scalar(float_carrier(*float))),
        tile::TileType::Pointer(_) => Ok(Type::Pointer(MemorySpace::Global)),
        _ => Err(unknown()),
    }
}

fn float_carrier(float: FloatType) -> Element {
    match native(float) {
        Some(element) => element,
        None => Element::I8,
    }
}

/// Returns the kernel IR's floating-point element of a type; `None` if the kernel IR has no arithmetic for the type.
pub(super) fn native(float: FloatType) -> Option<Element> {
    match float {
        FloatType::F16 => Some(Element::F16),
        FloatType::Bf16 => Some(Element::Bf16),
        FloatType::F32 | FloatType::Tf32 => Some(Element::F32),
        FloatType::F64 => Some(Element::F64),
        _ => None,
    }
}

/// Returns the type that an element has in memory: an `i1` as a byte, an address as an integer.
pub(super) fn stored(ty: Type) -> Type {
    match ty {
        Type::Scalar(Element::I1) => Type::Scalar(Element::I8),
        Type::Pointer(space) => integer(space.address_bits()),
        other => other,
    }
}

/// Returns the kernel IR's integer type of a width; 32 bits for unsupported widths.
pub(super) fn integer(bits: u32) -> Type {
    Type::Scalar(Element::integer_of_width(bits).unwrap_or(Element::I32))
}

//! Which types of the kernel IR carry the elements of tile programs.

use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_tile::{self as tile, Float, GLOBAL};

use super::error::{Lowered, Reason};

/// The type that carries an element: integers and pointers as they are, floating-point numbers of eight bits and fewer as the
/// integers that hold their bits, `tf32` as binary32.
pub(super) fn carrier(ty: &tile::TileType) -> Lowered<Type> {
    let unknown = || Reason::unsupported(format!("elements of type `{ty}` have no place in registers"));
    match ty {
        tile::TileType::Index => Ok(Type::Scalar(Element::I64)),
        tile::TileType::Integer(bits, _) => Element::integer(*bits).map(Type::Scalar).ok_or_else(unknown),
        tile::TileType::Float(float) => Ok(Type::Scalar(float_carrier(*float))),
        tile::TileType::Pointer(pointer) if pointer.space == GLOBAL => Ok(Type::Pointer(MemorySpace::Global)),
        tile::TileType::Pointer(_) => Ok(Type::Pointer(MemorySpace::Shared)),
        _ => Err(unknown()),
    }
}

fn float_carrier(float: Float) -> Element {
    match native(float) {
        Some(element) => element,
        None => Element::I8,
    }
}

/// The floating-point element of the kernel IR that a type is; none where it has no arithmetic there.
pub(super) fn native(float: Float) -> Option<Element> {
    match float {
        Float::F16 => Some(Element::F16),
        Float::Bf16 => Some(Element::Bf16),
        Float::F32 | Float::Tf32 => Some(Element::F32),
        Float::F64 => Some(Element::F64),
        _ => None,
    }
}

/// The type in which memory has an element: whole bytes, addresses as integers.
pub(super) fn stored(ty: Type) -> Type {
    match ty {
        Type::Scalar(Element::I1) => Type::Scalar(Element::I8),
        Type::Pointer(space) => integer(space.address_bits()),
        other => other,
    }
}

/// The integer of a width that the kernel IR has, a word for others.
pub(super) fn integer(bits: u32) -> Type {
    Type::Scalar(Element::integer(bits).unwrap_or(Element::I32))
}

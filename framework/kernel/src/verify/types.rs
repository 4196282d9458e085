//! What types operations ask for.

use crate::{Element, Type};

/// An `i1`.
pub(super) const BOOL: Type = Type::Scalar(Element::I1);

/// An `i32`.
pub(super) const INDEX: Type = Type::Scalar(Element::I32);

pub(super) const WORD: &str = "a scalar of 32 bits";

pub(super) fn is_word(ty: Type) -> bool {
    matches!(ty, Type::Scalar(element) if element.bits() == 32)
}

pub(super) const IN_MEMORY: &str = "a scalar or vector of elements of 8 bits or more";

pub(super) fn is_in_memory(ty: Type) -> bool {
    ty.element().is_some_and(|element| element != Element::I1)
}

pub(super) fn is_float(ty: Type) -> bool {
    ty.element().is_some_and(Element::is_float)
}

pub(super) fn is_integer(ty: Type) -> bool {
    ty.element().is_some_and(|element| !element.is_float())
}

pub(super) const WIDE_INTEGER: &str = "an integer of 8 bits or more";

pub(super) fn is_wide_integer(ty: Type) -> bool {
    is_integer(ty) && is_in_memory(ty)
}

pub(super) const COMPUTED: &str = "f32, f64 or a vector of them";

/// What functions are of.
pub(super) fn is_computed(ty: Type) -> bool {
    matches!(ty.element(), Some(Element::F32 | Element::F64))
}

pub(super) fn is_vector_count(count: u32) -> bool {
    count.is_power_of_two() && (2..=128).contains(&count)
}

pub(super) fn listed(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

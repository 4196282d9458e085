//! Type rules of operands and results.

use crate::{Element, MemorySpace, Type, Value};

/// A set of types.
#[derive(Clone, Copy)]
pub(crate) struct TypeSet {
    /// The types of the set as text for messages, such as `i32 or i64`.
    pub(crate) expected: &'static str,
    /// Whether a type is in the set.
    pub(crate) contains: fn(Type) -> bool,
}

/// The types that an operand or result may have.
#[derive(Clone, Copy)]
pub(crate) enum TypeRule {
    /// Any type; `verify` may check more rules.
    Any,
    /// This type.
    Is(Type),
    /// A type of the set.
    OneOf(TypeSet),
    /// The type that the function computes from the type of the given value.
    From(Value, fn(Type) -> Type),
}

pub(super) fn any() -> TypeRule {
    TypeRule::Any
}

pub(super) fn is(ty: Type) -> TypeRule {
    TypeRule::Is(ty)
}

pub(super) fn one_of(set: TypeSet) -> TypeRule {
    TypeRule::OneOf(set)
}

pub(super) fn computed_from(value: &Value, map: fn(Type) -> Type) -> TypeRule {
    TypeRule::From(*value, map)
}

pub(super) fn same_type_as(value: &Value) -> TypeRule {
    computed_from(value, |ty| ty)
}

/// Returns the rule that a result has the type of the first of these values; any type if there are no values.
pub(super) fn from_first(values: &[Value]) -> TypeRule {
    values.first().map_or(TypeRule::Any, same_type_as)
}

/// The type of conditions and predicates: `i1`.
pub(crate) const BOOL: Type = Type::Scalar(Element::I1);

/// The type `i32`.
pub(crate) const I32: Type = Type::Scalar(Element::I32);

/// The type `i64`.
pub(crate) const I64: Type = Type::Scalar(Element::I64);

/// The type of pointers to shared memory.
pub(crate) const SHARED: Type = Type::Pointer(MemorySpace::Shared);

const fn set(expected: &'static str, contains: fn(Type) -> bool) -> TypeSet {
    TypeSet { expected, contains }
}

pub(crate) const ELEMENTS: TypeSet = set("a scalar or vector", |ty| ty.element().is_some());
pub(crate) const SCALAR: TypeSet = set("a scalar", |ty| matches!(ty, Type::Scalar(_)));
pub(crate) const VECTOR: TypeSet = set("a vector", |ty| matches!(ty, Type::Vector(..)));
pub(crate) const WORD: TypeSet =
    set("a scalar of 32 bits", |ty| matches!(ty, Type::Scalar(element) if element.bits() == 32));
pub(crate) const FLOAT: TypeSet = set("a floating-point type", |ty| ty.element().is_some_and(Element::is_float));
pub(crate) const FMA_FLOAT: TypeSet = set("a floating-point type but bf16", |ty| {
    ty.element().is_some_and(|element| element.is_float() && element != Element::Bf16)
});
/// The types that operands of math functions may have: `f32`, `f64`, and vectors of these.
pub(crate) const MATH_FLOAT: TypeSet =
    set("f32, f64 or a vector of them", |ty| matches!(ty.element(), Some(Element::F32 | Element::F64)));
pub(crate) const INTEGER: TypeSet = set("an integer", is_integer);
pub(crate) const INTEGER_BUT_I1: TypeSet = set("an integer, not i1", is_wide_integer);
pub(crate) const WIDE_INTEGER: TypeSet = set("an integer of 8 bits or more", is_wide_integer);
pub(crate) const IN_MEMORY: TypeSet = set("a scalar or vector of elements of 8 bits or more", is_in_memory);
pub(crate) const BITS: TypeSet = set("a scalar or vector, not of i1, ptr.shared or ptr.global", |ty| {
    is_in_memory(ty) || matches!(ty, Type::Pointer(MemorySpace::Shared | MemorySpace::Global))
});
/// The types of byte offsets that are added to pointers, and of the values of integer atomics.
pub(crate) const OFFSET: TypeSet = set("i32 or i64", |ty| matches!(ty, Type::Scalar(Element::I32 | Element::I64)));
pub(crate) const POINTER: TypeSet = set("a pointer", |ty| matches!(ty, Type::Pointer(_)));
pub(crate) const ATOMIC_POINTER: TypeSet =
    set("ptr.global or ptr.shared", |ty| matches!(ty, Type::Pointer(MemorySpace::Global | MemorySpace::Shared)));
pub(crate) const PRINTED: TypeSet =
    set("a scalar, a vector or ptr.global", |ty| ty.element().is_some() || ty == Type::Pointer(MemorySpace::Global));
pub(crate) const NOT_PENDING: TypeSet = set("a value that is not pending", |ty| !ty.is_pending());
pub(crate) const PENDING: TypeSet = set("a pending value", Type::is_pending);

fn is_integer(ty: Type) -> bool {
    ty.element().is_some_and(|element| !element.is_float())
}

fn is_wide_integer(ty: Type) -> bool {
    is_integer(ty) && is_in_memory(ty)
}

pub(crate) fn is_in_memory(ty: Type) -> bool {
    ty.element().is_some_and(|element| element != Element::I1)
}

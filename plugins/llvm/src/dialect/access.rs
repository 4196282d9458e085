//! Memory accesses that a dialect emits: atomic operations, and loads and stores under a predicate.

use tilewright_kernel::{Atomic, MemoryOrder, MemoryScope, MemorySpace, Type};

use crate::values::{BasicValueEnum, IntValue, PointerValue};

/// An atomic read-modify-write operation on a scalar, or on each element of a vector, in memory.
#[derive(Debug, Clone, Copy)]
pub struct AtomicUpdate<'ctx> {
    /// The arithmetic that the operation does, such as an addition.
    pub op: Atomic,
    /// The memory space of the address.
    pub space: MemorySpace,
    /// Address of the scalar or vector, in the address space of `space`.
    pub pointer: PointerValue<'ctx>,
    /// Type of the scalar or vector.
    pub ty: Type,
    /// The operand that the operation combines with memory.
    pub value: BasicValueEnum<'ctx>,
    /// Memory order of the operation relative to other accesses.
    pub order: MemoryOrder,
    /// Memory scope within which the operation is atomic and ordered.
    pub scope: MemoryScope,
    /// The predicate, an `i1`: if it is false, nothing is accessed and the old value is zero. `None` means true.
    pub predicate: Option<IntValue<'ctx>>,
    /// Whether the kernel uses the old value; if not, any value may be returned in its place.
    pub is_used: bool,
}

/// A load or store of a value under a predicate.
#[derive(Debug, Clone, Copy)]
pub struct PredicatedAccess<'ctx> {
    /// The memory space of the address.
    pub space: MemorySpace,
    /// The address, before the offset is added.
    pub pointer: PointerValue<'ctx>,
    /// Constant offset in bytes from the address. Address plus offset is aligned to the size of the value.
    pub offset: i32,
    /// The predicate, an `i1`: if it is false, the lane does not access memory.
    pub predicate: IntValue<'ctx>,
    /// Type of the loaded or stored value.
    pub ty: Type,
    /// The address as a scalar address plus the lane's offset in bytes; `None` if it is not known to be such a sum.
    pub scalar: Option<ScalarAddress<'ctx>>,
}

/// An address as the sum of an address that is equal in all lanes and an `i32` offset in bytes.
#[derive(Debug, Clone, Copy)]
pub struct ScalarAddress<'ctx> {
    /// The address that is equal in all lanes, and that LLVM holds in scalar registers where the GPU has them.
    pub base: PointerValue<'ctx>,
    /// The offset of the lane in bytes, not negative: an `i32` or `i64`.
    pub offset: IntValue<'ctx>,
    /// The greatest offset of any lane in bytes, below 2^31.
    pub greatest_offset: u32,
    /// The number of predicates under which the kernel stores to addresses with this base.
    pub store_predicates: u32,
}

//! Lowers values that partitions of warps capture. They are rematerialized (computed again) if they follow from scalars
//! alone; otherwise the default partition passes them through shared memory.

use smallvec::SmallVec;
use tilewright_tile::op::name::ttg;

use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowered::{LoweredValue, SharedTensorRef};
use crate::program::lowering::Lowering;
use tilewright_kernel::{Cast, Element, MemorySpace, Type, Value};
use tilewright_tile::{self as tile, Op, ValueOrigin};

/// Bytes of the shared buffer for one captured scalar.
const BYTES: u32 = 8;

/// Emits, in the default partition, the stores to shared memory of the captured values that other partitions cannot
/// rematerialize. The barrier that starts the other partitions follows these stores.
pub(super) fn given(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    for value in lowering.body.op(op).operands.clone() {
        if is_rematerializable(lowering, value) || lowering.groups.passed.contains_key(&value) {
            continue;
        }
        let LoweredValue::Scalar(scalar) = *lowering.lowered(value)? else {
            return Err(LowerErrorReason::unsupported("a tensor that a partition of warps captures"));
        };
        let ty = lowering.builder.type_of(scalar);
        let word = match ty {
            Type::Scalar(Element::I1) => lowering.builder.cast(Cast::ExtendU, scalar, Type::Scalar(Element::I8)),
            Type::Pointer(MemorySpace::Global) => lowering.builder.cast(Cast::Bits, scalar, Type::Scalar(Element::I64)),
            _ => scalar,
        };
        let pointer = lowering.builder.shared_buffer(BYTES, BYTES);
        let first = lowering.is_first();
        lowering.builder.store(pointer, 0, word, first);
        let index = lowering.builder.shared_buffer_count() - 1;
        lowering.groups.passed.insert(value, (index, ty));
    }
    Ok(())
}

/// Sets the lowered values of the arguments of a partition's region, one for each captured value: loads them from
/// shared memory, or rematerializes them.
pub(super) fn taken(lowering: &mut Lowering<'_>, op: Op, arguments: &[tile::Value]) -> Lowered<()> {
    let operands = lowering.body.op(op).operands.clone();
    if arguments.len() != operands.len() {
        return Err(LowerErrorReason::malformed("a partition has another number of arguments than captured values"));
    }
    for (&value, &argument) in operands.iter().zip(arguments) {
        match lowering.groups.passed.get(&value).copied() {
            Some((buffer, ty)) => {
                let scalar = loaded(lowering, buffer, ty);
                lowering.set_assumed_uniform(argument, scalar);
            }
            None => {
                rematerialize(lowering, value)?;
                let lowered = lowering.lowered(value)?.clone();
                match lowered {
                    LoweredValue::Scalar(scalar) if lowering.is_uniform(scalar) => {
                        lowering.set_uniform(argument, scalar)
                    }
                    lowered => lowering.set_lowered(argument, lowered),
                }
            }
        }
    }
    Ok(())
}

fn loaded(lowering: &mut Lowering<'_>, buffer: u32, ty: Type) -> Value {
    let builder = &mut lowering.builder;
    let pointer = builder.shared_address(buffer);
    match ty {
        Type::Scalar(Element::I1) => {
            let word = builder.load(Type::Scalar(Element::I8), pointer, 0, None);
            builder.cast(Cast::Truncate, word, ty)
        }
        Type::Pointer(MemorySpace::Global) => {
            let word = builder.load(Type::Scalar(Element::I64), pointer, 0, None);
            builder.cast(Cast::Bits, word, ty)
        }
        _ => builder.load(ty, pointer, 0, None),
    }
}

/// Whether a value can be rematerialized: it follows from function arguments, constants and addresses of buffers.
fn is_rematerializable(lowering: &Lowering<'_>, value: tile::Value) -> bool {
    let body = lowering.body;
    match body.value_origin(value) {
        ValueOrigin::Argument(block, _) => body.blocks(body.root()).first() == Some(&block),
        ValueOrigin::Result(op, _) => {
            let operation = body.op(op);
            let no_tensors = operation.operands.iter().all(|&operand| body.value_type(operand).as_tensor().is_none());
            let is_allocation = operation.name() == ttg::LOCAL_ALLOC;
            let follows = operation.definition.traits.pure && operation.regions.is_empty() && no_tensors;
            is_allocation || follows && operation.operands.iter().all(|&operand| is_rematerializable(lowering, operand))
        }
    }
}

/// Rematerializes a value at the current insertion point.
fn rematerialize(lowering: &mut Lowering<'_>, value: tile::Value) -> Lowered<()> {
    let body = lowering.body;
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return Ok(()) };
    if let Some(&buffer) = lowering.buffers.get(&value) {
        let pointer = lowering.builder.shared_address(buffer);
        lowering.annotations.allocations.push(pointer);
        lowering.set_lowered(value, LoweredValue::Memory(SharedTensorRef { pointer, at: SmallVec::new() }));
        return Ok(());
    }
    for operand in body.op(op).operands.clone() {
        rematerialize(lowering, operand)?;
    }
    lowering.operation(op).map_err(|failed| *failed.reason)
}

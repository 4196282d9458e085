//! What groups take from outside their regions: made again where it follows from numbers alone, brought through shared memory
//! where the first group found it.

use smallvec::SmallVec;
use tilewright_tile::op::name::ttg;

use crate::program::error::{Lowered, Reason};
use crate::program::lowered::{LoweredValue, Slab};
use crate::program::lowering::Lowering;
use tilewright_kernel::{Cast, Element, MemorySpace, Type, Value};
use tilewright_tile::{self as tile, Op, ValueOrigin};

/// Bytes of a buffer for one number.
const BYTES: u32 = 8;

/// Stores what the other groups cannot make themselves, before all meet.
pub(super) fn given(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    for value in lowering.body.op(op).operands.clone() {
        if can_be_made(lowering, value) || lowering.groups.passed.contains_key(&value) {
            continue;
        }
        let LoweredValue::Scalar(scalar) = *lowering.lowered(value)? else {
            return Err(Reason::unsupported("a tensor that groups of warps take from before"));
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
        let number = lowering.builder.buffers() - 1;
        lowering.groups.passed.insert(value, (number, ty));
    }
    Ok(())
}

/// Says what stands for the arguments of a group's region.
pub(super) fn taken(lowering: &mut Lowering<'_>, op: Op, arguments: &[tile::Value]) -> Lowered<()> {
    let operands = lowering.body.op(op).operands.clone();
    if arguments.len() != operands.len() {
        return Err(Reason::malformed("a group takes fewer or more values than are given"));
    }
    for (&value, &argument) in operands.iter().zip(arguments) {
        match lowering.groups.passed.get(&value).copied() {
            Some((buffer, ty)) => {
                let scalar = loaded(lowering, buffer, ty);
                lowering.hold_found(argument, scalar);
            }
            None => {
                made(lowering, value)?;
                let lowered = lowering.lowered(value)?.clone();
                match lowered {
                    LoweredValue::Scalar(scalar) if lowering.is_uniform(scalar) => {
                        lowering.hold_uniform(argument, scalar)
                    }
                    lowered => lowering.hold(argument, lowered),
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

/// Whether a value follows from what every warp has: arguments of the function, constants, places in memory.
fn can_be_made(lowering: &Lowering<'_>, value: tile::Value) -> bool {
    let body = lowering.body;
    match body.origin(value) {
        ValueOrigin::Argument(block, _) => body.blocks(body.root()).first() == Some(&block),
        ValueOrigin::Result(op, _) => {
            let operation = body.op(op);
            let no_tensors = operation.operands.iter().all(|&operand| body.ty(operand).as_tensor().is_none());
            let is_place = operation.name() == ttg::LOCAL_ALLOC;
            let follows = operation.definition.traits.pure && operation.regions.is_empty() && no_tensors;
            is_place || follows && operation.operands.iter().all(|&operand| can_be_made(lowering, operand))
        }
    }
}

/// Makes a value again where operations are added now.
fn made(lowering: &mut Lowering<'_>, value: tile::Value) -> Lowered<()> {
    let body = lowering.body;
    let ValueOrigin::Result(op, _) = body.origin(value) else { return Ok(()) };
    if let Some(&buffer) = lowering.buffers.get(&value) {
        let pointer = lowering.builder.shared_address(buffer);
        lowering.annotations.allocations.push(pointer);
        lowering.hold(value, LoweredValue::Memory(Slab { pointer, at: SmallVec::new(), part: None }));
        return Ok(());
    }
    for operand in body.op(op).operands.clone() {
        made(lowering, operand)?;
    }
    lowering.operation(op).map_err(|failed| *failed.reason)
}

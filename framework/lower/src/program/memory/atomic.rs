//! Atomic operations: each element's once, however many lanes hold it, and its old value for all of them.

use tilewright_kernel::{
    Atomic, Binary, Builder, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Scope, Type, Value,
};
use tilewright_tile::{self as tile, Op};

use super::super::error::{Lowered, Reason};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::super::places::idle_registers;
use super::super::types::{integer, native, stored};
use super::load::from_memory;
use super::narrow_atomic::{Ordered, changed, combined};
use super::store::both;

impl Ordered {
    fn of(lowering: &Lowering<'_>, op: Op) -> Lowered<Self> {
        let order = match lowering.word(op, "sem") {
            Some("relaxed") => MemoryOrder::Relaxed,
            Some("acquire") => MemoryOrder::Acquire,
            Some("release") => MemoryOrder::Release,
            Some("acq_rel") | None => MemoryOrder::AcquireRelease,
            Some(other) => return Err(Reason::malformed(format!("there is no memory order `{other}`"))),
        };
        let scope = match lowering.word(op, "scope") {
            Some("cta") => MemoryScope::Block,
            Some("gpu") | None => MemoryScope::Device,
            Some("sys") => MemoryScope::System,
            Some(other) => return Err(Reason::malformed(format!("there is no memory scope `{other}`"))),
        };
        Ok(Self { order, scope })
    }
}

pub(in super::super) fn read_modify_write(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let kind = lowering.word(op, "atomic_rmw_op").unwrap_or_default();
    let kind = atomic(kind).ok_or_else(|| Reason::malformed(format!("there is no atomic operation `{kind}`")))?;
    let ordered @ Ordered { order, scope } = Ordered::of(lowering, op)?;
    let mask = lowering.optional(op, "mask");
    combines(kind, lowering.body.ty(lowering.operand(op, 1)?).element())?;
    each(lowering, op, mask, |lowering, operands, predicate| {
        let (pointer, value) = (operands[0], operands[1]);
        let given = lowering.builder.type_of(value);
        let value = if kind == Atomic::FAdd { value } else { lowering.as_word(value) };
        let ty = lowering.builder.type_of(value);
        if ty.bits() < 32 && kind != Atomic::FAdd {
            let next = |builder: &mut Builder, old| combined(builder, kind, old, value);
            let old = changed(&mut lowering.builder, (pointer, ty), predicate, ordered, next);
            return lowering.typed_word(old, given);
        }
        let op = KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope };
        let old = lowering.builder.value(ty, op);
        lowering.typed_word(old, given)
    })
}

/// Whether the elements are of those that an operation is for: sums of floating-point numbers, others of integers, and what is
/// exchanged may be any.
pub(in super::super) fn combines(kind: Atomic, element: &tile::TileType) -> Lowered<()> {
    let fits = match (kind, element) {
        (Atomic::FAdd, tile::TileType::Float(float)) => native(*float).is_some(),
        (Atomic::FAdd, _) => false,
        (Atomic::Exchange, _) => true,
        _ => matches!(element, tile::TileType::Integer(8.., _)),
    };
    match fits {
        true => Ok(()),
        false => Err(Reason::unsupported(format!("`{element}` is no element that this atomic operation is for"))),
    }
}

pub(in super::super) fn compare_exchange(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let ordered @ Ordered { order, scope } = Ordered::of(lowering, op)?;
    each(lowering, op, None, |lowering, operands, predicate| {
        let (pointer, expected, value) = (operands[0], operands[1], operands[2]);
        let given = lowering.builder.type_of(value);
        // Bits are compared.
        let (expected, value) = (lowering.as_word(expected), lowering.as_word(value));
        let ty = lowering.builder.type_of(value);
        if ty.bits() < 32 {
            let next = |builder: &mut Builder, old| {
                let differs = builder.compare(Compare::Ne, old, expected);
                builder.select(differs, old, value)
            };
            let old = changed(&mut lowering.builder, (pointer, ty), predicate, ordered, next);
            return lowering.typed_word(old, given);
        }
        let op = KernelOp::AtomicCompareExchange { pointer, expected, value, predicate, order, scope };
        let old = lowering.builder.value(ty, op);
        lowering.typed_word(old, given)
    })
}

/// The operation that a word names.
pub(in super::super) fn atomic(word: &str) -> Option<Atomic> {
    Some(match word {
        "add" => Atomic::Add,
        "fadd" => Atomic::FAdd,
        "and" => Atomic::And,
        "or" => Atomic::Or,
        "xor" => Atomic::Xor,
        "max" => Atomic::MaxS,
        "min" => Atomic::MinS,
        "umax" => Atomic::MaxU,
        "umin" => Atomic::MinU,
        "exch" => Atomic::Exchange,
        _ => return None,
    })
}

/// `tt.atomic_load`: what is there is combined with nothing. Elements that no atomic operation takes are loaded behind a fence.
pub(in super::super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let Ordered { order, scope } = Ordered::of(lowering, op)?;
    let mask = lowering.optional(op, "mask");
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let word = stored(ty);
    each(lowering, op, mask, |lowering, operands, predicate| {
        let (builder, pointer) = (&mut lowering.builder, operands[0]);
        if word.bits() < 32 {
            let found = builder.load(word, pointer, 0, predicate);
            builder.effect(KernelOp::Fence { scope });
            return from_memory(builder, found, ty);
        }
        let whole = integer(word.bits());
        let value = builder.constant(whole, 0);
        let old = builder.value(whole, KernelOp::AtomicRmw { op: Atomic::Or, pointer, value, predicate, order, scope });
        lowering.typed_word(old, ty)
    })
}

/// `tt.atomic_store`.
pub(in super::super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let Ordered { order, scope } = Ordered::of(lowering, op)?;
    let mask = lowering.optional(op, "mask");
    each(lowering, op, mask, |lowering, operands, predicate| {
        let pointer = operands[0];
        let value = lowering.as_word(operands[1]);
        let builder = &mut lowering.builder;
        let ty = builder.type_of(value);
        if ty.bits() < 32 {
            builder.effect(KernelOp::Fence { scope });
            builder.store(pointer, 0, value, predicate);
            return value;
        }
        let op = KernelOp::AtomicRmw { op: Atomic::Exchange, pointer, value, predicate, order, scope };
        builder.value(ty, op)
    })
}

const WIDE: Type = Type::Scalar(Element::I64);

/// Nanoseconds that a look at memory counts for a timeout, as a power of two: less than any takes that no cache answers, so that
/// nothing is given up too soon.
const LOOK: u64 = 8;

/// `tt.atomic_poll`: waits until memory has what is expected, and says that it has; or that it had not in a number of looks, which the
/// elements of a thread share, where there is a timeout. The kernel has no clock.
pub(in super::super) fn poll(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let ordered = Ordered::of(lowering, op)?;
    let mut left = match lowering.optional(op, "timeout") {
        Some(timeout) => {
            let time = lowering.scalar(timeout)?;
            let by = lowering.builder.constant(WIDE, LOOK);
            Some(lowering.builder.binary(Binary::ShrS, time, by))
        }
        None => None,
    };
    each(lowering, op, None, |lowering, operands, predicate| {
        let expected = lowering.as_word(operands[1]);
        let (found, rest) = looked(&mut lowering.builder, (operands[0], expected), predicate, ordered, left);
        left = rest;
        found
    })
}

/// Looks at memory until it has what is expected, or no look is left: whether it has, and the looks that are left.
fn looked(
    builder: &mut Builder,
    (pointer, expected): (Value, Value),
    predicate: Option<Value>,
    ordered @ Ordered { order, scope }: Ordered,
    left: Option<Value>,
) -> (Value, Option<Value>) {
    let (ty, truth) = (builder.type_of(expected), Type::Scalar(Element::I1));
    let no = builder.constant(truth, 0);
    let carried: Vec<Value> = [no].into_iter().chain(left).collect();
    let types: Vec<Type> = carried.iter().map(|&value| builder.type_of(value)).collect();
    let inside = builder.begin_region(&types);
    let found = if ty.bits() < 32 {
        changed(builder, (pointer, ty), predicate, ordered, |_, old| old)
    } else {
        let value = builder.constant(ty, 0);
        builder.value(ty, KernelOp::AtomicRmw { op: Atomic::Or, pointer, value, predicate, order, scope })
    };
    let differs = builder.compare(Compare::Ne, found, expected);
    // Those that do not take part see zero, and have nothing to wait for.
    let differs = both(builder, predicate, Some(differs)).unwrap_or(differs);
    let one = builder.constant(truth, 1);
    let has = builder.binary(Binary::Xor, differs, one);
    let mut given = vec![differs, has];
    if let Some(&left) = inside.get(1) {
        let (zero, one) = (builder.constant(WIDE, 0), builder.constant(WIDE, 1));
        let rest = builder.binary(Binary::Sub, left, one);
        let may = builder.compare(Compare::LtS, zero, rest);
        given = vec![builder.binary(Binary::And, differs, may), has, rest];
    }
    let body = builder.end_region(&given);
    let ended = builder.while_loop(&carried, body);
    (ended[0], ended.get(1).copied())
}

/// Does `act` for each element once: it gets the operands but for the mask, and who takes part. What it gives is the old
/// value, or another one that the result is.
fn each(
    lowering: &mut Lowering<'_>,
    op: Op,
    mask: Option<tile::Value>,
    mut act: impl FnMut(&mut Lowering<'_>, &[Value], Option<Value>) -> Value,
) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let result = operation.results.first().copied().filter(|&result| lowering.is_used(result));
    let operands: Vec<_> = operation.operands.iter().copied().filter(|&operand| Some(operand) != mask).collect();
    let pointer = lowering.operand(op, 0)?;
    if body.ty(pointer).as_tensor().is_none() {
        let values = operands.iter().map(|&operand| lowering.scalar(operand)).collect::<Lowered<Vec<_>>>()?;
        let mask = mask.map(|mask| lowering.scalar(mask)).transpose()?;
        let is_first = lowering.is_first();
        let predicate = both(&mut lowering.builder, is_first, mask);
        // What the others have written before is seen before, and what they read behind comes behind.
        let meets = lowering.word(op, "sem") != Some("relaxed") && is_first.is_some();
        if meets {
            lowering.builder.barrier(Scope::Block);
        }
        let old = act(lowering, &values, predicate);
        match result {
            Some(result) => {
                let old = lowering.of_first(is_first, old);
                lowering.hold_found(result, old);
            }
            None if meets => lowering.builder.barrier(Scope::Block),
            None => {}
        }
        return Ok(());
    }
    let layout = lowering.layout_of(pointer)?;
    let all = operands.iter().map(|&operand| lowering.spread(operand, &layout)).collect::<Lowered<Vec<_>>>()?;
    let masks = mask.map(|mask| lowering.spread(mask, &layout)).transpose()?;
    let active = lowering.active(&layout);
    let idle = idle_registers(&layout) as usize;
    let mut old: Vec<Value> = Vec::with_capacity(all[0].len());
    for register in 0..all[0].len() {
        if register & idle != 0 {
            old.push(old[register & !idle]);
            continue;
        }
        let values: Vec<Value> = all.iter().map(|values| values[register]).collect();
        let predicate = both(&mut lowering.builder, active, masks.as_ref().map(|masks| masks[register]));
        old.push(act(lowering, &values, predicate));
    }
    if let Some(result) = result {
        let old = lowering.handed_out(&layout, active, &old)?;
        lowering.hold(result, LoweredValue::Tensor(Registers::new(layout, old)));
    }
    Ok(())
}

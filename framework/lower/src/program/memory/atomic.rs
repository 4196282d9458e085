//! Lowers atomic operations: each element is updated once, regardless of replicas, and the old value reaches all
//! replicas.

use tilewright_assign::memory::find_vector_update_bits;
use tilewright_kernel::{
    Atomic, Binary, Builder, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value,
};
use tilewright_tile::op::name::tt;
use tilewright_tile::{self as tile, Op};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::idle_registers;
use super::super::types::{integer, native, stored};
use super::VectorGroups;
use super::load::from_memory;
use super::narrow_atomic::{Ordered, combined, emit_compare_and_swap_loop};
use super::store::both;

impl Ordered {
    fn of(lowering: &Lowering<'_>, op: Op) -> Lowered<Self> {
        let order = match lowering.keyword(op, "sem") {
            Some("relaxed") => MemoryOrder::Relaxed,
            Some("acquire") => MemoryOrder::Acquire,
            Some("release") => MemoryOrder::Release,
            Some("acq_rel") | None => MemoryOrder::AcquireRelease,
            Some(other) => return Err(LowerErrorReason::malformed(format!("there is no memory order `{other}`"))),
        };
        let scope = match lowering.keyword(op, "scope") {
            Some("cta") => MemoryScope::Block,
            Some("gpu") | None => MemoryScope::Device,
            Some("sys") => MemoryScope::System,
            Some(other) => return Err(LowerErrorReason::malformed(format!("there is no memory scope `{other}`"))),
        };
        Ok(Self { order, scope })
    }
}

pub(in super::super) fn read_modify_write(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let kind = lowering.keyword(op, "atomic_rmw_op").unwrap_or_default();
    let kind =
        atomic(kind).ok_or_else(|| LowerErrorReason::malformed(format!("there is no atomic operation `{kind}`")))?;
    let mask = lowering.optional(op, "mask");
    check_atomic_element(kind, lowering.body.value_type(lowering.operand(op, 1)?).element())?;
    each(lowering, op, mask, |lowering, operands, predicate, ordered @ Ordered { order, scope }| {
        let (pointer, value) = (operands[0], operands[1]);
        let given = lowering.builder.type_of(value);
        let value = if kind == Atomic::FAdd { value } else { lowering.emit_integer_bits(value) };
        let ty = lowering.builder.type_of(value);
        if ty.bits() < 32 && kind != Atomic::FAdd {
            let next = |builder: &mut Builder, old| combined(builder, kind, old, value);
            let old = emit_compare_and_swap_loop(&mut lowering.builder, (pointer, ty), predicate, ordered, next);
            return lowering.emit_from_integer_bits(old, given);
        }
        let op = KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope };
        let old = lowering.builder.value(ty, op);
        lowering.emit_from_integer_bits(old, given)
    })
}

/// Checks that the element type fits the operation: `fadd` takes floating-point numbers, `exch` any elements, other
/// operations integers.
pub(in super::super) fn check_atomic_element(kind: Atomic, element: &tile::TileType) -> Lowered<()> {
    let fits = match (kind, element) {
        (Atomic::FAdd, tile::TileType::Float(float)) => native(*float).is_some(),
        (Atomic::FAdd, _) => false,
        (Atomic::Exchange, _) => true,
        _ => matches!(element, tile::TileType::Integer(8.., _)),
    };
    match fits {
        true => Ok(()),
        false => Err(LowerErrorReason::unsupported(format!(
            "this atomic operation does not support elements of `{element}`"
        ))),
    }
}

pub(in super::super) fn compare_exchange(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    each(lowering, op, None, |lowering, operands, predicate, ordered @ Ordered { order, scope }| {
        let (pointer, expected, value) = (operands[0], operands[1], operands[2]);
        let given = lowering.builder.type_of(value);
        // Floating-point numbers are compared bitwise.
        let (expected, value) = (lowering.emit_integer_bits(expected), lowering.emit_integer_bits(value));
        let ty = lowering.builder.type_of(value);
        if ty.bits() < 32 {
            let next = |builder: &mut Builder, old| {
                let differs = builder.compare(Compare::Ne, old, expected);
                builder.select(differs, old, value)
            };
            let old = emit_compare_and_swap_loop(&mut lowering.builder, (pointer, ty), predicate, ordered, next);
            return lowering.emit_from_integer_bits(old, given);
        }
        let op = KernelOp::AtomicCompareExchange { pointer, expected, value, predicate, order, scope };
        let old = lowering.builder.value(ty, op);
        lowering.emit_from_integer_bits(old, given)
    })
}

/// Returns the atomic operation with this keyword; `None` for other words.
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

/// Lowers `tt.atomic_load` as an atomic `or` with zero. Elements too narrow for atomics are loaded, with a fence after
/// the load.
pub(in super::super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let mask = lowering.optional(op, "mask");
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let word = stored(ty);
    each(lowering, op, mask, |lowering, operands, predicate, Ordered { order, scope }| {
        let (builder, pointer) = (&mut lowering.builder, operands[0]);
        if word.bits() < 32 {
            let found = builder.load(word, pointer, 0, predicate);
            builder.effect(KernelOp::Fence { scope });
            return from_memory(builder, found, ty);
        }
        let integer_type = integer(word.bits());
        let value = builder.constant(integer_type, 0);
        let old = builder
            .value(integer_type, KernelOp::AtomicRmw { op: Atomic::Or, pointer, value, predicate, order, scope });
        lowering.emit_from_integer_bits(old, ty)
    })
}

/// Lowers `tt.atomic_store`.
pub(in super::super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let mask = lowering.optional(op, "mask");
    each(lowering, op, mask, |lowering, operands, predicate, Ordered { order, scope }| {
        let pointer = operands[0];
        let value = lowering.emit_integer_bits(operands[1]);
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

/// Log2 of the nanoseconds of a timeout that one poll of memory counts for. An uncached access takes longer than 256
/// ns, so no timeout expires early.
const LOOK: u64 = 8;

/// Lowers `tt.atomic_poll`: waits until memory has the expected value and returns true. With a timeout in nanoseconds,
/// it returns false after a number of polls (the timeout over 2^[`LOOK`]), because kernels have no clock. The elements
/// of a thread share these polls. Without a timeout, the result is a constant, which no thread reads from another.
pub(in super::super) fn poll(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let mut left = match lowering.optional(op, "timeout") {
        Some(timeout) => {
            let time = lowering.scalar(timeout)?;
            let by = lowering.builder.constant(WIDE, LOOK);
            Some(lowering.builder.binary(Binary::ShrS, time, by))
        }
        None => None,
    };
    each(lowering, op, None, |lowering, operands, predicate, ordered| {
        let expected = lowering.emit_integer_bits(operands[1]);
        let (found, rest) = looked(&mut lowering.builder, (operands[0], expected), predicate, ordered, left);
        left = rest;
        if left.is_some() {
            return found;
        }
        let always = lowering.builder.constant(Type::Scalar(Element::I1), 1);
        lowering.propagate_uniform(&[], &[always]);
        always
    })
}

/// Emits a loop that polls memory until it has the expected value, or no poll is left. Returns whether memory has the
/// value, and the number of polls that are left (`None` without a timeout).
fn looked(
    builder: &mut Builder,
    (pointer, expected): (Value, Value),
    predicate: Option<Value>,
    ordered @ Ordered { order, scope }: Ordered,
    left: Option<Value>,
) -> (Value, Option<Value>) {
    let (ty, bool_type) = (builder.type_of(expected), Type::Scalar(Element::I1));
    let no = builder.constant(bool_type, 0);
    let carried: Vec<Value> = [no].into_iter().chain(left).collect();
    let types: Vec<Type> = carried.iter().map(|&value| builder.type_of(value)).collect();
    let inside = builder.begin_region(&types);
    let found = if ty.bits() < 32 {
        emit_compare_and_swap_loop(builder, (pointer, ty), predicate, ordered, |_, old| old)
    } else {
        let value = builder.constant(ty, 0);
        builder.value(ty, KernelOp::AtomicRmw { op: Atomic::Or, pointer, value, predicate, order, scope })
    };
    let differs = builder.compare(Compare::Ne, found, expected);
    // Predicated-off lanes read zero, and do not wait.
    let differs = both(builder, predicate, Some(differs)).unwrap_or(differs);
    let one = builder.constant(bool_type, 1);
    let has = builder.binary(Binary::Xor, differs, one);
    let mut given = vec![differs, has];
    if let Some(&left) = inside.get(1) {
        let (zero, one) = (builder.constant(WIDE, 0), builder.constant(WIDE, 1));
        let rest = builder.binary(Binary::Sub, left, one);
        let may = builder.compare(Compare::LtS, zero, rest);
        given = vec![builder.binary(Binary::And, differs, may), has, rest];
    }
    let body = builder.end_region(&given);
    let final_values = builder.while_loop(&carried, body);
    (final_values[0], final_values.get(1).copied())
}

/// Calls `act` for each element, or each vector of elements that the target updates at once, to emit its update: with
/// the operands except the mask, with the predicate, and with the order that the update itself must have. `act` returns
/// the old value, or another value that becomes the result.
fn each(
    lowering: &mut Lowering<'_>,
    op: Op,
    mask: Option<tile::Value>,
    act: impl FnMut(&mut Lowering<'_>, &[Value], Option<Value>, Ordered) -> Value,
) -> Lowered<()> {
    let operation = lowering.body.op(op);
    let update = TileUpdate {
        op,
        operands: operation.operands.iter().copied().filter(|&operand| Some(operand) != mask).collect(),
        mask,
        result: operation.results.first().copied().filter(|&result| lowering.is_used(result)),
        ordered: Ordered::of(lowering, op)?,
    };
    match lowering.body.value_type(update.operands[0]).as_tensor() {
        None => emit_scalar_update(lowering, &update, act),
        Some(_) => emit_tensor_update(lowering, &update, act),
    }
}

/// An atomic operation of the tile IR.
struct TileUpdate {
    op: Op,
    /// The operands except the mask; the pointer is the first.
    operands: Vec<tile::Value>,
    mask: Option<tile::Value>,
    /// The result; `None` if it has no uses.
    result: Option<tile::Value>,
    ordered: Ordered,
}

fn emit_scalar_update(
    lowering: &mut Lowering<'_>,
    update: &TileUpdate,
    mut act: impl FnMut(&mut Lowering<'_>, &[Value], Option<Value>, Ordered) -> Value,
) -> Lowered<()> {
    let operands = update.operands.iter();
    let values = operands.map(|&operand| lowering.scalar(operand)).collect::<Lowered<Vec<_>>>()?;
    let mask = update.mask.map(|mask| lowering.scalar(mask)).transpose()?;
    let is_first = lowering.is_first_of_program();
    let predicate = both(&mut lowering.builder, is_first, mask);
    // Barriers order the accesses of other threads before and after the operation, and let all threads wait for the one
    // that polls.
    let is_poll = lowering.body.op(update.op).name() == tt::ATOMIC_POLL;
    let needs_barrier = (update.ordered.order != MemoryOrder::Relaxed || is_poll) && is_first.is_some();
    let scope = lowering.program_scope();
    if needs_barrier {
        lowering.builder.barrier(scope);
    }
    let old = act(lowering, &values, predicate, update.ordered);
    let is_same = lowering.is_uniform(old);
    match update.result {
        Some(result) if !is_same => {
            let old = lowering.of_first(is_first, old);
            lowering.set_assumed_uniform(result, old);
        }
        _ if needs_barrier => lowering.builder.barrier(scope),
        _ => {}
    }
    if let Some(result) = update.result.filter(|_| is_same) {
        lowering.set_uniform(result, old);
    }
    Ok(())
}

fn emit_tensor_update(
    lowering: &mut Lowering<'_>,
    update: &TileUpdate,
    mut act: impl FnMut(&mut Lowering<'_>, &[Value], Option<Value>, Ordered) -> Value,
) -> Lowered<()> {
    let (pointer, ordered) = (update.operands[0], update.ordered);
    let layout = lowering.layout_of(pointer)?;
    let operands = update.operands.iter();
    let all = operands.map(|&operand| lowering.registers_in(operand, &layout)).collect::<Lowered<Vec<_>>>()?;
    let masks = update.mask.map(|mask| lowering.registers_in(mask, &layout)).transpose()?;
    let active = lowering.active(&layout);
    let idle = idle_registers(&layout) as usize;
    let element = stored(lowering.builder.type_of(all[all.len() - 1][0]));
    let widths = find_vector_update_bits(lowering.body, update.op, lowering.config.context.target);
    let masked: Vec<_> = update.mask.into_iter().collect();
    let groups = VectorGroups::of((lowering.axis_info, pointer, &masked), &layout, element, widths, u64::MAX);
    let groups: Vec<_> = groups.iter().filter(|group| group[0] & idle == 0).collect();
    // The order among the elements of a tensor is unspecified, so one fence before and one after order them all.
    let has_fences = groups.len() > 1;
    let each = if has_fences { Ordered { order: MemoryOrder::Relaxed, ..ordered } } else { ordered };
    if has_fences && ordered.releases() {
        lowering.builder.effect(KernelOp::Fence { scope: ordered.scope });
    }
    let mut old = all[0].to_vec();
    for group in &groups {
        let mut values = vec![all[0][group[0]]];
        for operand in &all[1..] {
            let elements: Vec<Value> = group.iter().map(|&register| operand[register]).collect();
            values.push(lowering.builder.pack(&elements));
        }
        let predicate = both(&mut lowering.builder, active, masks.as_ref().map(|masks| masks[group[0]]));
        let found = act(lowering, &values, predicate, each);
        for (index, &register) in (0u32..).zip(group).filter(|_| update.result.is_some()) {
            old[register] = lowering.builder.extract(found, index);
        }
    }
    if has_fences && ordered.acquires() {
        lowering.builder.effect(KernelOp::Fence { scope: ordered.scope });
    }
    if let Some(result) = update.result {
        let old: Vec<Value> = (0..old.len()).map(|register| old[register & !idle]).collect();
        let old = lowering.broadcast_replicas(&layout, active, &old)?;
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout, old)));
    }
    Ok(())
}

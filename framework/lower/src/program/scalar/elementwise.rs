//! Lowers elementwise operations, register by register.

use super::cast;
use super::compare;
use super::division_width::CheaperDivision;
use super::float;
use super::function;
use super::integer;
use super::scalar_operation::{Results, Scalar};
use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowered::{LoweredValue, Registers};
use crate::program::lowering::Lowering;
use crate::program::register_differences::RegisterDifferences;
use smallvec::{SmallVec, smallvec};
use std::collections::{HashMap, HashSet};
use tilewright_kernel::{Builder, Value};
use tilewright_math::casts::NativeCasts;
use tilewright_target::Optimization;
use tilewright_tile::op::name::{arith, math, tt};
use tilewright_tile::{FunctionBody, Op, Operation, TileType, ValueOrigin};

/// For given operands, the results that were computed from them: registers with equal operands are computed once.
type Known = HashMap<SmallVec<[Value; 4]>, Results>;

/// A function that lowers an operation on scalars, selected by the operation's name; it returns `None` for names that
/// it does not support.
type Meaning = fn(&mut Scalar<'_>, &str) -> Option<Lowered<Results>>;

/// Whether the operation with this name is elementwise.
pub(crate) fn is_known(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        tt::ADDPTR,
        tt::APPROX_DIVF,
        tt::BITCAST,
        tt::CLAMPF,
        tt::FP_TO_FP,
        tt::INT_TO_PTR,
        tt::MULHIUI,
        tt::PRECISE_DIVF,
        tt::PRECISE_SQRT,
        tt::PTR_TO_INT,
        math::CLAMPF,
        tt::EXTERN_ELEMENTWISE,
    ];
    let by_dialect = name.starts_with("arith.") || name.starts_with("math.") || name.starts_with("tw.math.");
    OTHERS.contains(&name) || by_dialect && ![arith::CONSTANT, arith::FLUSH_DENORMALS].contains(&name)
}

/// Lowers an elementwise operation on scalars, or on each register of tensors.
pub(crate) fn elementwise(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let elements = |values: &[tilewright_tile::Value]| -> Vec<TileType> {
        values.iter().map(|&value| body.value_type(value).element().clone()).collect()
    };
    let (from, to) = (elements(&operation.operands), elements(&operation.results));
    let native = lowering.config.context.native_casts();
    let bits = from.first().and_then(TileType::element_bits);
    let division = bits.and_then(|bits| CheaperDivision::find(lowering.axis_info, operation, bits));
    let shaped = operation.results.iter().find(|&&result| body.value_type(result).as_tensor().is_some());
    let Some(&shaped) = shaped else {
        let values = operation.operands.iter().map(|&value| lowering.scalar(value)).collect::<Lowered<Vec<_>>>()?;
        let results = apply(&mut lowering.builder, (native, division), operation, (&from, &to), &values)?;
        lowering.propagate_uniform(&values, &results);
        for (&result, &value) in operation.results.iter().zip(&results) {
            lowering.set_lowered(result, LoweredValue::Scalar(value));
        }
        return Ok(());
    };
    let layout = lowering.layout_of(shaped)?;
    let operands =
        operation.operands.iter().map(|&value| lowering.registers_in(value, &layout)).collect::<Lowered<Vec<_>>>()?;
    if operation.name() == tt::ADDPTR
        && let Some(added) = lowering.add_to_bases(op, &layout, [&operands[0], &operands[1]])
    {
        return lowering.give_tensor(op, layout, added);
    }
    let mut known = packed_casts(lowering, native, operation, (&from, &to), &operands);
    let registers = 1usize << layout.in_bits(tilewright_layout::Dim::REGISTER);
    let mut results: Vec<Vec<Value>> = vec![Vec::with_capacity(registers); operation.results.len()];
    // Registers whose elements are equal by the axis information, such as those of a row mask in a group of rows that
    // the bound does not cut, are computed once.
    let info = lowering.axis_info.get_proven(shaped).filter(|_| operation.results.len() == 1);
    let info = info.filter(|_| lowering.config.context.enables(Optimization::SharedMasks));
    // A sum costs less than a remainder, but not less than other operations.
    let differences = RegisterDifferences::of(&layout, info);
    let is_remainder = [arith::REMSI, arith::REMUI].contains(&operation.name());
    for register in 0..registers {
        if let [all] = &mut results[..]
            && (is_remainder || differences.source(register).1 == 0)
            && let Some(value) = differences.emit_from(&mut lowering.builder, register, all)
        {
            all.push(value);
            continue;
        }
        let values: SmallVec<[Value; 4]> = operands.iter().map(|operand| operand[register]).collect();
        let found = match known.get(&values) {
            Some(found) => found.clone(),
            None => {
                let found = apply(&mut lowering.builder, (native, division), operation, (&from, &to), &values)?;
                lowering.propagate_uniform(&values, &found);
                known.insert(values, found.clone());
                found
            }
        };
        results.iter_mut().zip(found).for_each(|(all, value)| all.push(value));
    }
    for (&result, values) in operation.results.iter().zip(results) {
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout.clone(), values)));
    }
    Ok(())
}

/// Emits a cast of all registers of a tensor by instructions that convert several numbers at once. Returns the result
/// for each operand register; nothing if the operation is no such cast.
fn packed_casts(
    lowering: &mut Lowering<'_>,
    native: NativeCasts,
    operation: &Operation,
    (from, to): (&[TileType], &[TileType]),
    operands: &[impl std::ops::Deref<Target = [Value]>],
) -> Known {
    let [operand] = operands else { return Known::new() };
    let mut seen = HashSet::new();
    let values: Vec<Value> = operand.iter().copied().filter(|&value| seen.insert(value)).collect();
    // The results of arithmetic are in registers of their own, and packing them takes more than their conversion.
    let body = lowering.body;
    let origin = operation.operands.first().map(|&operand| body.value_origin(operand));
    let is_computed = matches!(origin, Some(ValueOrigin::Result(op, _)) if is_known(body.op(op).name()));
    // Other users, such as dots, pack the numbers in another order.
    let user = operation.results.first().and_then(|&result| lowering.only_user(result));
    let is_extended = user.is_some_and(|user| body.op(user).name() == arith::EXTF);
    // The conversion of a prefetched value leaves its registers to the next one. A code generator that finds the pairs
    // itself converts them where they are used.
    let is_prefetched = operation.operands.first().is_some_and(|&operand| is_prefetched(body, operand));
    let mut scalar =
        Scalar { builder: &mut lowering.builder, operation, from, to, native, division: None, values: &values };
    let casts = if is_computed { None } else { cast::by_bytes(&mut scalar, operation.name()) };
    let casts = casts.or_else(|| cast::by_instructions(&mut scalar, operation.name()));
    let casts = casts
        .or_else(|| (is_extended || is_prefetched).then(|| cast::by_pairs(&mut scalar, operation.name())).flatten());
    let Some(casts) = casts else { return Known::new() };
    let mut known = Known::new();
    for (value, cast) in values.into_iter().zip(casts) {
        lowering.propagate_uniform(&[value], &[cast]);
        known.insert(smallvec![value], smallvec![cast]);
    }
    known
}

/// Whether a loop carries a value to the iteration that uses it, and each iteration loads the next one.
fn is_prefetched(body: &FunctionBody, value: tilewright_tile::Value) -> bool {
    let ValueOrigin::Argument(block, index) = body.value_origin(value) else { return false };
    let yielded = body.ops(block).last().map(|last| &body.op(*last).operands);
    let next = yielded.and_then(|yielded| yielded.get((index as usize).checked_sub(1)?));
    let is_load = |op: &Op| body.op(*op).name() == tt::LOAD;
    match next.map(|next| body.value_origin(*next)) {
        Some(ValueOrigin::Result(op, _)) => body.op_and_nested_ops(op).iter().any(is_load),
        _ => false,
    }
}

/// Lowers an operation on scalars with operands `values`; `from` and `to` are the element types of operands and
/// results.
fn apply(
    builder: &mut Builder,
    (native, division): (NativeCasts, Option<CheaperDivision>),
    operation: &Operation,
    (from, to): (&[TileType], &[TileType]),
    values: &[Value],
) -> Lowered<Results> {
    let meanings: [Meaning; 5] = [integer::apply, float::apply, function::apply, compare::apply, cast::apply];
    let mut scalar = Scalar { builder, operation, from, to, native, division, values };
    let found = meanings.iter().find_map(|meaning| meaning(&mut scalar, operation.name()));
    found.unwrap_or_else(|| Err(LowerErrorReason::unsupported("this operation has no lowering")))
}

//! Who accesses a tensor in shared memory, by which ways, and how often.

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, ttg, tw};

use super::SynthesisError;
use super::boxes::rows;
use crate::layouts::LayoutCache;
use crate::product::product;
use crate::{LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::memory_synthesis::{AccessAlternative, TensorAccess};
use tilewright_tile::marks::IN_PLACE;
use tilewright_tile::{Body, Op, Value, ValueOrigin};

/// What is known of how a copy goes, before the layout of memory is.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// The copy as the program says it.
    pub explicit: String,
    /// Bytes that follow each other in a lane's registers and in global memory.
    pub bytes: Option<u64>,
    /// The row of the instruction table that the program names.
    pub instruction: Option<String>,
}

/// The allocation that a buffer is one of.
pub(super) fn whole(body: &Body, value: Value) -> Value {
    match body.origin(value) {
        ValueOrigin::Result(op, _) if body.op(op).name() == ttg::MEMDESC_INDEX => body.op(op).operands[0],
        _ => value,
    }
}

/// How many buffers there are of which a value is one; none where it is the only one.
pub(super) fn buffer_count(body: &Body, value: Value) -> Option<u64> {
    let whole = whole(body, value);
    (whole != value).then(|| body.ty(whole).shape()?.first().copied())?
}

/// The allocation, and those of its tensors that are meant by their number.
pub(super) fn buffers(body: &Body, tensor: Value) -> Vec<Value> {
    let mut buffers = vec![tensor];
    for op in body.walk(body.root()) {
        let operation = body.op(op);
        if operation.name() == ttg::MEMDESC_INDEX && operation.operands[0] == tensor {
            buffers.push(operation.results[0]);
        }
    }
    buffers
}

/// Who accesses a tensor.
pub(super) fn accesses<'a>(
    body: &Body,
    buffers: &[Value],
    requested: &HashMap<Op, Asked>,
    machine: &LaunchConfig<'a>,
    layouts: &LayoutCache<'_>,
) -> Result<Vec<(Vec<Op>, TensorAccess<'a>)>, SynthesisError> {
    let mut found: Vec<(Vec<Op>, TensorAccess<'a>)> = Vec::new();
    for (op, weight) in weighted(body) {
        let operation = body.op(op);
        let is_of = |operand: usize| operation.operands.get(operand).is_some_and(|value| buffers.contains(value));
        let registers = |value: Value| layouts.distributed(body.ty(value));
        let named = |value: Value| match requested.get(&op) {
            Some(requested) => requested.explicit.clone(),
            None => format!("{} {}", operation.name(), body.display_name(whole(body, value))),
        };
        let context = &machine.context;
        let access = match operation.name() {
            ttg::LOCAL_LOAD if is_of(0) && operation.attributes.get(IN_PLACE).is_some() => {
                by_unit(body, op, &named(operation.operands[0]), machine)?
            }
            ttg::LOCAL_LOAD if is_of(0) => {
                let value = operation.results[0];
                TensorAccess::load(&named(value), registers(value)?, context)
            }
            ttg::LOCAL_STORE if is_of(1) => {
                let value = operation.operands[0];
                TensorAccess::store(&named(value), registers(value)?, context)
            }
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL if is_of(1) => {
                let value = operation.operands[0];
                let most = requested.get(&op).and_then(|requested| requested.bytes).unwrap_or(u64::MAX);
                let all_there = body.operands(op, "mask").is_empty();
                let copy = TensorAccess::copy(&named(operation.operands[1]), registers(value)?, context);
                copy.only(|way| way.bytes() <= most && (all_there || way.leaves_out()))
            }
            tw::LOAD_BOX if body.operand(op, "dst").is_some_and(|buffer| buffers.contains(&buffer)) => {
                boxes(body, op, machine, &named(operation.operands[0]))
            }
            _ => continue,
        };
        let access = match requested.get(&op).and_then(|requested| requested.instruction.as_deref()) {
            Some(row) => pinned(access, row)?,
            None => access,
        };
        // Accesses alike are one, as often as all of them.
        let alike =
            |(_, known): &&mut (Vec<Op>, TensorAccess<'a>)| known.layout == access.layout && known.ways == access.ways;
        match found.iter_mut().find(alike) {
            Some((ops, known)) => {
                ops.push(op);
                known.weight += weight;
            }
            None => found.push((vec![op], access.times(weight))),
        }
    }
    Ok(found)
}

/// A copy by boxes, by any row that brings such.
fn boxes<'a>(body: &Body, load: Op, machine: &LaunchConfig<'a>, name: &str) -> TensorAccess<'a> {
    let ValueOrigin::Result(mapped, _) = body.origin(body.op(load).operands[0]) else {
        return TensorAccess::none(name);
    };
    let strides = body.operands(mapped, "strides");
    let is_one = |value: &Value| body.constant_integer(*value) == Some(1);
    let Some(first) = strides.iter().position(is_one) else { return TensorAccess::none(name) };
    let mut all = TensorAccess::none(name);
    let by_row = rows(strides.len(), machine).filter_map(|(row, _)| TensorAccess::boxes(name, row, Dim::tensor(first)));
    all.ways.extend(by_row.flat_map(|one| one.ways));
    all
}

/// The access of the unit that reads a factor where it lies.
fn by_unit<'a>(
    body: &Body,
    load: Op,
    name: &str,
    machine: &LaunchConfig<'a>,
) -> Result<TensorAccess<'a>, SynthesisError> {
    let value = body.op(load).results[0];
    let wrong = |reasons: String| SynthesisError::Product {
        operation: name.to_owned(),
        source: tilewright_plan::contract::ContractError::Impossible { reasons },
    };
    let of = body.walk(body.root()).into_iter().find(|op| body.op(*op).operands.contains(&value));
    let of = of.ok_or_else(|| wrong("no product reads it".to_owned()))?;
    let plan =
        product(body, of, machine).map_err(|source| SynthesisError::Product { operation: name.to_owned(), source })?;
    let plan = plan.plan;
    let side = usize::from(body.operand(of, "a") != Some(value));
    let access = of_unit(&plan, side, name, machine);
    access.ok_or_else(|| wrong(format!("{} reads no factor from shared memory", plan.unit_name())))
}

/// The access of the unit of a plan to factor 0 or 1; none of a unit that takes it from registers.
pub(crate) fn of_unit<'a>(
    plan: &tilewright_plan::contract::Contraction,
    side: usize,
    name: &str,
    machine: &LaunchConfig<'a>,
) -> Option<TensorAccess<'a>> {
    let role = if (side == 0) == plan.is_transposed() { "b" } else { "a" };
    let row = plan.row().and_then(|name| machine.context.instructions.iter().find(|row| row.name == name));
    let access = row.and_then(|row| TensorAccess::operand(name, row, role));
    access.map(|access| if plan.is_transposed() { access.transposed() } else { access })
}

/// An access by the row alone that the program names.
fn pinned<'a>(access: TensorAccess<'a>, row: &str) -> Result<TensorAccess<'a>, SynthesisError> {
    let known: Vec<&str> = access.ways.iter().filter_map(AccessAlternative::instruction).collect();
    if !known.contains(&row) {
        let (access, known) = (access.name.clone(), known.join(", "));
        return Err(SynthesisError::NoRow { access, row: row.to_owned(), known });
    }
    Ok(access.only(|way| way.instruction() == Some(row)))
}

/// All operations, with how often they are taken to happen.
fn weighted(body: &Body) -> Vec<(Op, u64)> {
    fn of(body: &Body, region: tilewright_tile::Region, weight: u64, found: &mut Vec<(Op, u64)>) {
        for block in body.blocks(region) {
            for &op in body.ops(*block) {
                found.push((op, weight));
                let inner = if body.op(op).name() == scf::FOR { weight * LOOP_WEIGHT } else { weight };
                for region in &body.op(op).regions {
                    of(body, *region, inner, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    of(body, body.root(), 1, &mut found);
    found
}

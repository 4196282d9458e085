//! Where the elements of tensors in shared memory lie, so that all that access them take the fewest wavefronts.

use std::collections::HashMap;
use std::fmt::Write;

use super::derivation::value_name;
use super::memory::{self, Access, Served, Solution, Tensor, Way};
use super::work::Moved;
use super::{AccessLine, MemoryLine, Options, SynthesisError};
use crate::cute::{IntTuple, Layout};
use crate::engine::layouts::Layouts;
use crate::engine::memory::moved_bits;
use crate::engine::product::{IN_PLACE, product};
use crate::engine::{LOOP_WEIGHT, Machine};
use crate::layout::{self, Attribute, Dim, FamilySpec, MemoryLayout};
use crate::movement::Kind;
use crate::tile::{Body, LayoutName, Memory, Op, Origin, Type, Value};

/// What is known of how a copy goes, before the layout of memory is.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// The copy as the program says it.
    pub said: String,
    /// Bytes that follow each other in a lane's registers and in global memory.
    pub bytes: Option<u64>,
    /// The row of the instruction table that the program names.
    pub instruction: Option<String>,
}

/// Finds the layout of a tensor and writes it into the types; with it, how each access goes. `given` is what the program says
/// of the layout, `asked` what is known of copies.
pub(super) fn place(
    body: &mut Body,
    tensor: Value,
    (given, asked): (Option<&str>, &HashMap<Op, Asked>),
    machine: &Machine<'_>,
    layouts: &Layouts<'_>,
    options: Options,
) -> Result<(MemoryLine, Vec<(Op, Moved)>), SynthesisError> {
    let buffers = buffers(body, tensor);
    let named = value_name(body, tensor);
    let ty = body.ty(tensor).clone();
    let one = body.ty(*buffers.last().unwrap_or(&tensor)).clone();
    let refused = |source| SynthesisError::Memory { tensor: named.clone(), source };
    let (ops, accesses): (Vec<Vec<Op>>, Vec<Access<'_>>) =
        accesses(body, &buffers, asked, machine, layouts)?.into_iter().unzip();
    let mut question = Tensor::new(one.shape().unwrap_or_default(), moved_bits(ty.element()));
    if let Some(given) = given {
        question.layout = Some(given.parse::<Layout>().map_err(|error| refused(Box::new(error.into())))?);
    }
    if !options.memory && question.layout.is_none() {
        let strides = (0..question.shape.len()).map(|axis| question.shape[axis + 1..].iter().product::<u64>());
        let rows = Layout::new(&IntTuple::flat(question.shape.iter().copied()), &IntTuple::flat(strides));
        question.layout = Some(rows.map_err(|error| refused(Box::new(error.into())))?);
    }
    let kinds = if options.memory { memory::Options::default().kinds } else { vec![Kind::Plain] };
    let bounds = memory::Options { kinds, ..memory::Options::default() };
    let solution = solve(&question, &accesses, machine, &bounds).map_err(refused)?;
    let layout = memory_name(&solution.memory);
    for &buffer in &buffers {
        if let Type::Memory(memory) = body.ty(buffer) {
            let memory = Memory { layout: layout.clone(), ..(**memory).clone() };
            body.set_type(buffer, Type::Memory(memory.into()));
        }
    }
    let line = |((served, ops), access): ((&Served, &Vec<Op>), &Access<'_>)| AccessLine {
        operation: ops.first().map_or_else(String::new, |op| body.op(*op).name().to_owned()),
        name: served.access.clone(),
        instruction: served.instruction.clone(),
        vector_bits: served.bytes * 8,
        term: served.term.as_ref().map(ToString::to_string),
        issued: served.issued,
        wavefronts: served.wavefronts,
        least: served.least,
        excess: served.conflicts(),
        weight: access.weight,
    };
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    let copies = (elements >> solution.memory.linear.outs().bits()).max(1);
    let how = |(served, ops): (&Served, &Vec<Op>)| -> Vec<(Op, Moved)> {
        let by_row = served.instruction.is_some();
        let moved = Moved { issued: served.issued, wavefronts: served.wavefronts, by_row };
        ops.iter().map(|op| (*op, moved)).collect()
    };
    let moved = solution.served.iter().zip(&ops).flat_map(how).collect();
    let line = MemoryLine {
        tensor: named.clone(),
        ty: one.to_string(),
        layout: layout.text().to_owned(),
        notation: solution.composed().map(|layout| layout.to_string()).unwrap_or_default(),
        term: solution.term.as_ref().map(ToString::to_string),
        price: solution.price,
        bytes: solution.memory.allocated_elements() * u64::from(question.bits / 8) * copies,
        accesses: solution.served.iter().zip(&ops).zip(&accesses).map(line).collect(),
    };
    Ok((line, moved))
}

/// A layout by which copies past the registers stay such, by the widest row that finds one; else any layout, as where the
/// row leaves conflicts of banks and another layout takes less though copies go through registers.
fn solve<'a>(
    question: &Tensor,
    accesses: &[Access<'a>],
    machine: &Machine<'a>,
    bounds: &memory::Options,
) -> Result<Solution, Box<memory::SynthesisError>> {
    let row_bytes = |access: &Access<'_>| {
        let rows = access.ways.iter().filter(|way| access.from_global && way.instruction().is_some());
        rows.map(Way::bytes).collect::<Vec<_>>()
    };
    let mut widths: Vec<u64> = accesses.iter().flat_map(row_bytes).collect();
    widths.sort_unstable();
    widths.dedup();
    for &width in widths.iter().rev() {
        let by_rows = |access: &Access<'a>| -> Access<'a> {
            match access.from_global {
                true => access.clone().only(|way| way.instruction().is_some() && way.bytes() == width),
                false => access.clone(),
            }
        };
        let narrowed: Vec<Access<'a>> = accesses.iter().map(by_rows).collect();
        if let Ok(solution) = memory::solve_with(question, &narrowed, &machine.means, bounds) {
            let conflicts = solution.served.iter().any(|served| served.conflicts() > 0);
            let other =
                conflicts.then(|| memory::solve_with(question, accesses, &machine.means, bounds).ok()).flatten();
            return Ok(other.filter(|other| other.price < solution.price).unwrap_or(solution));
        }
    }
    memory::solve_with(question, accesses, &machine.means, bounds).map_err(Box::new)
}

/// The allocation that a buffer is one of.
pub(super) fn whole(body: &Body, value: Value) -> Value {
    match body.origin(value) {
        Origin::Result(op, _) if body.op(op).name() == "ttg.memdesc_index" => body.op(op).operands[0],
        _ => value,
    }
}

/// The allocation, and those of its tensors that are meant by their number.
fn buffers(body: &Body, tensor: Value) -> Vec<Value> {
    let mut buffers = vec![tensor];
    for op in body.walk(body.root()) {
        let operation = body.op(op);
        if operation.name() == "ttg.memdesc_index" && operation.operands[0] == tensor {
            buffers.push(operation.results[0]);
        }
    }
    buffers
}

/// Who accesses a tensor.
fn accesses<'a>(
    body: &Body,
    buffers: &[Value],
    asked: &HashMap<Op, Asked>,
    machine: &Machine<'a>,
    layouts: &Layouts<'_>,
) -> Result<Vec<(Vec<Op>, Access<'a>)>, SynthesisError> {
    let mut found: Vec<(Vec<Op>, Access<'a>)> = Vec::new();
    for (op, weight) in weighted(body) {
        let operation = body.op(op);
        let is_of = |operand: usize| operation.operands.get(operand).is_some_and(|value| buffers.contains(value));
        let registers = |value: Value| layouts.distributed(body.ty(value));
        let named = |value: Value| match asked.get(&op) {
            Some(asked) => asked.said.clone(),
            None => format!("{} {}", operation.name(), value_name(body, whole(body, value))),
        };
        let means = &machine.means;
        let access = match operation.name() {
            "ttg.local_load" if is_of(0) && operation.attributes.get(IN_PLACE).is_some() => {
                by_unit(body, op, &named(operation.operands[0]), machine)?
            }
            "ttg.local_load" if is_of(0) => {
                let value = operation.results[0];
                Access::load(&named(value), registers(value)?, means)
            }
            "ttg.local_store" if is_of(1) => {
                let value = operation.operands[0];
                Access::store(&named(value), registers(value)?, means)
            }
            "ttg.async_copy_global_to_local" if is_of(1) => {
                let value = operation.operands[0];
                let most = asked.get(&op).and_then(|asked| asked.bytes).unwrap_or(u64::MAX);
                Access::copy(&named(operation.operands[1]), registers(value)?, means).only(|way| way.bytes() <= most)
            }
            _ => continue,
        };
        let access = match asked.get(&op).and_then(|asked| asked.instruction.as_deref()) {
            Some(row) => pinned(access, row)?,
            None => access,
        };
        // Accesses alike are one, as often as all of them.
        let alike =
            |(_, known): &&mut (Vec<Op>, Access<'a>)| known.layout == access.layout && known.ways == access.ways;
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

/// The access of the unit that reads a factor where it lies.
fn by_unit<'a>(body: &Body, load: Op, name: &str, machine: &Machine<'a>) -> Result<Access<'a>, SynthesisError> {
    let value = body.op(load).results[0];
    let wrong = |reasons: String| SynthesisError::Product {
        operation: name.to_owned(),
        source: crate::contract::ContractError::Impossible { reasons },
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
pub(in crate::engine) fn of_unit<'a>(
    plan: &crate::contract::Contraction,
    side: usize,
    name: &str,
    machine: &Machine<'a>,
) -> Option<Access<'a>> {
    let role = if (side == 0) == plan.is_transposed() { "b" } else { "a" };
    let row = plan.row().and_then(|name| machine.means.instructions.iter().find(|row| row.name == name));
    row.and_then(|row| Access::operand(name, row, role))
}

/// An access by the row alone that the program names.
fn pinned<'a>(access: Access<'a>, row: &str) -> Result<Access<'a>, SynthesisError> {
    let known: Vec<&str> = access.ways.iter().filter_map(Way::instruction).collect();
    if !known.contains(&row) {
        let (access, known) = (access.name.clone(), known.join(", "));
        return Err(SynthesisError::NoRow { access, row: row.to_owned(), known });
    }
    Ok(access.only(|way| way.instruction() == Some(row)))
}

/// All operations, with how often they are taken to happen.
fn weighted(body: &Body) -> Vec<(Op, u64)> {
    fn of(body: &Body, region: crate::tile::Region, weight: u64, found: &mut Vec<(Op, u64)>) {
        for block in body.blocks(region) {
            for &op in body.ops(*block) {
                found.push((op, weight));
                let inner = if body.op(op).name() == "scf.for" { weight * LOOP_WEIGHT } else { weight };
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

/// The name by which types say a layout of memory.
pub(in crate::engine) fn memory_name(memory: &MemoryLayout) -> LayoutName {
    let spec = layout::Layout::Memory(memory.clone()).to_spec().unwrap_or_else(|| FamilySpec::new("shared_linear"));
    let mut text = String::from("#ttg.shared_linear<{offset = [");
    for (number, basis) in memory.linear.bases_of(Dim::OFFSET).iter().enumerate() {
        let basis: Vec<String> = basis.iter().map(u64::to_string).collect();
        // Writing to a text does not fail.
        let _ = write!(text, "{}[{}]", if number == 0 { "" } else { ", " }, basis.join(", "));
    }
    text.push_str("]}");
    if let Some(Attribute::Int(alignment)) = spec.attributes.get("alignment") {
        let _ = write!(text, ", alignment = {alignment}");
    }
    text.push('>');
    LayoutName::new(spec, text)
}

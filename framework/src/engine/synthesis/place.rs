//! Where the elements of tensors in shared memory lie, so that all that access them take the fewest wavefronts.

use std::collections::HashMap;
use std::fmt::Write;

use super::leaf::LATENCY;
use super::memory::{self, Access, Served, Solution, Tensor, Way};
use super::{AccessLine, MemoryLine, Options, SynthesisError};
use crate::cute::Layout;
use crate::engine::Machine;
use crate::engine::layouts::Layouts;
use crate::engine::memory::moved_bits;
use crate::layout::{self, Attribute, Dim, FamilySpec, MemoryLayout};
use crate::movement::Kind;
use crate::tile::{Body, LayoutName, Memory, Op, Origin, Type, Value};

/// How often what is in a loop is taken to happen.
const LOOP_WEIGHT: u64 = 8;

/// Finds the layout of a tensor and writes it into the types. `given` is what the program says of it, `bytes` what
/// copies bring together.
pub(super) fn place(
    body: &mut Body,
    tensor: Value,
    (given, bytes): (Option<&str>, &HashMap<Op, u64>),
    machine: &Machine<'_>,
    layouts: &Layouts<'_>,
    options: Options,
) -> Result<MemoryLine, SynthesisError> {
    let buffers = buffers(body, tensor);
    let named = name_of(body, tensor);
    let ty = body.ty(tensor).clone();
    let one = body.ty(*buffers.last().unwrap_or(&tensor)).clone();
    let refused = |source| SynthesisError::Memory { tensor: named.clone(), source };
    let (ops, accesses): (Vec<Op>, Vec<Access<'_>>) =
        accesses(body, &buffers, bytes, machine, layouts)?.into_iter().unzip();
    let mut question = Tensor::new(one.shape().unwrap_or_default(), moved_bits(ty.element()));
    if let Some(given) = given {
        question.layout = Some(given.parse::<Layout>().map_err(|error| refused(Box::new(error.into())))?);
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
    let line = |((served, op), access): ((&Served, &Op), &Access<'_>)| AccessLine {
        operation: body.op(*op).name().to_owned(),
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
    Ok(MemoryLine {
        tensor: named.clone(),
        ty: one.to_string(),
        layout: layout.text().to_owned(),
        notation: solution.composed().map(|layout| layout.to_string()).unwrap_or_default(),
        term: solution.term.as_ref().map(ToString::to_string),
        price: solution.price + waiting(&accesses, &solution),
        bytes: solution.memory.allocated_elements() * u64::from(question.bits / 8) * copies,
        accesses: solution.served.iter().zip(&ops).zip(&accesses).map(line).collect(),
    })
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

/// Cycles until what global memory is asked for is there, where a copy that could go past the registers goes through them: it
/// is waited for where it is asked for.
fn waiting(accesses: &[Access<'_>], solution: &Solution) -> f64 {
    let through = accesses.iter().zip(&solution.served).filter(|(access, served)| {
        let could = access.ways.iter().any(|way| way.instruction().is_some());
        access.from_global && served.instruction.is_none() && could
    });
    through.map(|(access, _)| access.weight as f64 * LATENCY).sum()
}

/// The allocation that a buffer is one of.
fn whole(body: &Body, value: Value) -> Value {
    match body.origin(value) {
        Origin::Result(op, _) if body.op(op).name() == "ttg.memdesc_index" => body.op(op).operands[0],
        _ => value,
    }
}

fn name_of(body: &Body, value: Value) -> String {
    body.name(value).map_or_else(|| format!("%{}", value.index()), |name| format!("%{name}"))
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
    bytes: &HashMap<Op, u64>,
    machine: &Machine<'a>,
    layouts: &Layouts<'_>,
) -> Result<Vec<(Op, Access<'a>)>, SynthesisError> {
    let mut found: Vec<(Op, Access<'a>)> = Vec::new();
    for (op, weight) in weighted(body) {
        let operation = body.op(op);
        let is_of = |operand: usize| operation.operands.get(operand).is_some_and(|value| buffers.contains(value));
        let registers = |value: Value| layouts.distributed(body.ty(value));
        let named = |value: Value| format!("{} {}", operation.name(), name_of(body, whole(body, value)));
        let means = &machine.means;
        let access = match operation.name() {
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
                let most = bytes.get(&op).copied().unwrap_or(u64::MAX);
                Access::copy(&named(operation.operands[1]), registers(value)?, means).only(|way| way.bytes() <= most)
            }
            _ => continue,
        };
        // Accesses alike are one, as often as all of them.
        let alike = |(_, known): &&mut (Op, Access<'a>)| known.layout == access.layout && known.ways == access.ways;
        match found.iter_mut().find(alike) {
            Some((_, known)) => known.weight += weight,
            None => found.push((op, access.times(weight))),
        }
    }
    Ok(found)
}

/// All operations, with how often they are taken to happen.
pub(super) fn weighted(body: &Body) -> Vec<(Op, u64)> {
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
fn memory_name(memory: &MemoryLayout) -> LayoutName {
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

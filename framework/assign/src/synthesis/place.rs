//! Where the elements of tensors in shared memory lie, so that all that access them take the fewest wavefronts.

use std::collections::HashMap;
use std::fmt::Write;

use super::accesses::{Asked, accesses, buffers};
use super::work::Moved;
use super::{AccessLine, MemoryLine, Options, SynthesisError};
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use crate::memory::moved_bits;
use tilewright_layout::cute::{CuteLayout, IntTuple};
use tilewright_layout::{self as layout, Dim, FamilyAttribute, FamilySpec, LinearLayout, MemoryLayout};
use tilewright_plan::memory_synthesis::{
    self as memory, AccessAlternative, AccessSolution, SharedTensor, Solution, TensorAccess,
};
use tilewright_plan::movement::Kind;
use tilewright_tile::{Body, LayoutName, MemDescType, Op, TileType, Value};

/// A tensor whose layout was found.
pub(super) struct Placed {
    pub line: MemoryLine,
    /// How each access goes.
    pub moved: Vec<(Op, Moved)>,
    /// Who brings what, of copies by lanes that fetch what lies side by side in this memory.
    pub fetched: Vec<(Op, LinearLayout)>,
    /// Where its elements lie.
    pub memory: MemoryLayout,
}

/// What the program says of a tensor's layout, and what is settled of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'k> {
    /// Where elements lie but for a swizzle, as the program says it.
    pub given: Option<&'k str>,
    /// The whole layout, where copies are made for it.
    pub settled: Option<&'k MemoryLayout>,
}

/// Finds the layout of a tensor and writes it into the types; with it, how each access goes. `known` is what the program says
/// of the layout, `requested` what is known of copies.
pub(super) fn place(
    body: &mut Body,
    tensor: Value,
    (known, requested): (Known<'_>, &HashMap<Op, Asked>),
    machine: &LaunchConfig<'_>,
    layouts: &LayoutCache<'_>,
    options: Options,
) -> Result<Placed, SynthesisError> {
    let buffers = buffers(body, tensor);
    let named = body.display_name(tensor);
    let ty = body.ty(tensor).clone();
    let one = body.ty(*buffers.last().unwrap_or(&tensor)).clone();
    let refused = |source| SynthesisError::Memory { tensor: named.clone(), source };
    let (ops, accesses): (Vec<Vec<Op>>, Vec<TensorAccess<'_>>) =
        accesses(body, &buffers, requested, machine, layouts)?.into_iter().unzip();
    let mut problem = SharedTensor::new(one.shape().unwrap_or_default(), moved_bits(ty.element()));
    if let Some(given) = known.given {
        problem.layout = Some(given.parse::<CuteLayout>().map_err(|error| refused(Box::new(error.into())))?);
    }
    if !options.memory && problem.layout.is_none() {
        let strides = (0..problem.shape.len()).map(|axis| problem.shape[axis + 1..].iter().product::<u64>());
        let rows = CuteLayout::new(&IntTuple::flat(problem.shape.iter().copied()), &IntTuple::flat(strides));
        problem.layout = Some(rows.map_err(|error| refused(Box::new(error.into())))?);
    }
    let kinds = if options.memory { memory::SearchBounds::default().kinds } else { vec![Kind::Plain] };
    let bounds = memory::SearchBounds { kinds, ..memory::SearchBounds::default() };
    let solution = match known.settled {
        Some(memory) => memory::serve(&problem, &accesses, memory, &machine.context).map_err(Box::new),
        None => solve(&problem, &accesses, machine, &bounds),
    };
    let solution = solution.map_err(refused)?;
    let layout = memory_name(&solution.memory);
    for &buffer in &buffers {
        if let TileType::Memory(memory) = body.ty(buffer) {
            let memory = MemDescType { layout: layout.clone(), ..(**memory).clone() };
            body.set_type(buffer, TileType::Memory(memory.into()));
        }
    }
    let line = |((served, ops), access): ((&AccessSolution, &Vec<Op>), &TensorAccess<'_>)| AccessLine {
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
    let how = |(served, ops): (&AccessSolution, &Vec<Op>)| -> Vec<(Op, Moved)> {
        let by_row = served.instruction.is_some();
        let moved = Moved { issued: served.issued, wavefronts: served.wavefronts, by_row };
        ops.iter().map(|op| (*op, moved)).collect()
    };
    let moved = solution.served.iter().zip(&ops).flat_map(how).collect();
    let fetched = solution.served.iter().zip(&ops).filter_map(|(served, ops)| Some((served.fetched.clone()?, ops)));
    let fetched = fetched.flat_map(|(layout, ops)| ops.iter().map(move |op| (*op, layout.clone()))).collect();
    let line = MemoryLine {
        tensor: named.clone(),
        ty: one.to_string(),
        layout: layout.text().to_owned(),
        notation: solution.composed().map(|layout| layout.to_string()).unwrap_or_default(),
        term: solution.term.as_ref().map(ToString::to_string),
        price: solution.price,
        bytes: solution.memory.allocated_bytes(problem.bits) * copies,
        accesses: solution.served.iter().zip(&ops).zip(&accesses).map(line).collect(),
    };
    Ok(Placed { line, moved, fetched, memory: solution.memory })
}

/// A layout by which copies past the registers stay such, by the widest row that finds one; else any layout, as where the
/// row leaves conflicts of banks and another layout takes less though copies go through registers.
fn solve<'a>(
    problem: &SharedTensor,
    accesses: &[TensorAccess<'a>],
    machine: &LaunchConfig<'a>,
    bounds: &memory::SearchBounds,
) -> Result<Solution, Box<memory::MemorySynthesisError>> {
    let row_bytes = |access: &TensorAccess<'_>| {
        let rows = access.ways.iter().filter(|way| access.from_global && way.instruction().is_some());
        rows.map(AccessAlternative::bytes).collect::<Vec<_>>()
    };
    let mut widths: Vec<u64> = accesses.iter().flat_map(row_bytes).collect();
    widths.sort_unstable();
    widths.dedup();
    for &width in widths.iter().rev() {
        let by_rows = |access: &TensorAccess<'a>| -> TensorAccess<'a> {
            match access.from_global {
                true => access.clone().only(|way| way.instruction().is_some() && way.bytes() == width),
                false => access.clone(),
            }
        };
        let narrowed: Vec<TensorAccess<'a>> = accesses.iter().map(by_rows).collect();
        if let Ok(solution) = memory::solve_with(problem, &narrowed, &machine.context, bounds) {
            let conflicts = solution.served.iter().any(|served| served.conflicts() > 0);
            let other =
                conflicts.then(|| memory::solve_with(problem, accesses, &machine.context, bounds).ok()).flatten();
            return Ok(other.filter(|other| other.price < solution.price).unwrap_or(solution));
        }
    }
    memory::solve_with(problem, accesses, &machine.context, bounds).map_err(Box::new)
}

/// The name by which types say a layout of memory.
pub(crate) fn memory_name(memory: &MemoryLayout) -> LayoutName {
    let spec = layout::Layout::Memory(memory.clone()).to_spec().unwrap_or_else(|| FamilySpec::new("shared_linear"));
    let mut text = String::from("#ttg.shared_linear<{offset = [");
    for (number, basis) in memory.linear.bases_of(Dim::OFFSET).iter().enumerate() {
        let basis: Vec<String> = basis.iter().map(u64::to_string).collect();
        // Writing to a text does not fail.
        let _ = write!(text, "{}[{}]", if number == 0 { "" } else { ", " }, basis.join(", "));
    }
    text.push_str("]}");
    if let Some(FamilyAttribute::Int(alignment)) = spec.attributes.get("alignment") {
        let _ = write!(text, ", alignment = {alignment}");
    }
    text.push('>');
    LayoutName::new(spec, text)
}

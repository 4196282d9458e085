//! Finds the layouts of tensors in shared memory that need the fewest wavefronts over all accesses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;

use super::accesses::{AccessOp, CopyConstraints, accesses, buffers, parts};
use super::work::AccessCounts;
use super::{AccessReport, SharedTensorReport, SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use crate::memory::element_bits_while_moved;
use tilewright_layout::cute::{CuteLayout, IntTuple};
use tilewright_layout::{self as layout, Dim, FamilyParameterValue, FamilySpec, LinearLayout, MemoryLayout};
use tilewright_plan::memory_synthesis::{
    self as memory, AccessAlternative, AccessSolution, SharedLayoutSolution, SharedTensor, TensorAccess,
};
use tilewright_plan::movement::SharedLayoutKind;
use tilewright_tile::{FunctionBody, LayoutAttribute, MemDescType, Op, TileType, Value};

/// A tensor in shared memory with the layout that was found for it.
pub(super) struct Placed {
    pub line: SharedTensorReport,
    /// The counts of each access, with the operation that makes it.
    pub moved: Vec<(Op, AccessCounts)>,
    /// For each copy whose lanes write neighbouring bytes of shared memory, the layout by which the lanes fetch from
    /// global memory.
    pub fetched: Vec<(Op, LinearLayout)>,
    /// The memory layout of the tensor.
    pub memory: MemoryLayout,
}

/// The problems of memory layouts that were solved, with their solutions. Leaves of a search (complete choices) that
/// differ in other choices have equal problems.
#[derive(Default)]
pub(super) struct SolvedLayouts<'m>(RefCell<Vec<SolvedLayout<'m>>>);

struct SolvedLayout<'m> {
    problem: SharedTensor,
    accesses: Vec<TensorAccess<'m>>,
    solution: Result<SharedLayoutSolution, Box<memory::MemorySynthesisError>>,
}

impl<'m> SolvedLayouts<'m> {
    /// Returns the solution of a problem; solves it if it is new.
    fn solve(
        &self,
        problem: &SharedTensor,
        accesses: &[TensorAccess<'m>],
        config: &LaunchConfig<'m>,
        bounds: &memory::SharedLayoutSearchLimits,
    ) -> Result<SharedLayoutSolution, Box<memory::MemorySynthesisError>> {
        let is_equal = |known: &&SolvedLayout<'_>| known.problem == *problem && known.accesses == accesses;
        if let Some(known) = self.0.borrow().iter().find(is_equal) {
            return known.solution.clone();
        }
        let solution = solve(problem, accesses, config, bounds);
        let solved = SolvedLayout { problem: problem.clone(), accesses: accesses.to_vec(), solution: solution.clone() };
        self.0.borrow_mut().push(solved);
        solution
    }
}

/// The properties of a tensor that are known before the search for its memory layout.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'k> {
    /// The name of a tensor that has none in the program.
    pub name: Option<&'k str>,
    /// The layout up to a swizzle, as the program states it; `None` if it states none.
    pub given: Option<&'k str>,
    /// The whole layout, if choices for copies already depend on it.
    pub settled: Option<&'k MemoryLayout>,
}

/// Finds the layout of a tensor in shared memory, and writes it into the types of its values. Returns the layout with
/// the counts of each access. `known` is the part of the layout that is known, `requested` the known properties of each
/// copy, `solved` the solutions that are known.
pub(super) fn choose_layout<'m>(
    body: &mut FunctionBody,
    tensor: Value,
    (known, requested, solved): (Known<'_>, &HashMap<Op, CopyConstraints>, &SolvedLayouts<'m>),
    config: &LaunchConfig<'m>,
    layouts: &LayoutCache<'_>,
    options: SynthesisOptions,
) -> Result<Placed, SynthesisError> {
    let buffers = buffers(body, tensor);
    let named = known.name.map_or_else(|| body.display_name(tensor), str::to_owned);
    let ty = body.value_type(tensor).clone();
    let one = body.value_type(*buffers.last().unwrap_or(&tensor)).clone();
    let refused = |source| SynthesisError::Memory { tensor: named.clone(), source };
    let parts = parts(body, &buffers);
    let buffers = [buffers, parts].concat();
    let (ops, accesses): (Vec<Vec<AccessOp>>, Vec<TensorAccess<'m>>) =
        accesses(body, &buffers, requested, config, layouts)?.into_iter().unzip();
    let mut problem = SharedTensor::new(one.shape().unwrap_or_default(), element_bits_while_moved(ty.element()));
    if let Some(given) = known.given {
        problem.layout = Some(given.parse::<CuteLayout>().map_err(|error| refused(Box::new(error.into())))?);
    }
    if !options.memory && problem.layout.is_none() {
        let strides = (0..problem.shape.len()).map(|axis| problem.shape[axis + 1..].iter().product::<u64>());
        let rows = CuteLayout::new(&IntTuple::flat(problem.shape.iter().copied()), &IntTuple::flat(strides));
        problem.layout = Some(rows.map_err(|error| refused(Box::new(error.into())))?);
    }
    let kinds =
        if options.memory { memory::SharedLayoutSearchLimits::default().kinds } else { vec![SharedLayoutKind::Plain] };
    let bounds = memory::SharedLayoutSearchLimits { kinds, ..memory::SharedLayoutSearchLimits::default() };
    let solution = match known.settled {
        Some(memory) => {
            memory::choose_accesses_for_layout(&problem, &accesses, memory, &config.context).map_err(Box::new)
        }
        None => solved.solve(&problem, &accesses, config, &bounds),
    };
    let solution = solution.map_err(refused)?;
    let layout = memory_name(&solution.memory);
    for &buffer in &buffers {
        if let TileType::Memory(memory) = body.value_type(buffer) {
            let memory = MemDescType { layout: layout.clone(), ..(**memory).clone() };
            body.set_type(buffer, TileType::Memory(memory.into()));
        }
    }
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    let copies = (elements >> solution.memory.linear.outs().total_bits()).max(1);
    let how = |(served, ops): (&AccessSolution, &Vec<AccessOp>)| -> Vec<(Op, AccessCounts)> {
        let moved = AccessCounts::from(served);
        ops.iter().map(|access| (access.op, moved)).collect()
    };
    let moved = solution.served.iter().zip(&ops).flat_map(how).collect();
    let fetched = solution.served.iter().zip(&ops).filter_map(|(served, ops)| Some((served.fetched.clone()?, ops)));
    let fetched = fetched.flat_map(|(layout, ops)| ops.iter().map(move |access| (access.op, layout.clone()))).collect();
    let line = SharedTensorReport {
        tensor: named.clone(),
        ty: one.to_string(),
        layout: layout.text().to_owned(),
        notation: solution.composed_layout().map(|layout| layout.to_string()).unwrap_or_default(),
        term: solution.term.as_ref().map(ToString::to_string),
        price: solution.price,
        bytes: solution.memory.allocated_bytes(problem.bits) * copies,
        accesses: solution
            .served
            .iter()
            .zip(&ops)
            .flat_map(|(served, ops)| access_reports(body, served, ops))
            .collect(),
    };
    Ok(Placed { line, moved, fetched, memory: solution.memory })
}

/// Returns one report for each operation of the program that makes an access.
fn access_reports(body: &FunctionBody, served: &AccessSolution, ops: &[AccessOp]) -> Vec<AccessReport> {
    let mut sources: Vec<Op> = Vec::new();
    let mut reports: Vec<AccessReport> = Vec::new();
    for AccessOp { op, source, name, weight } in ops {
        if let Some(index) = sources.iter().position(|known| known == source) {
            reports[index].emitted += 1;
            reports[index].weight += weight;
            continue;
        }
        sources.push(*source);
        reports.push(AccessReport {
            operation: body.op(*op).name().to_owned(),
            name: name.clone(),
            instruction: served.instruction.clone(),
            vector_bits: served.bytes * 8,
            term: served.term.as_ref().map(ToString::to_string),
            issued: served.issued,
            wavefronts: served.wavefronts,
            least: served.lower_bound,
            excess: served.conflict_wavefronts(),
            emitted: 1,
            weight: *weight,
        });
    }
    reports
}

/// Solves for a memory layout that the widest possible asynchronous copies can fill. If that layout has bank conflicts,
/// if lanes permute or move registers, or if plain accesses are wider, a layout for any accesses (such as copies through
/// registers) is returned if it is cheaper. If no asynchronous copies
/// can fill a layout, the layout is for any accesses too.
fn solve<'a>(
    problem: &SharedTensor,
    accesses: &[TensorAccess<'a>],
    config: &LaunchConfig<'a>,
    bounds: &memory::SharedLayoutSearchLimits,
) -> Result<SharedLayoutSolution, Box<memory::MemorySynthesisError>> {
    let row_bytes = |access: &TensorAccess<'_>| {
        let rows =
            access.alternatives.iter().filter(|alternative| access.from_global && alternative.instruction().is_some());
        rows.map(AccessAlternative::bytes).collect::<Vec<_>>()
    };
    let mut widths: Vec<u64> = accesses.iter().flat_map(row_bytes).collect();
    widths.sort_unstable();
    widths.dedup();
    for &width in widths.iter().rev() {
        let by_rows = |access: &TensorAccess<'a>| -> TensorAccess<'a> {
            match access.from_global {
                true => access.clone().with_retained_alternatives(|alternative| {
                    alternative.instruction().is_some() && alternative.bytes() == width
                }),
                false => access.clone(),
            }
        };
        let narrowed: Vec<TensorAccess<'a>> = accesses.iter().map(by_rows).collect();
        if let Ok(solution) =
            memory::solve_shared_layout_with_search_limits(problem, &narrowed, &config.context, bounds)
        {
            let is_perfect = |served: &AccessSolution| served.conflict_wavefronts() == 0 && served.permutes == 0;
            let is_narrow = |access: &TensorAccess<'_>| {
                access.from_global && access.alternatives.iter().any(|alternative| alternative.bytes() > width)
            };
            let other = (!solution.served.iter().all(is_perfect) || accesses.iter().any(is_narrow))
                .then(|| {
                    memory::solve_shared_layout_with_search_limits(problem, accesses, &config.context, bounds).ok()
                })
                .flatten();
            return Ok(other.filter(|other| other.price < solution.price).unwrap_or(solution));
        }
    }
    memory::solve_shared_layout_with_search_limits(problem, accesses, &config.context, bounds).map_err(Box::new)
}

/// Returns the attribute by which types name a memory layout.
pub(crate) fn memory_name(memory: &MemoryLayout) -> LayoutAttribute {
    let spec = layout::Layout::Memory(memory.clone()).to_spec().unwrap_or_else(|| FamilySpec::new("shared_linear"));
    let mut text = String::from("#ttg.shared_linear<{offset = [");
    for (index, basis) in memory.linear.bases_of(Dim::OFFSET).iter().enumerate() {
        let basis: Vec<String> = basis.iter().map(u64::to_string).collect();
        // Writing to a text does not fail.
        let _ = write!(text, "{}[{}]", if index == 0 { "" } else { ", " }, basis.join(", "));
    }
    text.push_str("]}");
    if let Some(FamilyParameterValue::Int(alignment)) = spec.attributes.get("alignment") {
        let _ = write!(text, ", alignment = {alignment}");
    }
    text.push('>');
    LayoutAttribute::new(spec, text)
}

//! Finds the layouts of tensors in shared memory that need the fewest wavefronts over all accesses.

use std::collections::HashMap;

use super::accesses::{AccessCounts, AccessIndex, AccessOp, CopyConstraints, accesses};
use super::{AccessReport, SharedTensorReport, SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use crate::memory::element_bits_while_moved;
use crate::shared_buffer::{SharedBuffer, SolvedLayouts, memory_name};
use tilewright_layout::cute::{CuteLayout, IntTuple};
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::memory_synthesis::{
    AccessSolution, MemorySynthesisError, SharedLayoutSearchLimits, SharedTensor, TensorAccess,
    choose_accesses_for_layout,
};
use tilewright_plan::movement::SharedLayoutKind;
use tilewright_tile::{FunctionBody, MemDescType, Op, TileType, Value};

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
    (body, index): (&mut FunctionBody, &AccessIndex),
    tensor: Value,
    (known, requested, solved): (Known<'_>, &HashMap<Op, CopyConstraints>, &SolvedLayouts<'m>),
    config: &LaunchConfig<'m>,
    layouts: &LayoutCache<'_>,
    options: SynthesisOptions,
) -> Result<Placed, SynthesisError> {
    let buffers = index.buffers(body, tensor);
    let named = known.name.map_or_else(|| body.display_name(tensor), str::to_owned);
    let ty = body.value_type(tensor).clone();
    let one = body.value_type(*buffers.last().unwrap_or(&tensor)).clone();
    let refused = |source| SynthesisError::Memory { tensor: named.clone(), source };
    let parts = index.parts(body, &buffers);
    let buffers = [buffers, parts].concat();
    let (ops, accesses): (Vec<Vec<AccessOp>>, Vec<TensorAccess<'m>>) =
        accesses((body, index), &buffers, requested, config, layouts)?.into_iter().unzip();
    let bits = element_bits_while_moved(ty.element());
    let problem = pose_tensor(one.shape().unwrap_or_default(), bits, known, options).map_err(refused)?;
    let kinds = if options.memory { SharedLayoutSearchLimits::default().kinds } else { vec![SharedLayoutKind::Plain] };
    let limits = SharedLayoutSearchLimits { kinds, ..SharedLayoutSearchLimits::default() };
    let mma_reads = ops.iter().flatten().filter_map(|access| access.mma_read.clone()).collect();
    let problem = SharedBuffer { limits, ..SharedBuffer::new(problem, accesses, mma_reads) };
    let solution = match known.settled {
        Some(memory) => {
            choose_accesses_for_layout(&problem.tensor, &problem.accesses, memory, &config.context).map_err(Box::new)
        }
        None => solved.solve(&problem, config),
    };
    let solution = solution.map_err(refused)?;
    let layout = memory_name(&solution.memory);
    for &buffer in &buffers {
        if let TileType::Memory(memory) = body.value_type(buffer) {
            let memory = MemDescType { layout: layout.clone(), ..(**memory).clone() };
            body.set_type(buffer, TileType::Memory(memory.into()));
        }
    }
    let served = || solution.served.iter().zip(&ops);
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    let copies = (elements >> solution.memory.linear.outs().total_bits()).max(1);
    let moved = served().flat_map(|(served, ops)| ops.iter().map(|access| (access.op, served.into()))).collect();
    let fetched = served().filter_map(|(served, ops)| Some((served.fetched.clone()?, ops)));
    let fetched = fetched.flat_map(|(layout, ops)| ops.iter().map(move |access| (access.op, layout.clone()))).collect();
    let line = SharedTensorReport {
        tensor: named.clone(),
        ty: one.to_string(),
        layout: layout.text().to_owned(),
        notation: solution.composed_layout().map(|layout| layout.to_string()).unwrap_or_default(),
        term: solution.term.as_ref().map(ToString::to_string),
        price: solution.price,
        bytes: solution.memory.allocated_bytes(problem.tensor.bits) * copies,
        accesses: served().flat_map(|(served, ops)| access_reports(body, served, ops)).collect(),
    };
    Ok(Placed { line, moved, fetched, memory: solution.memory })
}

/// Returns the tensor whose layout is searched: with the layout that the program states, or row-major without synthesis.
fn pose_tensor(
    shape: &[u64],
    bits: u32,
    known: Known<'_>,
    options: SynthesisOptions,
) -> Result<SharedTensor, Box<MemorySynthesisError>> {
    let mut tensor = SharedTensor::new(shape, bits);
    let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<u64>());
    tensor.layout = match known.given {
        Some(given) => Some(given.parse::<CuteLayout>().map_err(|error| Box::new(error.into()))?),
        None if options.memory => None,
        None => {
            let rows = CuteLayout::new(&IntTuple::flat(shape.iter().copied()), &IntTuple::flat(strides));
            Some(rows.map_err(|error| Box::new(error.into()))?)
        }
    };
    Ok(tensor)
}

/// Returns one report for each operation of the program that makes an access.
fn access_reports(body: &FunctionBody, served: &AccessSolution, ops: &[AccessOp]) -> Vec<AccessReport> {
    let mut sources: Vec<Op> = Vec::new();
    let mut reports: Vec<AccessReport> = Vec::new();
    for AccessOp { op, source, name, weight, .. } in ops {
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

//! The schedule of a loop whose loads are prefetched, and the emission of prefetches.

use std::collections::{BTreeMap, BTreeSet};

use super::find::{BufferReader, PrefetchableLoad, slice};
use super::{PipelinedLoop, PrefetchPath, PrefetchedLoad, REGISTER_BUFFERS};
use crate::op::Dialects;
use crate::op::name::ttg;
use crate::op_attrs::SMEM_OPERAND;
use crate::transform::pipeliner::{Buffers, Prefetch, Schedule, Stream, backward, expand, shared_memory};
use crate::transform::{IrCloner, Rewrite, Rewritten, rewrite_function, violation};
use crate::{Attribute, BuildError, Function, MemDescType, Op, TileType, TileViolation, Value, ValueOrigin, Values};

/// Pipelines loops of a function: prefetches the chosen loads into buffers in shared memory.
///
/// # Errors
/// [`TileViolation`]: loads outside of their loop, or slices that cannot be executed for a later iteration.
pub fn pipeline(function: &Function, loops: &[PipelinedLoop], dialects: &Dialects) -> Result<Function, TileViolation> {
    rewrite_function(function, dialects, &mut Loops { loops })
}

struct Loops<'l> {
    loops: &'l [PipelinedLoop],
}

impl Rewrite for Loops<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(of) = self.loops.iter().find(|of| of.op == op && !of.loads.is_empty()) else { return Ok(false) };
        let paths = [PrefetchPath::Copy, PrefetchPath::Registers].into_iter();
        let streams =
            paths.map(|path| (0..of.loads.len()).filter(|&load_index| of.loads[load_index].path == path).collect());
        let streams: Vec<Vec<usize>> = streams.filter(|loads: &Vec<usize>| !loads.is_empty()).collect();
        let schedule = schedule(of, &streams, cloner).map_err(|reason| violation(cloner, op, reason))?;
        let reader = |load_index: usize| match cloner.from.origin(of.loads[load_index].load.required) {
            ValueOrigin::Result(op, _) => Some((op, load_index)),
            ValueOrigin::Argument(..) => None,
        };
        let readers = (0..of.loads.len()).filter_map(reader).collect();
        let mut buffers = Vec::new();
        for (load_index, load) in of.loads.iter().enumerate() {
            let stream = streams.iter().position(|loads| loads.contains(&load_index)).unwrap_or(0);
            buffers.push((stream, allocate(load, schedule.streams[stream].buffers, cloner)?));
        }
        let mut loads = Loads { loads: &of.loads, streams, buffers, readers, indices: Vec::new() };
        expand(&schedule, &mut loads, cloner)?;
        Ok(true)
    }
}

/// The schedule of a loop: one stream of asynchronous copies and one of loads through registers. The rest of the
/// iteration omits operations whose results only lead to values now in buffers, and values that the loop carried for
/// them alone.
fn schedule(of: &PipelinedLoop, streams: &[Vec<usize>], cloner: &IrCloner<'_, '_, '_>) -> Result<Schedule, String> {
    let (body, operation) = (cloner.from, cloner.from.op(of.op));
    let block = operation.regions.first().and_then(|region| body.blocks(*region).first().copied());
    let block = block.ok_or("it has no body")?;
    let stream = |numbers: &Vec<usize>| {
        let has_copies = of.loads[numbers[0]].path == PrefetchPath::Copy;
        let buffers = if has_copies { of.stages.max(2) } else { REGISTER_BUFFERS };
        let loads: Vec<PrefetchableLoad> =
            numbers.iter().map(|load_index| of.loads[*load_index].load.clone()).collect();
        let slice = slice(body, block, &loads)?;
        Ok(Stream { distance: buffers - 1, buffers, slice, has_copies, has_loads: !has_copies, tensor_bytes: 0 })
    };
    let streams = streams.iter().map(stream).collect::<Result<_, String>>()?;
    let used: BTreeSet<Value> =
        body.walk(body.root()).into_iter().flat_map(|op| body.op(op).operands.clone()).collect();
    let carried = body.arguments(block).iter().skip(1).zip(&operation.results);
    let roots = carried.filter(|(_, result)| used.contains(result)).map(|(argument, _)| *argument).collect();
    let read: BTreeSet<Value> = of.loads.iter().map(|load| load.load.required).collect();
    let mut rest = backward(body, block, roots, |value| read.contains(&value), |_| Ok(()))?;
    let is_kept = |op: &Op| rest.ops.contains(op) || body.op(*op).results.iter().any(|value| read.contains(value));
    rest.ops = body.ops(block).iter().copied().filter(is_kept).collect();
    Ok(Schedule {
        op: of.op,
        streams,
        rest,
        asynchronous_accumulators: Vec::new(),
        owns_buffers: true,
        consumers: None,
    })
}

/// Allocates the buffers of a load, before the loop.
fn allocate(load: &PrefetchedLoad, buffers: u32, cloner: &mut IrCloner<'_, '_, '_>) -> Result<Buffers, BuildError> {
    let ty = cloner.from.ty(load.load.stored);
    let memory = MemDescType {
        shape: ty.shape().unwrap_or_default().to_vec(),
        element: ty.element().clone(),
        layout: load.memory.clone(),
        space: shared_memory(),
        mutable: true,
        allocation: None,
    };
    Buffers::allocate(memory, buffers, cloner.to)
}

/// The loads of the loop that is being emitted: the front end's part of the software pipeliner.
struct Loads<'l> {
    loads: &'l [PrefetchedLoad],
    /// For each stream (prefetches with one distance), the indices of its loads.
    streams: Vec<Vec<usize>>,
    /// For each load, its stream and its buffers.
    buffers: Vec<(usize, Buffers)>,
    /// For each operation whose result is now read from a buffer, the index of its load.
    readers: BTreeMap<Op, usize>,
    /// For each stream, the index of the current buffer.
    indices: Vec<Value>,
}

impl Loads<'_> {
    fn buffer(&self, load_index: usize, index: Option<Value>, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let at = self.loads[load_index].load.op;
        let buffer = self.buffers[load_index].1.at(index, cloner.to)?;
        buffer.ok_or_else(|| violation(cloner, at, "it is read outside of its loop"))
    }
}

impl Rewrite for Loads<'_> {
    /// Replaces an operation by the read of the value that was prefetched for this iteration.
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(&load_index) = self.readers.get(&op) else { return Ok(false) };
        let load = &self.loads[load_index].load;
        let buffer = self.buffer(load_index, self.indices.get(self.buffers[load_index].0).copied(), cloner)?;
        let ty = cloner.from.ty(load.required).clone();
        let mut new_op = cloner.to.op(ttg::LOCAL_LOAD).operand(buffer).result(ty);
        if matches!(load.reader, BufferReader::MmaOperand(..)) {
            new_op = new_op.attribute(SMEM_OPERAND, Attribute::Unit);
        }
        let value = new_op.value()?;
        cloner.bind(load.required, value);
        Ok(true)
    }
}

impl Prefetch for Loads<'_> {
    fn copy(
        &mut self,
        stream: usize,
        index: Value,
        _: Option<Value>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        let copies =
            self.streams[stream].iter().filter(|load_index| self.loads[**load_index].path == PrefetchPath::Copy);
        copies.copied().try_for_each(|load_index| {
            let buffer = self.buffer(load_index, Some(index), cloner)?;
            copy(&self.loads[load_index].load, buffer, cloner)
        })
    }

    fn load(&mut self, stream: usize, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Values> {
        let load = |load_index: &usize| {
            let op = self.loads[*load_index].load.op;
            cloner.add(op, cloner.all(&cloner.from.op(op).operands), Vec::new());
            cloner.value(cloner.from.op(op).results[0])
        };
        Ok(self.streams[stream].iter().map(load).collect())
    }

    /// Applies the operations between load and store to loaded values, and stores the results to the buffers.
    fn store(
        &mut self,
        stream: usize,
        values: &[Value],
        [index, _]: [Value; 2],
        _: bool,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        for (&load_index, &value) in self.streams[stream].iter().zip(values) {
            let load = &self.loads[load_index].load;
            cloner.bind(cloner.from.op(load.op).results[0], value);
            for &op in &load.chain {
                cloner.add(op, cloner.all(&cloner.from.op(op).operands), Vec::new());
            }
            let buffer = self.buffer(load_index, Some(index), cloner)?;
            let stored = cloner.value(load.stored);
            cloner.to.op(ttg::LOCAL_STORE).operand(stored).operand(buffer).build()?;
        }
        Ok(())
    }

    fn read(&mut self, indices: &[Value], _: &IrCloner<'_, '_, '_>) {
        self.indices = indices.to_vec();
    }
}

/// Emits an asynchronous copy into a buffer. If the loaded value is transposed, the pointers are transposed instead.
fn copy(load: &PrefetchableLoad, buffer: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
    let from = cloner.from;
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for group in ["ptr", "mask", "other"] {
        let mut values = cloner.all(from.operands(load.op, group)).to_vec();
        for transposed in &load.chain {
            let operation = from.op(*transposed);
            let shape = from.ty(operation.results[0]);
            for value in &mut values {
                let ty = shape.with_element(cloner.to.ty(*value).element().clone());
                let attributes = operation.attributes.iter().map(|(name, value)| (name, value.clone()));
                let new_op = cloner.to.op(operation.name()).operand(*value).attributes(attributes);
                *value = new_op.result(ty).value()?;
            }
        }
        groups.push(values);
    }
    let copy = cloner.to.op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL);
    let copy = copy.operands("src", &groups[0]).operands("result", &[buffer]);
    let mut copy = copy.operands("mask", &groups[1]).operands("other", &groups[2]).result(TileType::Token);
    if let Some(policy) = from.op(load.op).attributes.get("cachePolicy") {
        copy = copy.attribute("cachePolicy", policy.clone());
    }
    copy.build()?;
    Ok(())
}

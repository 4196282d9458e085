//! Schedules a loop whose loads are prefetched, and emits the prefetches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::early_uses::find_early_uses;
use super::find::{PrefetchConsumer, PrefetchableLoad, slice};
use super::stored_operands::{HoistedOperands, buffer_type, emit_reinterpreted};
use super::{LoopPipelinePlan, PlannedPrefetch, PrefetchPath, REGISTER_PATH_BUFFER_COUNT};
use crate::op::Dialects;
use crate::op::name::{tt, ttg, tw};
use crate::op_attrs::OPERAND_STAYS_IN_SMEM;
use crate::transform::pipeliner::{
    Buffers, EnclosingLoop, Prefetch, Schedule, Slice, Source, Stream, backward, carried_accumulator_index, expand,
    find_enclosing_loops, outermost_loop,
};
use crate::transform::rewrite_error::violation_of;
use crate::transform::{IrCloner, Rewrite, Rewritten, rewrite_function, violation};
use crate::{Attribute, Block, Function, FunctionBody, Op, TileType, TileViolation, Value, ValueOrigin, Values};

/// Pipelines loops of a function: prefetches the chosen loads, each by its [`PrefetchPath`], and stores the chosen dot
/// operands to shared memory before the loop.
///
/// # Errors
/// [`TileViolation`]: loads outside of their loop, slices that cannot be executed for a later iteration, or an
/// overlapped dot whose accumulator is not loop-carried.
pub fn pipeline_function(
    function: &Function,
    loops: &[LoopPipelinePlan],
    dialects: &Dialects,
) -> Result<Function, TileViolation> {
    let nest = |of: &'_ LoopPipelinePlan| match (of.producer, &function.body) {
        (Some(_), Some(body)) => producer_loops(body, of.op, of.loads.iter().map(|load| &load.load))
            .map_err(|reason| violation_of(function, of.op, format!("no producer warp: {reason}"))),
        _ => Ok(Vec::new()),
    };
    let loops = loops.iter().map(|of| Ok((of, nest(of)?))).collect::<Result<_, TileViolation>>()?;
    rewrite_function(function, dialects, &mut Loops { loops, stored_operands: HoistedOperands::default() })
}

/// Finds the loops around a loop whose prefetches of `loads` a producer warp issues, the outermost one first; the
/// producer warp executes them, too.
///
/// # Errors
/// The reason why it cannot execute them, or cannot issue the prefetches.
pub fn producer_loops<'l>(
    body: &FunctionBody,
    op: Op,
    loads: impl Iterator<Item = &'l PrefetchableLoad>,
) -> Result<Vec<EnclosingLoop>, String> {
    let loads: Vec<PrefetchableLoad> = loads.cloned().collect();
    let block = body.op(op).regions.first().and_then(|region| body.blocks(*region).first().copied());
    let Slice { mut ops, guarded, carried } = slice(body, block.ok_or("it has no body")?, &loads, |_| Ok(()))?;
    ops.extend(guarded);
    ops.extend(loads.iter().flat_map(|load| std::iter::once(load.op).chain(load.chain.iter().copied())));
    find_enclosing_loops(body, op, &ops, &carried, |_| false)
}

/// The loops to pipeline, each with the loops around it that its producer warp executes.
struct Loops<'l> {
    loops: Vec<(&'l LoopPipelinePlan, Vec<EnclosingLoop>)>,
    stored_operands: HoistedOperands,
}

impl Rewrite for Loops<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let of_op = |(of, enclosing): &&(&LoopPipelinePlan, Vec<EnclosingLoop>)| outermost_loop(enclosing, of.op) == op;
        let Some((of, enclosing)) = self.loops.iter().find(of_op).cloned() else {
            return self.stored_operands.rewrite_dot(op, false, cloner);
        };
        if of.loads.is_empty() {
            self.stored_operands.emit_stores(&of.stored_operands, cloner)?;
            return Ok(false);
        }
        let paths = [PrefetchPath::Copy, PrefetchPath::TensorCopy, PrefetchPath::Registers, PrefetchPath::Carried];
        let streams = paths
            .into_iter()
            .map(|path| (0..of.loads.len()).filter(|&load_index| of.loads[load_index].path == path).collect());
        let streams: Vec<Vec<usize>> = streams.filter(|loads: &Vec<usize>| !loads.is_empty()).collect();
        let schedule = schedule((of, enclosing), &streams, cloner).map_err(|reason| violation(cloner, op, reason))?;
        let reads = |load: usize| (0..of.loads[load].load.reads.len()).map(move |read| (load, read));
        let reader =
            |(load, read): (usize, usize)| match cloner.from.value_origin(of.loads[load].load.reads[read].value) {
                ValueOrigin::Result(op, _) => Some((op, (load, read))),
                ValueOrigin::Argument(..) => None,
            };
        let readers = (0..of.loads.len()).flat_map(reads).filter_map(reader).collect();
        let mut buffers = Vec::new();
        for (load_index, load) in of.loads.iter().enumerate() {
            let stream = streams.iter().position(|loads| loads.contains(&load_index)).unwrap_or(0);
            let memory =
                load.memory.as_ref().map(|memory| buffer_type(cloner.from.value_type(load.load.stored), memory));
            let count = schedule.streams[stream].buffers;
            let own = memory.map(|memory| Buffers::emit_allocation(memory, count, cloner.to)).transpose()?;
            buffers.push((stream, own));
        }
        let mut loads = Loads { of, loops: self, streams, buffers, readers, sources: Vec::new() };
        expand(&schedule, &mut loads, cloner)?;
        Ok(true)
    }
}

/// Returns the schedule of a loop. `streams` has the indices of the loads of each stream (a group of prefetches with
/// the same path and distance).
fn schedule(
    (of, enclosing): (&LoopPipelinePlan, Vec<EnclosingLoop>),
    streams: &[Vec<usize>],
    cloner: &IrCloner<'_, '_, '_>,
) -> Result<Schedule, String> {
    let (body, operation) = (cloner.from, cloner.from.op(of.op));
    let block = operation.regions.first().and_then(|region| body.blocks(*region).first().copied());
    let block = block.ok_or("it has no body")?;
    let stream = |numbers: &Vec<usize>| {
        let path = of.loads[numbers[0]].path;
        let has_loads = matches!(path, PrefetchPath::Registers | PrefetchPath::Carried);
        let (buffers, distance) = match path {
            PrefetchPath::Copy | PrefetchPath::TensorCopy => (of.stages.max(2), of.stages.max(2) - 1),
            PrefetchPath::Registers => (REGISTER_PATH_BUFFER_COUNT, REGISTER_PATH_BUFFER_COUNT - 1),
            PrefetchPath::Carried => (0, 1),
        };
        let bytes = |number: &usize| match path {
            PrefetchPath::TensorCopy => bytes_of(body.value_type(of.loads[*number].load.stored)),
            _ => 0,
        };
        let loads: Vec<PrefetchableLoad> =
            numbers.iter().map(|load_index| of.loads[*load_index].load.clone()).collect();
        let slice = slice(body, block, &loads, |_| Ok(()))?;
        let tensor_bytes = numbers.iter().map(bytes).sum();
        let has_copies = path == PrefetchPath::Copy;
        Ok(Stream { distance, buffers, slice, has_copies, has_loads, tensor_bytes })
    };
    let streams: Vec<Stream> = streams.iter().map(stream).collect::<Result<_, String>>()?;
    let (rest, early_uses) = find_rest(of, (body, block), &streams)?;
    let accumulators = of.overlapped_dots.iter().map(|dot| {
        let carried = carried_accumulator_index(body, block, *dot)?;
        rest.carried.iter().position(|index| *index == carried + 1)
    });
    let accumulators: Option<Vec<usize>> = accumulators.collect();
    let asynchronous_accumulators = accumulators.ok_or("the accumulator of an overlapped dot is not carried")?;
    let prefetches_last = !asynchronous_accumulators.is_empty() && of.producer.is_none();
    Ok(Schedule {
        op: of.op,
        enclosing,
        streams,
        early_uses,
        rest,
        asynchronous_dots: asynchronous_accumulators.len(),
        asynchronous_accumulators,
        prefetches_last,
        mma_waits_cover_block: of.mma_waits_cover_block,
        producer: of.producer,
    })
}

/// Returns the part of an iteration that does not prefetch, with the loop body `block`, and the uses of values in
/// registers that come before the prefetches of the next ones.
///
/// The former omits these uses, operations whose results only lead to values that buffers replace, and loop-carried
/// values that only these operations use.
fn find_rest(
    of: &LoopPipelinePlan,
    (body, block): (&FunctionBody, Block),
    streams: &[Stream],
) -> Result<(Slice, Vec<Op>), String> {
    let used: BTreeSet<Value> =
        body.walk_region(body.root()).into_iter().flat_map(|op| body.op(op).operands.clone()).collect();
    let carried = body.arguments(block).iter().skip(1).zip(&body.op(of.op).results);
    let mut roots: Vec<Value> =
        carried.filter(|(_, result)| used.contains(result)).map(|(argument, _)| *argument).collect();
    let has_store = |op: &Op| body.op_and_nested_ops(*op).into_iter().any(|op| body.op(op).name() == tt::STORE);
    let stores: BTreeSet<Op> = body.ops(block).iter().copied().filter(has_store).collect();
    let ops = stores.iter().flat_map(|store| body.op_and_nested_ops(*store));
    roots.extend(ops.flat_map(|op| body.op(op).operands.iter().copied()));
    let read: BTreeSet<Value> =
        of.loads.iter().flat_map(|load| load.load.reads.iter().map(|read| read.value)).collect();
    let mut rest = backward(body, block, roots, |value| read.contains(&value), |_| Ok(()))?;
    let is_kept = |op: &Op| {
        rest.ops.contains(op) || stores.contains(op) || body.op(*op).results.iter().any(|value| read.contains(value))
    };
    rest.ops = body.ops(block).iter().copied().filter(is_kept).collect();
    let in_registers = of.loads.iter().filter(|load| load.path == PrefetchPath::Carried);
    let in_registers = in_registers.flat_map(|load| load.load.reads.iter().map(|read| read.value)).collect();
    let of_slices = streams.iter().flat_map(|stream| stream.slice.ops.iter().chain(&stream.slice.guarded)).copied();
    let early_uses = find_early_uses(body, (block, &rest.ops), &in_registers, &of_slices.collect());
    let is_read = |op: &Op| body.op(*op).results.iter().any(|value| read.contains(value));
    rest.ops.retain(|op| is_read(op) || !early_uses.contains(op));
    Ok((rest, early_uses))
}

/// Number of bytes of a tensor.
fn bytes_of(ty: &TileType) -> u64 {
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
}

/// The loop that is being emitted; as the front end of the pipeliner, it emits the prefetches of its loads.
struct Loads<'l, 'p> {
    of: &'p LoopPipelinePlan,
    /// All loops, which may be within a loop around this one.
    loops: &'l mut Loops<'p>,
    /// For each stream (a group of prefetches with the same path and distance), the indices of its loads.
    streams: Vec<Vec<usize>>,
    /// For each load, the index of its stream, and its buffers; `None` if it has no buffers.
    buffers: Vec<(usize, Option<Buffers>)>,
    /// For each operation whose result a buffer or a loop-carried value replaces, the index of its load, and of
    /// one of the load's reads that require the result.
    readers: BTreeMap<Op, (usize, usize)>,
    /// For each stream, the buffers or the loop-carried values that the current iteration reads.
    sources: Vec<Source>,
}

impl Loads<'_, '_> {
    fn buffer(&self, load_index: usize, index: Option<Value>, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let at = self.of.loads[load_index].load.op;
        let buffers = self.buffers[load_index].1.as_ref();
        let buffer = buffers.map(|buffers| buffers.emit_view(index, cloner.to)).transpose()?.flatten();
        buffer.ok_or_else(|| violation(cloner, at, "it is read outside of its loop, or has no buffer"))
    }
}

impl Rewrite for Loads<'_, '_> {
    /// Replaces an operation by the value that was prefetched for this iteration, or by a read of its buffer.
    ///
    /// It also makes the MMAs of overlapped dots asynchronous.
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(&(load_index, read_index)) = self.readers.get(&op) else {
            return match self.of.overlapped_dots.contains(&op) {
                true => self.loops.stored_operands.rewrite_dot(op, true, cloner),
                false => self.loops.rewrite(op, cloner),
            };
        };
        let planned = &self.of.loads[load_index];
        let read = &planned.load.reads[read_index];
        let stream = self.buffers[load_index].0;
        let source = self.sources.get(stream);
        if let Some(Source::Values(values)) = source {
            let ordinal = self.streams[stream].iter().position(|known| *known == load_index);
            let value = ordinal.and_then(|ordinal| values.get(ordinal).copied());
            cloner.bind(read.value, value.ok_or_else(|| violation(cloner, op, "it is not carried by the loop"))?);
            return Ok(true);
        }
        let mut buffer = self.buffer(load_index, source.and_then(Source::buffer_index), cloner)?;
        let ty = cloner.from.value_type(read.value).clone();
        if let Some(view) = planned.views.get(read_index).and_then(Option::as_ref) {
            buffer = emit_reinterpreted(buffer, buffer_type(&ty, view), cloner)?;
        }
        let mut new_op = cloner.to.build_op(ttg::LOCAL_LOAD).operand(buffer).result(ty);
        if matches!(read.reader, PrefetchConsumer::MmaOperand(..)) {
            new_op = new_op.attribute(OPERAND_STAYS_IN_SMEM, Attribute::Unit);
        }
        let value = new_op.value()?;
        cloner.bind(read.value, value);
        Ok(true)
    }
}

impl Prefetch for Loads<'_, '_> {
    fn begin(&mut self, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        self.loops.stored_operands.emit_stores(&self.of.stored_operands, cloner)
    }

    fn copy(
        &mut self,
        stream: usize,
        index: Value,
        mbarrier: Option<Value>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<()> {
        for &load_index in &self.streams[stream] {
            let load = &self.of.loads[load_index];
            let buffer = self.buffer(load_index, Some(index), cloner)?;
            match load.path {
                PrefetchPath::Copy => copy(&load.load, buffer, cloner)?,
                PrefetchPath::TensorCopy => tensor_copy(load, buffer, mbarrier, cloner)?,
                PrefetchPath::Registers | PrefetchPath::Carried => {}
            }
        }
        Ok(())
    }

    fn load(&mut self, stream: usize, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Values> {
        let load = |load_index: &usize| {
            let op = self.of.loads[*load_index].load.op;
            cloner.clone_op_with(op, cloner.all(&cloner.from.op(op).operands), Vec::new());
            cloner.clone_of(cloner.from.op(op).results[0])
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
            let load = &self.of.loads[load_index].load;
            cloner.to.set_location(cloner.from.op(load.op).location.clone());
            cloner.bind(cloner.from.op(load.op).results[0], value);
            for &op in &load.chain {
                cloner.clone_op_with(op, cloner.all(&cloner.from.op(op).operands), Vec::new());
            }
            let buffer = self.buffer(load_index, Some(index), cloner)?;
            let stored = cloner.clone_of(load.stored);
            cloner.to.build_op(ttg::LOCAL_STORE).operand(stored).operand(buffer).build()?;
        }
        Ok(())
    }

    fn read(&mut self, sources: &[Source], _: &IrCloner<'_, '_, '_>) {
        self.sources = sources.to_vec();
    }
}

/// Emits an asynchronous copy into a buffer. The operations on the loaded value are applied to the pointers instead.
fn copy(load: &PrefetchableLoad, buffer: Value, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
    let from = cloner.from;
    cloner.to.set_location(from.op(load.op).location.clone());
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for group in ["ptr", "mask", "other"] {
        let mut values = cloner.all(from.operands(load.op, group)).to_vec();
        for transposed in &load.chain {
            let operation = from.op(*transposed);
            let shape = from.value_type(operation.results[0]);
            for value in &mut values {
                let ty = shape.with_element(cloner.to.ty(*value).element().clone());
                let attributes = operation.attributes.iter().map(|(name, value)| (name, value.clone()));
                let new_op = cloner.to.build_op(operation.name()).operand(*value).attributes(attributes);
                *value = new_op.result(ty).value()?;
            }
        }
        groups.push(values);
    }
    let copy = cloner.to.build_op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL);
    let copy = copy.operands("src", &groups[0]).operands("result", &[buffer]);
    let mut copy = copy.operands("mask", &groups[1]).operands("other", &groups[2]).result(TileType::Token);
    if let Some(policy) = from.op(load.op).attributes.get("cachePolicy") {
        copy = copy.attribute("cachePolicy", policy.clone());
    }
    copy.build()?;
    Ok(())
}

/// Emits a bulk tensor copy, which arrives at `mbarrier`, into a buffer in the layout of the descriptor's blocks.
fn tensor_copy(
    load: &PlannedPrefetch,
    buffer: Value,
    mbarrier: Option<Value>,
    cloner: &mut IrCloner<'_, '_, '_>,
) -> Rewritten<()> {
    let (from, op) = (cloner.from, load.load.op);
    let (Some(descriptor), Some(layout)) = (from.operand(op, "desc"), &load.block) else {
        return Err(violation(cloner, op, "a bulk tensor copy needs a descriptor and a layout of its block"));
    };
    let block = TileType::Memory(Arc::new(buffer_type(from.value_type(descriptor), layout)));
    let block = cloner.to.build_op(ttg::MEMDESC_REINTERPRET).operand(buffer).result(block).value()?;
    let (descriptor, indices) = (cloner.clone_of(descriptor), cloner.all(from.operands(op, "indices")));
    let new_op = cloner.to.build_op(tw::BULK_TENSOR_LOAD).operands("desc", &[descriptor]).operands("indices", &indices);
    new_op.operands("dst", &[block]).operands("mbarrier", mbarrier.as_slice()).build()?;
    Ok(())
}

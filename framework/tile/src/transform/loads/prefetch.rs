//! The schedule of a loop whose loads are prefetched, and how a prefetch is written.

use std::collections::{BTreeMap, BTreeSet};

use super::find::{BufferReader, PrefetchableLoad, slice};
use super::{PipelinedLoop, PrefetchPath, PrefetchedLoad, REGISTER_BUFFERS};
use crate::marks::IN_PLACE;
use crate::op::Dialects;
use crate::op::name::ttg;
use crate::transform::pipeliner::{Buffers, Prefetch, Schedule, Stream, backward, expand, shared_memory};
use crate::transform::{Copier, Rewrite, Rewritten, rewritten, violation};
use crate::{Attribute, BuildError, Function, MemDescType, Op, TileType, TileViolation, Value, ValueOrigin, Values};

/// Pipelines loops of a function.
///
/// # Errors
/// [`TileViolation`]: loads that are not of their loop, or depend on what cannot be executed ahead.
pub fn pipeline(function: &Function, loops: &[PipelinedLoop], dialects: &Dialects) -> Result<Function, TileViolation> {
    rewritten(function, dialects, &mut Loops { loops })
}

struct Loops<'l> {
    loops: &'l [PipelinedLoop],
}

impl Rewrite for Loops<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let Some(of) = self.loops.iter().find(|of| of.op == op && !of.loads.is_empty()) else { return Ok(false) };
        let paths = [PrefetchPath::Copy, PrefetchPath::Registers].into_iter();
        let streams = paths.map(|path| (0..of.loads.len()).filter(|&number| of.loads[number].path == path).collect());
        let streams: Vec<Vec<usize>> = streams.filter(|loads: &Vec<usize>| !loads.is_empty()).collect();
        let schedule = schedule(of, &streams, copier).map_err(|reason| violation(copier, op, reason))?;
        let reader = |number: usize| match copier.from.origin(of.loads[number].load.required) {
            ValueOrigin::Result(op, _) => Some((op, number)),
            ValueOrigin::Argument(..) => None,
        };
        let readers = (0..of.loads.len()).filter_map(reader).collect();
        let mut buffers = Vec::new();
        for (number, load) in of.loads.iter().enumerate() {
            let stream = streams.iter().position(|loads| loads.contains(&number)).unwrap_or(0);
            buffers.push((stream, allocate(load, schedule.streams[stream].buffers, copier)?));
        }
        let mut loads = Loads { loads: &of.loads, streams, buffers, readers, indices: Vec::new() };
        expand(&schedule, &mut loads, copier)?;
        Ok(true)
    }
}

/// The schedule of a loop whose copies and loads through registers are a stream each. Operations that only gave what buffers have now
/// are left out, as are values that the loop carried for them alone.
fn schedule(of: &PipelinedLoop, streams: &[Vec<usize>], copier: &Copier<'_, '_, '_>) -> Result<Schedule, String> {
    let (body, operation) = (copier.from, copier.from.op(of.op));
    let block = operation.regions.first().and_then(|region| body.blocks(*region).first().copied());
    let block = block.ok_or("it has no body")?;
    let stream = |numbers: &Vec<usize>| {
        let has_copies = of.loads[numbers[0]].path == PrefetchPath::Copy;
        let buffers = if has_copies { of.stages.max(2) } else { REGISTER_BUFFERS };
        let loads: Vec<PrefetchableLoad> = numbers.iter().map(|number| of.loads[*number].load.clone()).collect();
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

/// The buffers of a load, before the loop.
fn allocate(load: &PrefetchedLoad, buffers: u32, copier: &mut Copier<'_, '_, '_>) -> Result<Buffers, BuildError> {
    let ty = copier.from.ty(load.load.stored);
    let memory = MemDescType {
        shape: ty.shape().unwrap_or_default().to_vec(),
        element: ty.element().clone(),
        layout: load.memory.clone(),
        space: shared_memory(),
        mutable: true,
        allocation: None,
    };
    Buffers::allocate(memory, buffers, copier.to)
}

/// The loads of a loop that is written.
struct Loads<'l> {
    loads: &'l [PrefetchedLoad],
    /// The loads of each stream.
    streams: Vec<Vec<usize>>,
    /// The stream and the buffers of each load.
    buffers: Vec<(usize, Buffers)>,
    /// Operations whose results are read from buffers, each with its load.
    readers: BTreeMap<Op, usize>,
    /// Of each stream the buffer that is read.
    indices: Vec<Value>,
}

impl Loads<'_> {
    fn buffer(&self, number: usize, index: Option<Value>, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Value> {
        let at = self.loads[number].load.op;
        let buffer = self.buffers[number].1.at(index, copier.to)?;
        buffer.ok_or_else(|| violation(copier, at, "it is read outside of its loop"))
    }
}

impl Rewrite for Loads<'_> {
    /// Reads the value that was prefetched for this iteration from its buffer.
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let Some(&number) = self.readers.get(&op) else { return Ok(false) };
        let load = &self.loads[number].load;
        let buffer = self.buffer(number, self.indices.get(self.buffers[number].0).copied(), copier)?;
        let ty = copier.from.ty(load.required).clone();
        let mut made = copier.to.op(ttg::LOCAL_LOAD).operand(buffer).result(ty);
        if matches!(load.reader, BufferReader::Unit(..)) {
            made = made.attribute(IN_PLACE, Attribute::Unit);
        }
        let value = made.value()?;
        copier.bind(load.required, value);
        Ok(true)
    }
}

impl Prefetch for Loads<'_> {
    fn copy(
        &mut self,
        stream: usize,
        index: Value,
        _: Option<Value>,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        let copies = self.streams[stream].iter().filter(|number| self.loads[**number].path == PrefetchPath::Copy);
        copies.copied().try_for_each(|number| {
            let buffer = self.buffer(number, Some(index), copier)?;
            copy(&self.loads[number].load, buffer, copier)
        })
    }

    fn load(&mut self, stream: usize, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Values> {
        let load = |number: &usize| {
            let op = self.loads[*number].load.op;
            copier.add(op, copier.all(&copier.from.op(op).operands), Vec::new());
            copier.value(copier.from.op(op).results[0])
        };
        Ok(self.streams[stream].iter().map(load).collect())
    }

    /// Stores after what is done with the values on the way.
    fn store(
        &mut self,
        stream: usize,
        values: &[Value],
        [index, _]: [Value; 2],
        _: bool,
        copier: &mut Copier<'_, '_, '_>,
    ) -> Rewritten<()> {
        for (&number, &value) in self.streams[stream].iter().zip(values) {
            let load = &self.loads[number].load;
            copier.bind(copier.from.op(load.op).results[0], value);
            for &op in &load.chain {
                copier.add(op, copier.all(&copier.from.op(op).operands), Vec::new());
            }
            let buffer = self.buffer(number, Some(index), copier)?;
            let stored = copier.value(load.stored);
            copier.to.op(ttg::LOCAL_STORE).operand(stored).operand(buffer).done()?;
        }
        Ok(())
    }

    fn read(&mut self, indices: &[Value], _: &Copier<'_, '_, '_>) {
        self.indices = indices.to_vec();
    }
}

/// Writes a load as a copy to a buffer. A transposition of the loaded value becomes one of the pointers.
fn copy(load: &PrefetchableLoad, buffer: Value, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
    let from = copier.from;
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for group in ["ptr", "mask", "other"] {
        let mut values = copier.all(from.operands(load.op, group)).to_vec();
        for transposed in &load.chain {
            let operation = from.op(*transposed);
            let shape = from.ty(operation.results[0]);
            for value in &mut values {
                let ty = shape.with_element(copier.to.ty(*value).element().clone());
                let attributes = operation.attributes.iter().map(|(name, value)| (name, value.clone()));
                let made = copier.to.op(operation.name()).operand(*value).attributes(attributes);
                *value = made.result(ty).value()?;
            }
        }
        groups.push(values);
    }
    let copy = copier.to.op(ttg::ASYNC_COPY_GLOBAL_TO_LOCAL);
    let copy = copy.operands("src", &groups[0]).operands("result", &[buffer]);
    let mut copy = copy.operands("mask", &groups[1]).operands("other", &groups[2]).result(TileType::Token);
    if let Some(policy) = from.op(load.op).attributes.get("cachePolicy") {
        copy = copy.attribute("cachePolicy", policy.clone());
    }
    copy.done()?;
    Ok(())
}

//! The state of the streams of a pipelined loop, which the emitted loop carries.

use super::expand::Source;
use super::iteration::Iteration;
use super::schedule::Stream;
use crate::transform::{IrCloner, Rewritten};
use crate::{Value, Values};

/// The state of a stream (a group of prefetches with the same distance) at the start of an iteration, which the loop
/// carries.
#[derive(Clone)]
pub(super) struct Position {
    /// The iteration to prefetch next; `None` if a producer warp does the prefetching.
    pub prefetch_iteration: Option<Iteration>,
    /// The buffers or loaded values that this iteration reads.
    pub source: Source,
    /// The index of the buffer that this iteration fills, if the loop carries it: the buffer that the previous
    /// iteration read.
    ///
    /// The loop carries it if it prefetches without a producer warp, there are more than two buffers, and the prefetch
    /// distance is the number of buffers minus one. Otherwise it is `None`, and the index follows from the index of the
    /// buffer to read.
    pub filled: Option<Value>,
    /// The parity of the phase of its buffer's mbarrier for which this iteration waits; `None` without bulk tensor
    /// copies.
    pub phase: Option<Value>,
}

impl Position {
    /// Emits the state of a stream at the first iteration, which reads buffer 0.
    ///
    /// `prefetch_iteration` is the iteration to prefetch next; `None` with a producer warp.
    pub fn emit_first(
        stream: &Stream,
        has_mbarriers: bool,
        prefetch_iteration: Option<Iteration>,
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Self> {
        let index = cloner.to.constant_i32(0)?;
        let Stream { distance, buffers, .. } = *stream;
        let is_carried = prefetch_iteration.is_some() && buffers > 2 && distance == buffers - 1;
        let filled = is_carried.then(|| cloner.to.constant_i32(distance)).transpose()?;
        Ok(Self { prefetch_iteration, source: Source::Buffer(index), filled, phase: has_mbarriers.then_some(index) })
    }

    pub fn values(&self) -> Vec<Value> {
        let prefetch_iteration = self.prefetch_iteration.iter().flat_map(Iteration::values);
        let source = self.source.values().iter().copied();
        prefetch_iteration.chain(source).chain(self.filled).chain(self.phase).collect()
    }

    pub fn with_arguments(&self, arguments: &mut impl Iterator<Item = Value>) -> Option<Self> {
        let prefetch_iteration = match &self.prefetch_iteration {
            Some(prefetch_iteration) => Some(prefetch_iteration.with_arguments(arguments)?),
            None => None,
        };
        let source = match &self.source {
            Source::Buffer(_) => Source::Buffer(arguments.next()?),
            Source::Values(values) => Source::Values(arguments.take(values.len()).collect()),
        };
        let filled = self.filled.and_then(|_| arguments.next());
        Some(Self { prefetch_iteration, source, filled, phase: self.phase.and_then(|_| arguments.next()) })
    }
}

/// A prefetch of a stream (a group of prefetches with the same distance) that an iteration has issued.
pub(super) struct Prefetched {
    pub loaded: Loaded,
    /// The iteration to prefetch next.
    pub next: Iteration,
    /// Pairs of the loop's values and their clones for the prefetched iteration, to bind them before the store.
    pub values: Vec<(Value, Value)>,
}

/// Values that one iteration has loaded for a later one.
pub(super) struct Loaded {
    pub values: Values,
    /// Whether that later iteration exists.
    pub exists: Value,
    /// The index of the buffers into which the values will be stored.
    pub index: Value,
}

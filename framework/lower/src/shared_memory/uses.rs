//! The uses of shared-memory buffers: the buffers that each value may point into, and the live range of each buffer.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::annotations::{Access, Accesses};

use tilewright_kernel::{Kernel, Op, Queue, Region, Statement, Value};

/// The number of the named barrier that synchronizes all warp groups, if the program specializes warps.
pub(crate) const ALL_GROUPS: u32 = 0;

/// A set of buffer numbers, in ascending order.
pub(super) type Buffers = SmallVec<[u32; 2]>;

/// A region of the kernel: the number of the statement that contains it, and the region's index in the statement;
/// `None` for the kernel's body.
pub(super) type RegionId = Option<(usize, usize)>;

/// The uses of one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// The region whose statement takes the buffer's address; `None` if no statement does.
    pub owner_region: Option<RegionId>,
    /// The index of the warp group whose code takes the buffer's address.
    pub owner_group: usize,
    /// The numbers of the first and the last statement of the region `owner_region` that access the buffer, including
    /// accesses in nested regions.
    pub span: Option<(usize, usize)>,
    /// The number of the last statement nested in the last statement of `span`.
    pub end: usize,
    /// The indices of the warp groups that access the buffer; group zero before warps are specialized.
    pub groups: BTreeSet<usize>,
    /// The first and the last phase of the program that accesses the buffer. Barriers of all warp groups separate the
    /// phases.
    pub phases: Option<(usize, usize)>,
    /// Whether no other buffer may share the buffer's address. That is so if the address outlives its region, a group
    /// takes it twice, or the hardware keeps state in the buffer.
    pub is_kept: bool,
}

/// The uses of all shared-memory buffers, and the values that point into them.
#[derive(Debug)]
pub(super) struct Uses {
    /// The uses of each buffer, by the buffer's number.
    pub buffers: Vec<Use>,
    /// The buffers that each value may point into, by the value's number.
    addresses: Vec<Buffers>,
}

impl Uses {
    /// Finds the buffers that each value points into; the live ranges stay empty until [`Self::find`].
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut uses = Self {
            buffers: vec![Use::default(); kernel.shared.len()],
            addresses: vec![Buffers::new(); kernel.value_number_limit() as usize],
        };
        while uses.follow(&kernel.body) {}
        uses
    }

    /// Finds the live range of each buffer. A buffer that asynchronous copies write is live until the last wait for them. The
    /// waits for bulk copies that read a buffer are inserted later, where its address is used again. `partings` are the conditions of the branches at which warp groups diverge.
    pub(super) fn find(&mut self, kernel: &Kernel, accesses: &Accesses, partings: &[Value]) {
        let waiting = BTreeSet::new();
        let mut walk = Walk {
            uses: self,
            number: 0,
            waited_for: waiting.clone(),
            accesses,
            copied: accesses.copied(),
            reads_in_bulk: false,
            in_flight: waiting,
            partings,
            group: 0,
            phase: 0,
        };
        walk.region(&kernel.body, None);
    }

    /// Returns the buffers that a value may point into.
    pub(super) fn of_value(&self, value: Value) -> &[u32] {
        self.addresses.get(value.0 as usize).map_or(&[], |buffers| buffers)
    }

    /// Returns the buffers that an operation itself accesses, without the operations in its regions.
    pub(super) fn touched(&self, op: &Op) -> Buffers {
        let mut all = Buffers::new();
        if touches(op) {
            op.operands().iter().for_each(|&value| join(&mut all, self.of_value(value)));
        }
        all
    }

    /// Propagates buffer addresses once from operands to results, through all statements of a region; returns whether
    /// anything changed.
    fn follow(&mut self, region: &Region) -> bool {
        let mut learnt = false;
        for statement in &region.statements {
            let inner = statement.op.regions();
            for nested in &inner {
                learnt |= self.follow(nested);
            }
            learnt |= self.through(statement, &inner);
        }
        learnt
    }

    fn through(&mut self, statement: &Statement, inner: &[&Region]) -> bool {
        let mut learnt = false;
        let results = &statement.results;
        match &statement.op {
            Op::SharedAddress { buffer } => {
                for &(result, _) in results {
                    learnt |= self.add(result, &[*buffer]);
                }
            }
            // Loaded values and results of atomics are not addresses.
            Op::Load { .. } | Op::AtomicRmw { .. } | Op::AtomicCompareExchange { .. } | Op::Wait { .. } => {}
            // A pending value stands for the memory that its producer reads, so it keeps the producer's buffers.
            Op::Instruction { .. } if !results.iter().any(|(_, ty)| ty.is_pending()) => {}
            Op::If { .. } => {
                for region in inner {
                    learnt |= self.pairs(region.yielded_values(), results.iter().map(|&(value, _)| value));
                }
            }
            Op::For { carried, body, .. } => {
                let arguments = || body.arguments.iter().skip(1).map(|&(value, _)| value);
                learnt |= self.pairs(carried, arguments());
                learnt |= self.pairs(body.yielded_values(), arguments());
                let arguments: Vec<Value> = arguments().collect();
                learnt |= self.pairs(&arguments, results.iter().map(|&(value, _)| value));
            }
            Op::While { carried, body } => {
                let arguments = || body.arguments.iter().map(|&(value, _)| value);
                let next = body.yielded_values().get(1..).unwrap_or_default();
                learnt |= self.pairs(carried, arguments());
                learnt |= self.pairs(next, arguments());
                learnt |= self.pairs(next, results.iter().map(|&(value, _)| value));
            }
            op => {
                let mut all = Buffers::new();
                op.operands().iter().for_each(|&value| join(&mut all, self.of_value(value)));
                if !all.is_empty() {
                    for &(result, _) in results {
                        learnt |= self.add(result, &all);
                    }
                }
            }
        }
        learnt
    }

    fn pairs(&mut self, from: &[Value], to: impl Iterator<Item = Value>) -> bool {
        let mut learnt = false;
        for (&from, to) in from.iter().zip(to) {
            let buffers = Buffers::from_slice(self.of_value(from));
            learnt |= self.add(to, &buffers);
        }
        learnt
    }

    fn add(&mut self, value: Value, buffers: &[u32]) -> bool {
        let Some(buffer_use) = self.addresses.get_mut(value.0 as usize) else { return false };
        let before = buffer_use.len();
        join(buffer_use, buffers);
        buffer_use.len() > before
    }
}

fn join(all: &mut Buffers, more: &[u32]) {
    for buffer in more {
        if let Err(position) = all.binary_search(buffer) {
            all.insert(position, *buffer);
        }
    }
}

/// Whether an operation accesses the buffers that its operands point into. Otherwise it only passes the addresses on,
/// or does not use them.
fn touches(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicRmw { .. }
            | Op::AtomicCompareExchange { .. }
            | Op::Instruction { .. }
            | Op::Wait { .. }
            | Op::MbarrierInit { .. }
            | Op::MbarrierArrive { .. }
            | Op::MbarrierWait { .. }
            | Op::MbarrierInvalidate { .. }
            | Op::MbarrierCommit { .. }
            | Op::TensorAllocate { .. }
            | Op::ClusterAddress { .. }
            | Op::Yield { .. }
    )
}

/// A walk over the statements of a kernel in program order, which records the accesses of buffers.
struct Walk<'a> {
    uses: &'a mut Uses,
    number: usize,
    /// The buffers that asynchronous instructions access, if these have not been waited for.
    waited_for: BTreeSet<u32>,
    accesses: &'a Accesses,
    /// The buffers that asynchronous copies write.
    copied: BTreeSet<u32>,
    /// Whether the last marker of an access belongs to bulk copies to global memory.
    reads_in_bulk: bool,
    /// The buffers with copies in flight at this point of the walk.
    in_flight: BTreeSet<u32>,
    /// The conditions of the branches at which warp groups diverge.
    partings: &'a [Value],
    /// The index of the current warp group.
    group: usize,
    /// The number of barriers of all warp groups so far.
    phase: usize,
}

impl Walk<'_> {
    /// Records the accesses in the region `id`; returns the buffers that it accesses.
    fn region(&mut self, region: &Region, id: RegionId) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        for statement in &region.statements {
            let number = self.number;
            self.number += 1;
            if let Some(accessed) = self.accesses.at(statement) {
                self.reads_in_bulk = accessed.access == Access::BulkRead;
            }
            let mut touched: BTreeSet<u32> = self.uses.touched(&statement.op).into_iter().collect();
            let diverges = matches!(&statement.op, Op::If { condition, .. } if self.partings.contains(condition));
            let before = self.phase;
            for (index, nested) in statement.op.regions().into_iter().enumerate() {
                self.group += usize::from(diverges);
                self.phase = before;
                touched.extend(self.region(nested, Some((number, index))));
            }
            let is_full_barrier = matches!(&statement.op, Op::NamedBarrier { number: ALL_GROUPS, .. });
            self.phase += usize::from(is_full_barrier && !self.partings.is_empty());
            self.special(statement, id, &mut touched);
            let end = self.number - 1;
            for &buffer in &touched {
                let buffer_use = &mut self.uses.buffers[buffer as usize];
                if !diverges {
                    buffer_use.groups.insert(self.group);
                    let (first, last) = buffer_use.phases.unwrap_or((self.phase, self.phase));
                    buffer_use.phases = Some((first.min(self.phase), last.max(self.phase)));
                }
                if buffer_use.owner_region == Some(id) {
                    let first = buffer_use.span.map_or(number, |(first, _)| first);
                    buffer_use.span = Some((first, number));
                    buffer_use.end = end;
                }
            }
            all.extend(touched);
        }
        all
    }

    /// Marks buffers as kept if the region `id` takes their address and yields it. A yielded address of an enclosing
    /// region's buffer needs no mark: its uses there count as accesses, as do those of an accumulator in flight.
    fn keep_escaping(&mut self, values: &[Value], id: RegionId) {
        for &value in values {
            for buffer in Buffers::from_slice(self.uses.of_value(value)) {
                let buffer_use = &mut self.uses.buffers[buffer as usize];
                buffer_use.is_kept |= buffer_use.owner_region == Some(id);
            }
        }
    }

    /// Records the effects of an operation on buffers other than plain accesses: it takes an address, executes an
    /// asynchronous instruction, or waits. `touched` has the buffers of its operands; those whose asynchronous accesses
    /// a wait completes are added.
    fn special(&mut self, statement: &Statement, id: RegionId, touched: &mut BTreeSet<u32>) {
        let op = &statement.op;
        match op {
            Op::SharedAddress { buffer } => {
                if let Some(buffer_use) = self.uses.buffers.get_mut(*buffer as usize) {
                    buffer_use.is_kept |= buffer_use.owner_region.is_some() && buffer_use.owner_group == self.group;
                    if buffer_use.owner_region.is_none() {
                        (buffer_use.owner_region, buffer_use.owner_group) = (Some(id), self.group);
                    }
                }
            }
            // An instruction is complete when its results are there, such as `ldmatrix`.
            Op::Instruction { .. } if statement.results.iter().any(|(_, ty)| !ty.is_pending()) => {}
            // The data that a bulk copy reads is complete, so no wait for earlier instructions on the buffer follows.
            Op::Instruction { .. } if self.reads_in_bulk => self.waited_for.retain(|buffer| !touched.contains(buffer)),
            Op::Instruction { .. } => {
                self.waited_for.extend(touched.iter());
                self.in_flight.extend(touched.intersection(&self.copied));
            }
            Op::Wait { queue: Queue::Copies, outstanding, .. } => {
                touched.extend(&self.in_flight);
                touched.extend(std::mem::take(&mut self.waited_for));
                if *outstanding == 0 {
                    self.in_flight.clear();
                }
            }
            Op::Wait { outstanding: 1.., .. } => touched.extend(&self.waited_for),
            Op::Wait { .. } | Op::MbarrierWait { .. } => touched.extend(std::mem::take(&mut self.waited_for)),
            _ => {}
        }
        let is_kept = matches!(
            op,
            Op::MbarrierInit { .. }
                | Op::MbarrierArrive { .. }
                | Op::MbarrierWait { .. }
                | Op::MbarrierInvalidate { .. }
                | Op::MbarrierCommit { .. }
                | Op::TensorAllocate { .. }
                | Op::ClusterAddress { .. }
        );
        if let Op::Yield { values } = op {
            self.keep_escaping(values, id);
        }
        if is_kept {
            for &value in &op.operands() {
                for buffer in Buffers::from_slice(self.uses.of_value(value)) {
                    self.uses.buffers[buffer as usize].is_kept = true;
                }
            }
        }
    }
}

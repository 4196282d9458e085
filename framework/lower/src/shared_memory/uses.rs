//! Who touches which buffer: the buffers that each value may be an address in, and from where to where each is in use.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use tilewright_kernel::{Kernel, Op, Queue, Region, Statement, Value};

/// The number of the barrier at which all groups of warps meet, if warps part.
pub(crate) const ALL_GROUPS: u32 = 0;

/// Numbers of buffers, ascending.
pub(super) type Buffers = SmallVec<[u32; 2]>;

/// A region, by the number of the statement that holds it and which of its regions it is; the kernel's body is none's.
pub(super) type RegionId = Option<(usize, usize)>;

/// How a buffer is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// The region in which its address is taken, where that is one.
    pub home: Option<RegionId>,
    /// The group of warps that takes it there.
    pub home_group: usize,
    /// The first and the last statement of that region in which it is touched, regions within included: by number.
    pub span: Option<(usize, usize)>,
    /// The number of the last statement within the last one.
    pub end: usize,
    /// The groups of warps that touch it; group zero where all do the same.
    pub groups: BTreeSet<usize>,
    /// The first and the last part of the program in which it is touched: where all groups of warps meet a part ends and another
    /// begins.
    pub parts: Option<(usize, usize)>,
    /// Whether its place is its own: it outlives its region, one group takes its address twice, or the hardware keeps state in it.
    pub is_kept: bool,
}

/// The uses of all buffers.
#[derive(Debug)]
pub(super) struct Uses {
    /// By number of the buffer.
    pub buffers: Vec<Use>,
    /// By number of a value, the buffers that it may be an address in.
    addresses: Vec<Buffers>,
}

impl Uses {
    /// The buffers that values are addresses in; from where to where they are in use is yet to be found.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut uses = Self {
            buffers: vec![Use::default(); kernel.shared.len()],
            addresses: vec![Buffers::new(); kernel.value_limit() as usize],
        };
        while uses.follow(&kernel.body) {}
        uses
    }

    /// Finds from where to where each buffer is in use; those that copies write until the last wait for them.
    pub(super) fn find(&mut self, kernel: &Kernel, copied: BTreeSet<u32>, partings: &[Value]) {
        let waiting = BTreeSet::new();
        let mut walk = Walk {
            uses: self,
            number: 0,
            waited_for: waiting.clone(),
            copied,
            under_way: waiting,
            partings,
            group: 0,
            part: 0,
        };
        walk.region(&kernel.body, None);
    }

    /// The buffers that a value may be an address in.
    pub(super) fn of_value(&self, value: Value) -> &[u32] {
        self.addresses.get(value.0 as usize).map_or(&[], |buffers| buffers)
    }

    /// The buffers that a statement touches by itself.
    pub(super) fn touched(&self, op: &Op) -> Buffers {
        let mut all = Buffers::new();
        if touches(op) {
            op.operands().iter().for_each(|&value| join(&mut all, self.of_value(value)));
        }
        all
    }

    /// Follows addresses from operands to results once; whether something was learnt.
    fn follow(&mut self, region: &Region) -> bool {
        let mut learnt = false;
        for statement in &region.statements {
            let inner = statement.op.regions();
            for part in &inner {
                learnt |= self.follow(part);
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
            // What memory holds, or what is made of it, is no address in it.
            Op::Load { .. } | Op::AtomicRmw { .. } | Op::AtomicCompareExchange { .. } | Op::Wait { .. } => {}
            // What is yet to come stands for the memory from which it comes.
            Op::Instruction { .. } if !results.iter().any(|(_, ty)| ty.is_pending()) => {}
            Op::If { .. } => {
                for region in inner {
                    learnt |= self.pairs(yielded(region), results.iter().map(|&(value, _)| value));
                }
            }
            Op::For { carried, body, .. } => {
                let arguments = || body.arguments.iter().skip(1).map(|&(value, _)| value);
                learnt |= self.pairs(carried, arguments());
                learnt |= self.pairs(yielded(body), arguments());
                let arguments: Vec<Value> = arguments().collect();
                learnt |= self.pairs(&arguments, results.iter().map(|&(value, _)| value));
            }
            Op::While { carried, body } => {
                let arguments = || body.arguments.iter().map(|&(value, _)| value);
                let next = yielded(body).get(1..).unwrap_or_default();
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
        let Some(own) = self.addresses.get_mut(value.0 as usize) else { return false };
        let before = own.len();
        join(own, buffers);
        own.len() > before
    }
}

/// What a region ends with.
fn yielded(region: &Region) -> &[Value] {
    match region.statements.last().map(|statement| &statement.op) {
        Some(Op::Yield { values }) => values,
        _ => &[],
    }
}

fn join(all: &mut Buffers, more: &[u32]) {
    for buffer in more {
        if let Err(place) = all.binary_search(buffer) {
            all.insert(place, *buffer);
        }
    }
}

/// Whether an operation touches what its operands are addresses in, or hands them on to the one that does.
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
            | Op::MbarrierCommit { .. }
            | Op::TensorAllocate { .. }
            | Op::ClusterAddress { .. }
            | Op::Yield { .. }
    )
}

/// Walks statements in the order of their text and notes where each buffer is touched.
struct Walk<'a> {
    uses: &'a mut Uses,
    number: usize,
    /// Buffers of instructions that a wait may yet be for.
    waited_for: BTreeSet<u32>,
    /// Buffers that copies write.
    copied: BTreeSet<u32>,
    /// Those of them that copies may be under way to.
    under_way: BTreeSet<u32>,
    /// Conditions by which warps part.
    partings: &'a [Value],
    /// The group of warps that does this.
    group: usize,
    /// How often all groups have met.
    part: usize,
}

impl Walk<'_> {
    /// The buffers that are touched in a region.
    fn region(&mut self, region: &Region, id: RegionId) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        for statement in &region.statements {
            let number = self.number;
            self.number += 1;
            let mut touched: BTreeSet<u32> = self.uses.touched(&statement.op).into_iter().collect();
            let parts = matches!(&statement.op, Op::If { condition, .. } if self.partings.contains(condition));
            let before = self.part;
            for (index, part) in statement.op.regions().into_iter().enumerate() {
                self.group += usize::from(parts);
                self.part = before;
                touched.extend(self.region(part, Some((number, index))));
            }
            let all_meet = matches!(&statement.op, Op::GroupBarrier { number: ALL_GROUPS, .. });
            self.part += usize::from(all_meet && !self.partings.is_empty());
            self.special(&statement.op, id, &mut touched);
            let end = self.number - 1;
            for &buffer in &touched {
                let own = &mut self.uses.buffers[buffer as usize];
                if !parts {
                    own.groups.insert(self.group);
                    let (first, last) = own.parts.unwrap_or((self.part, self.part));
                    own.parts = Some((first.min(self.part), last.max(self.part)));
                }
                if own.home == Some(id) {
                    let first = own.span.map_or(number, |(first, _)| first);
                    own.span = Some((first, number));
                    own.end = end;
                }
            }
            all.extend(touched);
        }
        all
    }

    /// What else operations say of buffers.
    fn special(&mut self, op: &Op, id: RegionId, touched: &mut BTreeSet<u32>) {
        match op {
            Op::SharedAddress { buffer } => {
                if let Some(own) = self.uses.buffers.get_mut(*buffer as usize) {
                    own.is_kept |= own.home.is_some() && own.home_group == self.group;
                    if own.home.is_none() {
                        (own.home, own.home_group) = (Some(id), self.group);
                    }
                }
            }
            Op::Instruction { .. } => {
                self.waited_for.extend(touched.iter());
                self.under_way.extend(touched.intersection(&self.copied));
            }
            Op::Wait { queue: Queue::Copies, outstanding, .. } => {
                touched.extend(&self.under_way);
                touched.extend(std::mem::take(&mut self.waited_for));
                if *outstanding == 0 {
                    self.under_way.clear();
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
                | Op::MbarrierCommit { .. }
                | Op::TensorAllocate { .. }
                | Op::ClusterAddress { .. }
                | Op::Yield { .. }
        );
        if is_kept {
            for &value in &op.operands() {
                for buffer in Buffers::from_slice(self.uses.of_value(value)) {
                    self.uses.buffers[buffer as usize].is_kept = true;
                }
            }
        }
    }
}

//! Annotations of the tensors that a program itself has in shared memory: their buffers, and the start of each access.

use std::collections::{BTreeSet, HashMap};

use tilewright_kernel::{Kernel, Op, Region, Statement, Value};

use super::index_analysis::IndexAnalysis;
use super::slices::{PlacedSlice, Slice};
use super::uses::Uses;

/// The kind of an access of a tensor in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A load from the tensor.
    Load,
    /// A store to the tensor.
    Store,
    /// A read by asynchronous MMAs, which lasts until they are waited for.
    Read,
    /// A read by bulk copies to global memory, which lasts until it is waited for: before the memory is written again,
    /// before a warp signals that it may be, or at the end of the kernel. These waits are inserted with the barriers.
    BulkRead,
    /// A write by asynchronous copies, which lasts until the copies are waited for.
    Copy,
    /// A store between two block barriers that the program itself has; it conflicts with no access between them.
    DisjointStore,
}

/// The tensors that a program itself has in shared memory, and their accesses. A data movement has the barriers between
/// the accesses of its own buffer; accesses of these tensors need barriers that are inserted later.
#[derive(Debug, Clone, Default)]
pub(crate) struct Annotations {
    /// The addresses of the buffers of these tensors.
    pub allocations: Vec<Value>,
    /// The conditions of the branches at which warp groups diverge for good: each group then runs concurrently with the
    /// others.
    pub partings: Vec<Value>,
    /// For each wait for MMAs at an mbarrier, identified by the parity for which it waits: the number of groups that it
    /// leaves in flight.
    pub mma_waits: HashMap<Value, u32>,
    /// For each marker (an unused value), the access that begins at the marker's definition and lasts until the next
    /// marker, and the slices that it touches. Without slices, it may touch the whole buffer.
    pub accesses: HashMap<Value, (Access, Vec<Slice>)>,
}

/// An access of a tensor that the program itself has in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Accessed {
    pub access: Access,
    /// The numbers of the buffers that the access may touch.
    pub buffers: BTreeSet<u32>,
    /// The slices that the access may touch, each with the number of its buffer.
    slices: Vec<(u32, PlacedSlice)>,
}

/// A part of a buffer: the number of the buffer, and a slice of it (`None` for the whole buffer).
pub(super) type BufferPart = (u32, Option<PlacedSlice>);

impl Accessed {
    /// Returns the parts of buffers that the access may touch.
    pub(super) fn parts(&self) -> impl Iterator<Item = BufferPart> {
        self.buffers.iter().flat_map(|&buffer| {
            let slices: Vec<_> = self.slices.iter().filter(|&&(of, _)| of == buffer).collect();
            let all = slices.is_empty().then_some((buffer, None));
            slices.into_iter().map(|(of, slice)| (*of, Some(slice.clone()))).chain(all)
        })
    }
}

/// The buffers of the tensors that a program itself has in shared memory, and their accesses.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    buffers: BTreeSet<u32>,
    by_mark: HashMap<Value, Accessed>,
    /// For each parity for which a wait for MMAs waits, the number of groups that the wait leaves in flight.
    pub mma_waits: HashMap<Value, u32>,
}

impl Accesses {
    pub(super) fn of(kernel: &Kernel, annotations: &Annotations, uses: &Uses) -> Self {
        let buffers = annotations.allocations.iter().flat_map(|&pointer| uses.of_value(pointer)).copied().collect();
        let analysis = IndexAnalysis::new(kernel);
        let by_mark = annotations.accesses.iter().map(|(&mark, (access, slices))| {
            let placed = |slice: &Slice| {
                let placed = PlacedSlice::new(slice, &analysis);
                uses.of_value(slice.pointer).iter().map(|&buffer| (buffer, placed.clone())).collect::<Vec<_>>()
            };
            let slices = slices.iter().flat_map(placed).collect();
            (mark, Accessed { access: *access, buffers: BTreeSet::new(), slices })
        });
        let by_mark = by_mark.collect();
        let mut accesses = Self { buffers, by_mark, mma_waits: annotations.mma_waits.clone() };
        accesses.walk(&kernel.body, uses, &mut None);
        accesses
    }

    /// Assigns the buffers that each statement accesses to the last access marker before the statement, in program
    /// order. `mark` is the last marker so far.
    fn walk(&mut self, region: &Region, uses: &Uses, mark: &mut Option<Value>) {
        for statement in &region.statements {
            if let Some(found) = self.mark(statement) {
                *mark = Some(found);
            }
            let is_access = !matches!(
                statement.op,
                Op::Yield { .. }
                    | Op::Wait { .. }
                    | Op::ClusterAddress { .. }
                    | Op::MbarrierInit { .. }
                    | Op::MbarrierArrive { .. }
                    | Op::MbarrierWait { .. }
                    | Op::MbarrierInvalidate { .. }
                    | Op::MbarrierCommit { .. }
            );
            if let Some(mark_uses) = mark.filter(|_| is_access).and_then(|mark| self.by_mark.get_mut(&mark)) {
                mark_uses
                    .buffers
                    .extend(uses.touched(&statement.op).into_iter().filter(|buffer| self.buffers.contains(buffer)));
            }
            statement.op.regions().into_iter().for_each(|inner| self.walk(inner, uses, mark));
        }
    }

    /// Whether a buffer belongs to a tensor that the program itself has in shared memory.
    pub(super) fn are_of(&self, buffer: u32) -> bool {
        self.buffers.contains(&buffer)
    }

    /// Returns the access marker that a statement defines; `None` if it defines none.
    pub(super) fn mark(&self, statement: &Statement) -> Option<Value> {
        let (value, _) = statement.results.first()?;
        self.by_mark.contains_key(value).then_some(*value)
    }

    /// Returns the access that begins at a statement; `None` if none does.
    pub(super) fn at(&self, statement: &Statement) -> Option<&Accessed> {
        self.by_mark.get(&statement.results.first()?.0)
    }

    /// Returns the buffers that asynchronous copies write.
    pub(super) fn copied(&self) -> BTreeSet<u32> {
        let copies = self.by_mark.values().filter(|accessed| accessed.access == Access::Copy);
        copies.flat_map(|accessed| &accessed.buffers).copied().collect()
    }
}

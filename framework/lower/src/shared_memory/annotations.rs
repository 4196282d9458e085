//! What a program says of its own tensors in shared memory: which buffers they are in, and where accesses of them begin.

use std::collections::{BTreeSet, HashMap};

use tilewright_kernel::{Kernel, Op, Region, Statement, Value};

use super::uses::Uses;

/// How a program accesses a tensor in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read.
    Load,
    /// It is written.
    Store,
    /// It is read by products that go on until they are waited for.
    Read,
    /// It is written by copies that land when they are waited for.
    Copy,
    /// It is written where nothing else accesses it between the meetings of the block before and after, which the program has.
    Apart,
}

/// Which of the tensors of an allocation is accessed: the one of this number but for the flipped bits. Of two whose number is the
/// same value, and whose bits are not, none can be the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    /// The number of the program's value that says it.
    pub number: u32,
    /// Bits of it that are flipped.
    pub flipped: u64,
}

/// Tensors that a program itself has in shared memory. Movements order the uses of their own buffers; of these nobody has
/// yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Annotations {
    /// The addresses of their buffers.
    pub allocations: Vec<Value>,
    /// Conditions of choices by which warps part for good: what one group of them does, others do at the same time.
    pub partings: Vec<Value>,
    /// By a value that nothing uses: the access that begins where it is defined, and reaches to where the next one begins.
    pub accesses: HashMap<Value, (Access, Option<Part>)>,
}

/// An access of the program's own tensors.
#[derive(Debug, Clone)]
pub(super) struct Accessed {
    pub access: Access,
    pub part: Option<Part>,
    /// The buffers that they may be in.
    pub buffers: BTreeSet<u32>,
}

/// The buffers of a program's own tensors, and the accesses of them.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    buffers: BTreeSet<u32>,
    by_mark: HashMap<Value, Accessed>,
}

impl Accesses {
    pub(super) fn of(kernel: &Kernel, annotations: &Annotations, uses: &Uses) -> Self {
        let buffers = annotations.allocations.iter().flat_map(|&pointer| uses.of_value(pointer)).copied().collect();
        let by_mark = annotations.accesses.iter().map(|(&mark, &(access, part))| {
            let buffers = BTreeSet::new();
            (mark, Accessed { access, part, buffers })
        });
        let by_mark = by_mark.collect();
        let mut accesses = Self { buffers, by_mark };
        accesses.walk(&kernel.body, uses, &mut None);
        accesses
    }

    /// In the order of the text: an access is that of the last mark before it.
    fn walk(&mut self, region: &Region, uses: &Uses, mark: &mut Option<Value>) {
        for statement in &region.statements {
            if let Some(own) = self.mark(statement) {
                *mark = Some(own);
            }
            let is_access = !matches!(
                statement.op,
                Op::Yield { .. }
                    | Op::Wait { .. }
                    | Op::ClusterAddress { .. }
                    | Op::MbarrierInit { .. }
                    | Op::MbarrierArrive { .. }
                    | Op::MbarrierWait { .. }
                    | Op::MbarrierCommit { .. }
            );
            if let Some(own) = mark.filter(|_| is_access).and_then(|mark| self.by_mark.get_mut(&mark)) {
                own.buffers
                    .extend(uses.touched(&statement.op).into_iter().filter(|buffer| self.buffers.contains(buffer)));
            }
            statement.op.regions().into_iter().for_each(|inner| self.walk(inner, uses, mark));
        }
    }

    /// Whether a buffer is one of the program's own tensors.
    pub(super) fn are_of(&self, buffer: u32) -> bool {
        self.buffers.contains(&buffer)
    }

    /// The mark that a statement is.
    pub(super) fn mark(&self, statement: &Statement) -> Option<Value> {
        let (value, _) = statement.results.first()?;
        self.by_mark.contains_key(value).then_some(*value)
    }

    /// The access that begins at a statement.
    pub(super) fn at(&self, statement: &Statement) -> Option<&Accessed> {
        self.by_mark.get(&statement.results.first()?.0)
    }

    /// The buffers that copies write.
    pub(super) fn copied(&self) -> BTreeSet<u32> {
        let copies = self.by_mark.values().filter(|accessed| accessed.access == Access::Copy);
        copies.flat_map(|accessed| &accessed.buffers).copied().collect()
    }
}

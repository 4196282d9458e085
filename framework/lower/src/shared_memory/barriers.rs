//! Inserts barriers between uses of a shared address, and between accesses of tensors that a program itself has in
//! shared memory. Inserts the waits for bulk copies that read shared memory, too: as late as possible, since a warp that
//! waits at once is idle for the whole copy.

use std::collections::BTreeSet;

use tilewright_kernel::{CollectiveScope, Issuers, Kernel, Op, Queue, Region, SharedBuffer, Statement};

use super::annotations::Accesses;
use super::index_analysis::IndexAnalysis;
use super::since::AccessesSinceBarrier;
use super::uses::{RegionId, Uses};

/// Max number of iterations of a loop that are analyzed with exact slices. Accesses that a further iteration adds count
/// as accesses of their whole buffer.
const MAX_ITERATIONS: usize = 16;

/// Max number of statements that the search for redundant barriers may visit (barriers times statements of the kernel);
/// with more, all barriers that were found are inserted.
const MAX_STATEMENTS: usize = 1 << 20;

/// Inserts block barriers. A barrier is needed before a buffer's first use if a buffer that overlaps it (or the buffer
/// itself) may have been used since the last barrier. It is also needed before an access of the program's own tensors
/// if a conflicting access may have happened since the last barrier. Inserts the waits for bulk copies that read shared
/// memory, and removes the markers of accesses.
pub(super) fn insert_barriers(kernel: &mut Kernel, uses: &Uses, accesses: &Accesses) {
    let analysis = IndexAnalysis::new(kernel);
    let search = Search { uses, accesses, analysis, allocations: &kernel.shared };
    let found = search.fewest(&kernel.body);
    insert(&mut kernel.body, &mut 0, &found, accesses);
    if found.waits_at_end {
        kernel.body.statements.push(Statement { results: Vec::new(), op: WAIT_FOR_BULK_READS, location: None });
    }
}

/// The wait until all bulk copies of a warp have read shared memory.
const WAIT_FOR_BULK_READS: Op = Op::Wait { queue: Queue::BulkReads, outstanding: 0, values: Vec::new() };

/// The statements before which operations must be inserted, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Insertions {
    /// The statements that need a block barrier.
    barriers: BTreeSet<usize>,
    /// The statements that need a wait for the reads of bulk copies, before the barrier.
    waits: BTreeSet<usize>,
    /// Whether bulk copies read shared memory when the kernel ends.
    waits_at_end: bool,
}

struct Search<'a> {
    uses: &'a Uses,
    accesses: &'a Accesses,
    analysis: IndexAnalysis<'a>,
    allocations: &'a [SharedBuffer],
}

impl Search<'_> {
    /// Returns the statements that need a barrier or a wait before them. It omits barriers that later ones make
    /// redundant: a barrier at the start of an iteration may replace one in the iteration before. Waits do not depend on
    /// barriers.
    fn fewest(&self, body: &Region) -> Insertions {
        let (mut found, mut statements) = (Insertions::default(), 0);
        let end = self.region(body, None, &mut statements, AccessesSinceBarrier::default(), &mut found);
        found.waits_at_end = !end.buffers_in_bulk_reads().is_empty();
        if found.barriers.len() * statements > MAX_STATEMENTS {
            return found;
        }
        for number in found.barriers.clone().into_iter().rev() {
            let mut fewer = found.clone();
            fewer.barriers.remove(&number);
            let expected = fewer.clone();
            self.region(body, None, &mut 0, AccessesSinceBarrier::default(), &mut fewer);
            if fewer == expected {
                found = fewer;
            }
        }
        found
    }

    /// Walks the region with the id `id`. `position` is the number of the next statement, counted over the whole kernel
    /// in program order. `since` are the accesses since the last barrier before the region; returns the accesses since
    /// the last barrier at its end. Adds to `found` the statements that need a barrier or a wait before them.
    fn region(
        &self,
        region: &Region,
        id: RegionId,
        position: &mut usize,
        mut since: AccessesSinceBarrier,
        found: &mut Insertions,
    ) -> AccessesSinceBarrier {
        for statement in &region.statements {
            let own = *position;
            *position += 1;
            let access = self.accesses.at(statement);
            // Whether the address of a buffer in `used` is used again from here on.
            let is_reused = |used: &BTreeSet<u32>| {
                let begins = |buffer: &u32| self.begins_behind(*buffer as usize, id, own, used);
                access.is_some_and(|accessed| accessed.buffers.iter().any(begins)) || self.begins(id, own, used)
            };
            let reads = since.buffers_in_bulk_reads();
            let overwrites = access.is_some_and(|accessed| since.overwrites_bulk_reads(accessed));
            let hands_over = is_signal(&statement.op) && self.is_shared(&reads);
            let ends_reads = !reads.is_empty() && (overwrites || is_reused(&reads) || hands_over);
            if found.waits.contains(&own) || ends_reads {
                found.waits.insert(own);
                since.wait_for_bulk_reads();
            }
            let is_hazard = access.is_some_and(|accessed| since.is_hazard(accessed));
            if found.barriers.contains(&own) || is_hazard || is_reused(&since.used) {
                found.barriers.insert(own);
                since.pass_barrier();
            }
            if let Some(accessed) = access {
                since.access(accessed);
            }
            since = self.statement(statement, own, position, since, found);
        }
        since
    }

    fn statement(
        &self,
        statement: &Statement,
        own: usize,
        position: &mut usize,
        mut since: AccessesSinceBarrier,
        found: &mut Insertions,
    ) -> AccessesSinceBarrier {
        let first = *position;
        match &statement.op {
            Op::Barrier { scope: CollectiveScope::Block | CollectiveScope::Cluster, .. } | Op::NamedBarrier { .. } => {
                since.pass_barrier()
            }
            Op::Wait { queue: Queue::Mma, outstanding, .. } => since.wait_for_mma(*outstanding),
            Op::MbarrierWait { phase, .. } if self.accesses.mma_waits.contains_key(phase) => {
                since.wait_for_mma_at_mbarrier(self.accesses.mma_waits[phase]);
            }
            Op::Wait { queue: Queue::Copies, outstanding, .. } => since.wait(*outstanding),
            Op::If { then, otherwise, .. } => {
                let one = self.region(then, Some((own, 0)), position, since.clone(), found);
                let other = self.region(otherwise, Some((own, 1)), position, since, found);
                return one.or(&other);
            }
            Op::For { body, .. } | Op::While { body, .. } => {
                // An iteration begins in the state before the loop, or in the state at the end of the preceding
                // iteration.
                for iteration in 1.. {
                    *position = first;
                    let end = self.region(body, Some((own, 0)), position, since.clone(), found);
                    let end = match iteration < MAX_ITERATIONS {
                        true => end.in_next_iteration(&self.analysis, own),
                        false => end.without_slices(),
                    };
                    let both = since.clone().or(&end);
                    if both == since {
                        break;
                    }
                    since = both;
                }
                return since.at_exit(&self.analysis, own);
            }
            op => since.used.extend(self.uses.touched(op)),
        }
        since
    }

    /// Whether several warp groups access buffers that overlap those in `buffers`. Otherwise a signal to other groups
    /// lets nobody overwrite them.
    fn is_shared(&self, buffers: &BTreeSet<u32>) -> bool {
        let overlaps = |of: usize| buffers.iter().any(|&other| self.overlap(of, other as usize));
        let all = self.uses.buffers.iter().enumerate().filter(|(of, _)| overlaps(*of));
        all.flat_map(|(_, of)| &of.groups).collect::<BTreeSet<_>>().len() > 1
    }

    /// Whether the first use of a buffer in the region `id` comes after the access marker with the number `mark`, and
    /// the buffer's address overlaps that of a buffer in `used`.
    fn begins_behind(&self, buffer: usize, id: RegionId, mark: usize, used: &BTreeSet<u32>) -> bool {
        let own = &self.uses.buffers[buffer];
        let begins = own.owner_region == Some(id) && own.span.is_some_and(|(first, _)| first > mark);
        begins && used.iter().any(|&other| self.overlap(buffer, other as usize))
    }

    /// Whether the statement `position` of the region `id` is the first use of a buffer that overlaps a buffer in
    /// `used`. That may be the same buffer, used in the preceding iteration.
    fn begins(&self, id: RegionId, position: usize, used: &BTreeSet<u32>) -> bool {
        let begin =
            self.uses.buffers.iter().enumerate().filter(|(_, own)| {
                own.owner_region == Some(id) && own.span.is_some_and(|(first, _)| first == position)
            });
        let mut begin = begin.map(|(buffer, _)| buffer);
        begin.any(|buffer| used.iter().any(|&other| self.overlap(buffer, other as usize)))
    }

    fn overlap(&self, a: usize, b: usize) -> bool {
        // A buffer beyond a target's capacity is rejected when the kernel is run or compiled.
        let ends = |buffer: SharedBuffer| {
            let at = buffer.at.unwrap_or(0);
            (at, at.saturating_add(buffer.bytes))
        };
        let ((start_a, end_a), (start_b, end_b)) = (ends(self.allocations[a]), ends(self.allocations[b]));
        start_a < end_b && start_b < end_a
    }
}

/// Whether an operation signals other warps or warp groups that a buffer may be written.
fn is_signal(op: &Op) -> bool {
    matches!(op, Op::MbarrierArrive { bytes: 0, .. } | Op::NamedBarrier { .. })
}

/// Inserts the operations `before` statements, and removes the markers of accesses. `position` is the number of the
/// region's first statement, and then of the first one after the region.
fn insert(region: &mut Region, position: &mut usize, before: &Insertions, accesses: &Accesses) {
    let mut statements = Vec::with_capacity(region.statements.len());
    for mut statement in std::mem::take(&mut region.statements) {
        let barrier = || Op::Barrier { scope: CollectiveScope::Block, issuers: Issuers::All };
        let wait = before.waits.contains(position).then_some(WAIT_FOR_BULK_READS);
        let inserted = wait.into_iter().chain(before.barriers.contains(position).then(barrier));
        statements.extend(inserted.map(|op| Statement { results: Vec::new(), op, location: statement.location }));
        *position += 1;
        statement.op.regions_mut().into_iter().for_each(|inner| insert(inner, position, before, accesses));
        if accesses.mark(&statement).is_none() {
            statements.push(statement);
        }
    }
    region.statements = statements;
}

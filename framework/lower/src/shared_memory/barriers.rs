//! Barriers between the uses of what lies at one place, and between the accesses of a program's own tensors.

use std::collections::BTreeSet;

use tilewright_kernel::{Issuers, Kernel, Op, Queue, Region, Scope, SharedBuffer, Statement};

use super::annotations::Accesses;
use super::since::Since;
use super::uses::{RegionId, Uses};

/// Adds a barrier of the block before a buffer's first use wherever a buffer that has bytes of its place, itself included,
/// may have been used since the last one, and before an access of a program's own tensors wherever one that it must come after
/// may have been made since. Takes out the marks of accesses.
pub(super) fn add(kernel: &mut Kernel, uses: &Uses, accesses: &Accesses) {
    let search = Search { uses, accesses, places: &kernel.shared };
    let mut found = BTreeSet::new();
    search.region(&kernel.body, None, &mut 0, Since::default(), &mut found);
    insert(&mut kernel.body, &mut 0, &found, accesses);
}

struct Search<'a> {
    uses: &'a Uses,
    accesses: &'a Accesses,
    places: &'a [SharedBuffer],
}

impl Search<'_> {
    /// What has been done since the last barrier at the end of a region; `found` gets the numbers of statements that
    /// barriers belong before.
    fn region(
        &self,
        region: &Region,
        id: RegionId,
        number: &mut usize,
        mut since: Since,
        found: &mut BTreeSet<usize>,
    ) -> Since {
        for statement in &region.statements {
            let own = *number;
            *number += 1;
            let access = self.accesses.at(statement);
            let must_meet = access.is_some_and(|accessed| {
                let begins = |buffer: &u32| self.begins_behind(*buffer as usize, id, own, &since.used);
                since.is_hazard(accessed) || accessed.buffers.iter().any(begins)
            });
            if must_meet || self.begins(id, own, &since.used) {
                found.insert(own);
                since.meet();
            }
            if let Some(accessed) = access {
                since.access(accessed);
            }
            since = self.statement(statement, own, number, since, found);
        }
        since
    }

    fn statement(
        &self,
        statement: &Statement,
        own: usize,
        number: &mut usize,
        mut since: Since,
        found: &mut BTreeSet<usize>,
    ) -> Since {
        let first = *number;
        match &statement.op {
            Op::Barrier { scope: Scope::Block | Scope::Cluster, .. } | Op::GroupBarrier { .. } => since.meet(),
            Op::Wait { queue: Queue::Products, outstanding, .. } => since.wait_for_products(*outstanding),
            Op::Wait { queue: Queue::Copies, outstanding, .. } => since.wait(*outstanding),
            Op::If { then, otherwise, .. } => {
                let one = self.region(then, Some((own, 0)), number, since.clone(), found);
                let other = self.region(otherwise, Some((own, 1)), number, since, found);
                return one.or(&other);
            }
            Op::For { body, .. } | Op::While { body, .. } => {
                // A turn begins as the loop does or as the turn before ends.
                loop {
                    *number = first;
                    let end = self.region(body, Some((own, 0)), number, since.clone(), found).turned();
                    let both = since.clone().or(&end);
                    if both == since {
                        return since;
                    }
                    since = both;
                }
            }
            op => since.used.extend(self.uses.touched(op)),
        }
        since
    }

    /// Whether the use of a buffer of an access begins in it, where something else was used at its place.
    fn begins_behind(&self, buffer: usize, id: RegionId, mark: usize, used: &BTreeSet<u32>) -> bool {
        let own = &self.uses.buffers[buffer];
        let begins = own.home == Some(id) && own.span.is_some_and(|(first, _)| first > mark);
        begins && used.iter().any(|&other| self.overlap(buffer, other as usize))
    }

    /// Whether a buffer's use begins at a statement at whose place something else was used, or it itself in the turn before.
    fn begins(&self, id: RegionId, number: usize, used: &BTreeSet<u32>) -> bool {
        let begin = self
            .uses
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, own)| own.home == Some(id) && own.span.is_some_and(|(first, _)| first == number));
        let mut begin = begin.map(|(buffer, _)| buffer);
        begin.any(|buffer| used.iter().any(|&other| self.overlap(buffer, other as usize)))
    }

    fn overlap(&self, a: usize, b: usize) -> bool {
        // What no target has room for is refused when it is run or compiled.
        let ends = |buffer: SharedBuffer| {
            let at = buffer.at.unwrap_or(0);
            (at, at.saturating_add(buffer.bytes))
        };
        let ((start_a, end_a), (start_b, end_b)) = (ends(self.places[a]), ends(self.places[b]));
        start_a < end_b && start_b < end_a
    }
}

/// Puts barriers before the statements of these numbers, and takes marks out.
fn insert(region: &mut Region, number: &mut usize, before: &BTreeSet<usize>, accesses: &Accesses) {
    let mut statements = Vec::with_capacity(region.statements.len());
    for mut statement in std::mem::take(&mut region.statements) {
        if before.contains(number) {
            let op = Op::Barrier { scope: Scope::Block, issuers: Issuers::All };
            statements.push(Statement { results: Vec::new(), op });
        }
        *number += 1;
        statement.op.regions_mut().into_iter().for_each(|inner| insert(inner, number, before, accesses));
        if accesses.mark(&statement).is_none() {
            statements.push(statement);
        }
    }
    region.statements = statements;
}

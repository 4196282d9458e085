//! Barriers between the uses of what lies at one place.

use std::collections::BTreeSet;

use crate::kernel::{Issuers, Kernel, Op, Region, Scope, SharedBuffer, Statement};

use super::uses::{RegionId, Uses};

/// Adds a barrier of the block before a buffer's first use wherever a buffer that has bytes of its place, itself included,
/// may have been used since the last one.
pub(super) fn add(kernel: &mut Kernel, uses: &Uses) {
    let search = Search { uses, places: &kernel.shared };
    let mut found = BTreeSet::new();
    search.region(&kernel.body, None, &mut 0, BTreeSet::new(), &mut found);
    insert(&mut kernel.body, &mut 0, &found);
}

struct Search<'a> {
    uses: &'a Uses,
    places: &'a [SharedBuffer],
}

/// Buffers used since the last barrier of the block.
type Used = BTreeSet<u32>;

impl Search<'_> {
    /// What has been used since the last barrier at the end of a region; `found` gets the numbers of statements that
    /// barriers belong before.
    fn region(
        &self,
        region: &Region,
        id: RegionId,
        number: &mut usize,
        mut used: Used,
        found: &mut BTreeSet<usize>,
    ) -> Used {
        for statement in &region.statements {
            let own = *number;
            *number += 1;
            if self.begins(id, own, &used) {
                found.insert(own);
                used.clear();
            }
            used = self.statement(statement, own, number, used, found);
        }
        used
    }

    fn statement(
        &self,
        statement: &Statement,
        own: usize,
        number: &mut usize,
        mut used: Used,
        found: &mut BTreeSet<usize>,
    ) -> Used {
        let first = *number;
        match &statement.op {
            Op::Barrier { scope: Scope::Block | Scope::Cluster, .. } => used.clear(),
            Op::If { then, otherwise, .. } => {
                let one = self.region(then, Some((own, 0)), number, used.clone(), found);
                let other = self.region(otherwise, Some((own, 1)), number, used, found);
                return &one | &other;
            }
            Op::For { body, .. } | Op::While { body, .. } => {
                // A turn begins as the loop does or as the turn before ends.
                loop {
                    *number = first;
                    let end = self.region(body, Some((own, 0)), number, used.clone(), found);
                    if end.is_subset(&used) {
                        return used;
                    }
                    used.extend(end);
                }
            }
            op => used.extend(self.uses.touched(op)),
        }
        used
    }

    /// Whether a buffer's use begins at a statement at whose place something else was used, or it itself in the turn before.
    fn begins(&self, id: RegionId, number: usize, used: &Used) -> bool {
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

/// Puts barriers before the statements of these numbers.
fn insert(region: &mut Region, number: &mut usize, before: &BTreeSet<usize>) {
    let mut statements = Vec::with_capacity(region.statements.len());
    for mut statement in std::mem::take(&mut region.statements) {
        if before.contains(number) {
            let op = Op::Barrier { scope: Scope::Block, issuers: Issuers::All };
            statements.push(Statement { results: Vec::new(), op });
        }
        *number += 1;
        statement.op.regions_mut().into_iter().for_each(|inner| insert(inner, number, before));
        statements.push(statement);
    }
    region.statements = statements;
}

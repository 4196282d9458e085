//! Plans as values.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Builder, Value};

use super::cluster::Exchanged;
use super::exchange::Exchanges;
use super::renaming::Renaming;
use super::shared::Scratch;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::price::slots_with_accesses;
use crate::movement::{Conversion, PlanContext, PlanStats, bound};

/// By what way data moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Path {
    /// Nothing moves.
    None,
    /// Registers of each lane are renamed.
    Register,
    /// Lanes of each warp exchange values.
    Shuffle,
    /// Through shared memory.
    Shared,
    /// Through the shared memory of several blocks of a cluster.
    Cluster,
    /// Partly by exchange, partly through shared memory.
    Mixed,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Register => "register",
            Self::Shuffle => "shuffle",
            Self::Shared => "shared",
            Self::Cluster => "cluster",
            Self::Mixed => "mixed",
        })
    }
}

/// What to do, what it costs, and what no plan on this path can go below.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By what way data moves.
    pub path: Path,
    /// Counts, memory, cost, and the bound of this path.
    pub stats: PlanStats,
    pub(super) steps: Steps,
}

#[derive(Debug, Clone)]
pub(super) enum Steps {
    Renaming(Renaming),
    Exchanges(Box<Exchanges>),
    Scratch(Box<Scratch>),
    Cluster(Box<Exchanged>),
    Sequence(Box<Plan>, Box<Plan>),
}

impl Plan {
    /// One plan after the other, which together are a way of `path` for the whole conversion.
    pub(super) fn sequence(
        path: Path,
        conversion: &Conversion,
        before: Self,
        after: Self,
        context: &PlanContext<'_>,
    ) -> Self {
        let bound = match path {
            Path::Shared | Path::Mixed => bound::of_shared(conversion, context),
            Path::Cluster => bound::of_cluster(conversion, context),
            _ => bound::of_exchanges(conversion, context.target),
        };
        let reasons = [&before, &after].into_iter().filter_map(|plan| plan.stats.above_bound.clone());
        let reasons: Vec<String> = reasons.collect();
        let why = || if reasons.is_empty() { "copies are not spread evenly".to_owned() } else { reasons.join("; ") };
        let stats = before.stats.clone().then([&after.stats]).with_bound(bound, why);
        Self { path, stats, steps: Steps::Sequence(Box::new(before), Box::new(after)) }
    }

    /// Writes the plan's kernel IR. `registers` holds the source, one scalar integer of the
    /// element's width for each register index; the result holds the destination likewise.
    ///
    /// The plan's shared memory is a buffer of its own. A block barrier is not emitted before the
    /// first store to it. A plan for clusters asks the builder for them. Where blocks read each other's
    /// memory, a barrier of the cluster ends the plan: the block may end, or store there again.
    ///
    /// # Panics
    /// Where `registers` has not as many values as the source layout has registers.
    pub fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        match &self.steps {
            Steps::Renaming(renaming) => renaming.emit(registers),
            Steps::Exchanges(exchanges) => exchanges.emit(builder, registers),
            Steps::Scratch(scratch) => scratch.emit(builder, registers),
            Steps::Cluster(exchanged) => exchanged.emit(builder, registers),
            Steps::Sequence(before, after) => {
                let between = before.emit(builder, registers);
                after.emit(builder, &between)
            }
        }
    }

    /// Blocks of the clusters that a kernel with this plan is launched in; one where blocks may run by
    /// themselves.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        match &self.steps {
            Steps::Cluster(exchanged) => exchanged.blocks(),
            Steps::Sequence(before, after) => before.blocks().max(after.blocks()),
            Steps::Renaming(_) | Steps::Exchanges(_) | Steps::Scratch(_) => 1,
        }
    }

    /// The layout of the scratch memory, where the plan uses one.
    #[must_use]
    pub fn swizzle(&self) -> Option<&ScratchLayout> {
        match &self.steps {
            Steps::Scratch(scratch) => Some(scratch.swizzle()),
            Steps::Cluster(exchanged) => Some(exchanged.swizzle()),
            Steps::Sequence(before, after) => before.swizzle().or_else(|| after.swizzle()),
            Steps::Renaming(_) | Steps::Exchanges(_) => None,
        }
    }
}

impl Plan {
    /// Orders plans for one question, the better first: that of fewer slots, then that of fewer cycles
    /// by the target's table, then that of less scratch memory.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        self.compare_with_accesses(other, 0.0)
    }

    /// The same where each access of shared memory counts so many slots more.
    pub(super) fn compare_with_accesses(&self, other: &Self, access_slots: f64) -> Ordering {
        let price = |plan: &Self| slots_with_accesses(&plan.stats.counts, access_slots);
        let by_slots = price(self).total_cmp(&price(other));
        let (own, other) = (&self.stats, &other.stats);
        by_slots.then(own.cost.total_cmp(&other.cost)).then(own.shared_bytes.cmp(&other.shared_bytes))
    }
}

//! Plans as values.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Builder, Counts, Value};

use super::cluster::Exchanged;
use super::exchange::Exchanges;
use super::renaming::Renaming;
use super::shared::Scratch;
use crate::movement::choose::swizzle::Swizzle;
use crate::movement::price::slots_with_accesses;
use crate::movement::{Bound, Conversion, Means, bound};

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

/// A way that is closed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The way.
    pub path: Path,
    /// Why it is closed.
    pub reason: String,
}

/// What to do, what it costs, and what no plan on this path can go below.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By what way data moves.
    pub path: Path,
    /// What a warp executes; where warps differ, the most.
    pub counts: Counts,
    /// Shared memory of the block in bytes.
    pub shared_bytes: u64,
    /// Cycles of the block by the target's table.
    pub cost: f64,
    /// What no plan on this path can go below.
    pub bound: Bound,
    /// Why the counts are above the bound, where they are.
    pub above_bound: Option<String>,
    pub(super) steps: Steps,
}

/// Bits that one lane moves through shared memory, over all of a plan's accesses. Code generators may join
/// accesses or split them, so this, not the number of accesses, is what the code must show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedBits {
    /// Stored, by a lane that no predicate leaves out.
    pub stored: u64,
    /// Loaded.
    pub loaded: u64,
}

impl SharedBits {
    /// What one plan moves after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { stored: self.stored + other.stored, loaded: self.loaded + other.loaded }
    }

    /// What all of these move.
    pub(in crate::movement) fn of_all<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        plans.into_iter().fold(Self::default(), |sum, plan| sum.plus(plan.shared_bits()))
    }
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
    pub(super) fn sequence(path: Path, conversion: &Conversion, before: Self, after: Self, means: &Means<'_>) -> Self {
        let counts = before.counts.plus(after.counts);
        let bound = match path {
            Path::Shared | Path::Mixed => bound::of_shared(conversion, means),
            Path::Cluster => bound::of_cluster(conversion, means),
            _ => bound::of_exchanges(conversion, means.target.index_exchange_bits().unwrap_or(u32::BITS)),
        };
        let reasons = [&before, &after].into_iter().filter_map(|plan| plan.above_bound.clone());
        let reasons: Vec<String> = reasons.collect();
        let why = if reasons.is_empty() { "copies are not spread evenly".to_owned() } else { reasons.join("; ") };
        Self {
            path,
            counts,
            shared_bytes: before.shared_bytes + after.shared_bytes,
            cost: before.cost + after.cost,
            bound,
            above_bound: (!bound.is_met(&counts)).then_some(why),
            steps: Steps::Sequence(Box::new(before), Box::new(after)),
        }
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

    /// What a lane stores to shared memory and loads from it.
    #[must_use]
    pub fn shared_bits(&self) -> SharedBits {
        match &self.steps {
            Steps::Scratch(scratch) => scratch.shared_bits(),
            Steps::Cluster(exchanged) => exchanged.shared_bits(),
            Steps::Renaming(_) | Steps::Exchanges(_) => SharedBits::default(),
            Steps::Sequence(before, after) => before.shared_bits().plus(after.shared_bits()),
        }
    }

    /// The layout of the scratch memory, where the plan uses one.
    #[must_use]
    pub fn swizzle(&self) -> Option<&Swizzle> {
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
        let price = |plan: &Self| slots_with_accesses(&plan.counts, access_slots);
        let by_slots = price(self).total_cmp(&price(other));
        by_slots.then(self.cost.total_cmp(&other.cost)).then(self.shared_bytes.cmp(&other.shared_bytes))
    }
}

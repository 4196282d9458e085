//! The plan of a layout conversion: its kind, operations, counts and cost.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Builder, Counts, Value};

use super::cluster::ClusterPlan;
use super::renaming::Renaming;
use super::shared::scratch::Scratch;
use super::shuffle::ShufflePlan;
use crate::cost::WarpWork;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::price;
use crate::movement::{ConversionProblem, PlanContext, PlanStats, bound};

/// The kind of a conversion: the medium through which data moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConversionKind {
    /// Both layouts are equal, so no data moves.
    None,
    /// Each lane moves values between its own registers, by renaming.
    Register,
    /// Data moves by shuffles between the lanes of each warp.
    Shuffle,
    /// Data moves by stores to and loads from shared memory.
    Shared,
    /// Data moves by stores to and loads from the shared memory of several blocks of a cluster.
    Cluster,
    /// Data moves by shuffles and then through shared memory, or the reverse.
    Mixed,
}

impl fmt::Display for ConversionKind {
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

/// A conversion plan: the operations, with their counts, cost and lower bound.
#[derive(Debug, Clone)]
pub struct ConversionPlan {
    /// The medium through which data moves: registers, shuffles, shared memory, the memories of a cluster, or a mix.
    pub path: ConversionKind,
    /// The counts, shared memory and cost of the plan, with the lower bound of all plans of its kind.
    pub stats: PlanStats,
    pub(super) steps: Steps,
}

#[derive(Debug, Clone)]
pub(super) enum Steps {
    Renaming(Renaming),
    Shuffles(Box<ShufflePlan>),
    Scratch(Box<Scratch>),
    Cluster(Box<ClusterPlan>),
    Sequence(Box<ConversionPlan>, Box<ConversionPlan>),
}

impl ConversionPlan {
    /// Concatenates the plans `before` and `after` to a plan of kind `path` for the whole conversion.
    pub(super) fn sequence(
        path: ConversionKind,
        conversion: &ConversionProblem,
        before: Self,
        after: Self,
        context: &PlanContext<'_>,
    ) -> Self {
        let bound = match path {
            ConversionKind::Shared | ConversionKind::Mixed => bound::of_shared(conversion, context),
            ConversionKind::Cluster => bound::of_cluster(conversion, context),
            _ => bound::of_shuffles(conversion, context.target),
        };
        let reasons = [&before, &after].into_iter().filter_map(|plan| plan.stats.above_bound.clone());
        let reasons: Vec<String> = reasons.collect();
        let why = || if reasons.is_empty() { "replicas are not divided evenly".to_owned() } else { reasons.join("; ") };
        let stats = before.stats.clone().then([&after.stats]).with_bound(bound, why);
        Self { path, stats, steps: Steps::Sequence(Box::new(before), Box::new(after)) }
    }

    /// Emits the conversion. `registers` holds the source: one scalar integer of the element's width for each register
    /// of the source layout. The result holds the destination in the same form.
    ///
    /// The plan declares a shared buffer of its own. It emits no block barrier before the first store to the buffer. A
    /// plan for clusters sets the cluster size in the builder. If blocks read each other's memory, the plan ends with a
    /// cluster barrier, so that a block may exit or store again.
    ///
    /// # Panics
    /// If `registers` has fewer values than the source layout has registers.
    pub fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        match &self.steps {
            Steps::Renaming(renaming) => renaming.emit(registers),
            Steps::Shuffles(shuffles) => shuffles.emit(builder, registers),
            Steps::Scratch(scratch) => scratch.emit(builder, registers),
            Steps::Cluster(cluster_conversion) => cluster_conversion.emit(builder, registers),
            Steps::Sequence(before, after) => {
                let between = before.emit(builder, registers);
                after.emit(builder, &between)
            }
        }
    }

    /// Returns the work of a warp for the conversion, as input of the cost model.
    #[must_use]
    pub fn to_warp_work(&self) -> WarpWork {
        WarpWork { counts: self.stats.counts, chain: self.chain(), ..WarpWork::default() }
    }

    /// Returns the counts of the dependent chain: for each round through scratch memory one store and one load, and the
    /// shuffles that wait for each other.
    fn chain(&self) -> Counts {
        let of_rounds = |rounds| WarpWork::from_counts(self.stats.counts, rounds).chain;
        match &self.steps {
            Steps::Renaming(_) => Counts::default(),
            Steps::Shuffles(shuffles) => shuffles.chain(),
            Steps::Scratch(scratch) => of_rounds(scratch.rounds()),
            Steps::Cluster(_) => of_rounds(1),
            Steps::Sequence(before, after) => before.chain().add_counts(after.chain()),
        }
    }

    /// Returns the number of blocks in a cluster with which the kernel must be launched; 1 if the plan needs no
    /// cluster.
    #[must_use]
    pub fn cluster_blocks(&self) -> u32 {
        match &self.steps {
            Steps::Cluster(cluster_conversion) => cluster_conversion.blocks(),
            Steps::Sequence(before, after) => before.cluster_blocks().max(after.cluster_blocks()),
            Steps::Renaming(_) | Steps::Shuffles(_) | Steps::Scratch(_) => 1,
        }
    }

    /// Returns the layout of the plan's scratch buffer in shared memory; `None` if the plan uses none.
    #[must_use]
    pub fn scratch_layout(&self) -> Option<&ScratchLayout> {
        match &self.steps {
            Steps::Scratch(scratch) => Some(scratch.swizzle()),
            Steps::Cluster(cluster_conversion) => Some(cluster_conversion.swizzle()),
            Steps::Sequence(before, after) => before.scratch_layout().or_else(|| after.scratch_layout()),
            Steps::Renaming(_) | Steps::Shuffles(_) => None,
        }
    }
}

impl ConversionPlan {
    /// Compares two plans of one conversion: fewer predicted cycles are less, then fewer accesses of shared memory,
    /// then less scratch memory.
    #[must_use]
    pub fn compare_cost(&self, other: &Self) -> Ordering {
        let (own, other) = (&self.stats, &other.stats);
        let accesses = |stats: &PlanStats| price::accesses(&stats.counts);
        own.cost
            .total_cmp(&other.cost)
            .then(accesses(own).cmp(&accesses(other)))
            .then(own.shared_bytes.cmp(&other.shared_bytes))
    }
}

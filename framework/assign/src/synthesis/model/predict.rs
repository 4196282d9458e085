//! Cycles, from work and the target's figures.

use super::occupancy::stats;
use super::{Block, ModelError, ModelStep, Resident, Work};
use tilewright_target::{TargetDescription, Throughput};

/// The share of the work of pipes other than the busiest, and of latencies where a pipe is what a program waits for, that is not
/// hidden behind it: assumed, so that of two programs with one busiest pipe the one that does less beside it is the better.
const NOT_HIDDEN: f64 = 1.0 / 16.0;

/// Cycles for which a block's work occupies the pipes of a compute unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pipes {
    /// Issuing instructions.
    pub issue: f64,
    /// Shared memory.
    pub shared: f64,
    /// Matrix units.
    pub matrix: f64,
    /// The unit's share of global memory's bandwidth.
    pub global: f64,
}

impl Pipes {
    fn all(&self) -> [(&'static str, f64); 4] {
        [
            ("issue", self.issue),
            ("shared memory", self.shared),
            ("matrix units", self.matrix),
            ("global memory", self.global),
        ]
    }

    fn sum(&self) -> f64 {
        self.all().iter().map(|(_, cycles)| cycles).sum()
    }

    fn busiest(&self) -> (&'static str, f64) {
        self.all().into_iter().fold(("issue", 0.0), |most, own| if own.1 > most.1 { own } else { most })
    }

    fn plus(self, other: Self, times: f64) -> Self {
        Self {
            issue: self.issue + times * other.issue,
            shared: self.shared + times * other.shared,
            matrix: self.matrix + times * other.matrix,
            global: self.global + times * other.global,
        }
    }
}

/// How long a program takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Cycles of the compute unit that is busy longest.
    pub cycles: f64,
    /// Blocks that are resident together.
    pub resident: Resident,
    /// What one block occupies.
    pub pipes: Pipes,
    /// Cycles of one block by itself.
    pub latency: f64,
    /// What the time is due to: a pipe, or `latency`.
    pub bound_by: &'static str,
}

/// Predicts how long blocks take on a target.
///
/// # Errors
/// [`ModelError`]: a target without figures, blocks that do not fit a compute unit.
pub fn predict(block: &Block, target: &TargetDescription) -> Result<Prediction, ModelError> {
    let machine = Machine { stats: stats(target)?, target, warps: block.warps.max(1) as f64 };
    let resident = Resident::of(block, target)?;
    let spent = machine.steps(&block.steps);
    // What is still on its way at the end is waited for.
    let latency = spent.latency + spent.ahead.all() + spent.products;
    let of_unit = block.blocks.div_ceil(u64::from(machine.stats.compute_units).max(1));
    let iterations = of_unit.div_ceil(resident.blocks.max(1));
    let (pipe, busiest) = spent.pipes.busiest();
    let (by_pipe, by_latency) = (of_unit as f64 * busiest, iterations as f64 * latency);
    let beside = of_unit as f64 * (spent.pipes.sum() - busiest) + by_pipe.min(by_latency);
    Ok(Prediction {
        cycles: by_pipe.max(by_latency) + NOT_HIDDEN * beside,
        resident,
        pipes: spent.pipes,
        latency,
        bound_by: if by_latency > by_pipe { "latency" } else { pipe },
    })
}

/// What a block spends.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    pipes: Pipes,
    /// Cycles one after the other.
    latency: f64,
    /// Of what runs on by itself.
    ahead: Ahead,
    /// Cycles of products that go on until the next turn.
    products: f64,
}

/// What is under way while a block does other things.
#[derive(Debug, Clone, Copy, Default)]
struct Ahead {
    /// Cycles until the first of it is there: what is under way together waits together.
    latency: f64,
    /// Cycles for which it is transferred.
    transfer: f64,
}

impl Ahead {
    fn all(self) -> f64 {
        self.latency + self.transfer
    }
}

struct Machine<'a> {
    stats: &'a Throughput,
    target: &'a TargetDescription,
    warps: f64,
}

impl Machine<'_> {
    fn steps(&self, steps: &[ModelStep]) -> Spent {
        steps.iter().fold(Spent::default(), |all, step| {
            let own = match step {
                ModelStep::Work(work) => self.work(work),
                ModelStep::Loop { trips, stages, body } => self.repeated(*trips, *stages, self.steps(body)),
            };
            Spent {
                pipes: all.pipes.plus(own.pipes, 1.0),
                latency: all.latency + own.latency,
                ahead: Ahead {
                    latency: all.ahead.latency.max(own.ahead.latency),
                    transfer: all.ahead.transfer + own.ahead.transfer,
                },
                products: all.products + own.products,
            }
        })
    }

    /// A loop. Where stages run ahead the first iteration waits for what it needs, and each further one is as long as its
    /// own work, or as its transfers, or as products that go on, or as the part of a latency that the stages between leave.
    fn repeated(&self, trips: u64, stages: u64, body: Spent) -> Spent {
        if trips == 0 {
            return Spent::default();
        }
        let alone = body.latency + body.ahead.all() + body.products;
        let next = match stages {
            0 | 1 => alone,
            _ => {
                let own = body.latency.max(body.pipes.global).max(body.products);
                own.max(body.ahead.latency / (stages - 1) as f64)
            }
        };
        let latency = alone + (trips - 1) as f64 * next;
        Spent { pipes: Pipes::default().plus(body.pipes, trips as f64), latency, ..Spent::default() }
    }

    fn work(&self, work: &Work) -> Spent {
        let (costs, stats) = (&self.target.costs, self.stats);
        let issued =
            work.global_accesses + work.shared_accesses + work.exchanges + work.matrix_instructions + work.arithmetic;
        let barriers = work.barriers as f64;
        let exchange = work.exchanges as f64 * costs.exchange.cycles;
        let stored = work.wavefronts_stored as f64 * costs.shared_store_wavefront.cycles;
        let loaded = work.wavefronts_loaded as f64 * costs.shared_load_wavefront.cycles;
        let units = self.target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
        let issuing = if work.produced { 1.0 } else { self.warps };
        let pipes = Pipes {
            issue: issued as f64 * issuing / stats.issues_per_cycle.max(1.0) + barriers * costs.block_barrier.cycles,
            shared: (stored + loaded + exchange) * self.warps,
            matrix: work.matrix_instructions as f64 * work.matrix_cycles.max(0.0) * self.warps / f64::from(units),
            global: work.global_bytes as f64 / stats.bytes_per_cycle(),
        };
        let waited = |count: u64, latency: f64| if count > 0 { latency } else { 0.0 };
        let latency = waited(work.global_accesses.max(work.global_bytes.min(1)), stats.memory_latency);
        // That there is room is told by way of shared memory.
        let told = costs.shared_store_wavefront.latency + costs.shared_load_wavefront.latency;
        let latency = latency + if work.produced { told } else { 0.0 };
        let fetched = Ahead { latency, transfer: pipes.global };
        let own = waited(work.wavefronts_stored, costs.shared_store_wavefront.latency)
            + waited(work.wavefronts_loaded, costs.shared_load_wavefront.latency)
            + waited(work.exchanges, costs.exchange.latency)
            + barriers * costs.block_barrier.latency
            + pipes.issue.max(pipes.shared).max(if work.pending { 0.0 } else { pipes.matrix });
        let own = if work.produced { 0.0 } else { own };
        let products = if work.pending { pipes.matrix } else { 0.0 };
        match work.asynchronous {
            true => Spent { pipes, latency: own, ahead: fetched, products },
            false => Spent { pipes, latency: own + fetched.all(), products, ..Spent::default() },
        }
    }
}

//! Counts the work of a thread block of a solved program for the performance model, from the plans of data movement and
//! dots.
//!
//! A loop counts by its trip count if that is constant or follows from the launch, else by [`crate::LOOP_WEIGHT`].
//! Counted block barriers are the barriers of the program, and the barriers that lowering inserts between a write to a
//! tensor in shared memory and a later read (RAW), or between a read and the next write (WAR).

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, tt, ttg, tw};

use super::SynthesisError;
use super::accesses::buffer_count;
use super::implied_barriers::BarrierState;
use super::iteration_count::{iteration_count, mean_iteration_count};
use super::model::{ModelBlock, ModelStep, StepWork};
use super::predicted::blocks;
use super::registers::live;
use super::solved::Solved;
use crate::LaunchConfig;
use crate::graph::Kind;
use crate::memory::moved_bits;
use crate::op_costs::OpCosts;
use tilewright_plan::memory_synthesis::AccessSolution;
use tilewright_plan::mma::MmaCost;
use tilewright_plan::movement::{plan_conversion, plan_global_access};
use tilewright_target::{BankRow, Direction};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op_attrs::{PENDING, PREFETCH};
use tilewright_tile::{Attribute, Op, Region, TileType};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

/// The counts of one access of a tensor in shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AccessCounts {
    /// Number of access instructions that a warp issues for one execution of the access.
    pub issued: u64,
    /// Number of shared-memory wavefronts of a warp in one execution of the access.
    pub wavefronts: u64,
    /// Whether an instruction of the target's table implements the access. A copy from global memory is asynchronous
    /// only then.
    pub by_row: bool,
}

impl From<&AccessSolution> for AccessCounts {
    fn from(served: &AccessSolution) -> Self {
        Self { issued: served.issued, wavefronts: served.wavefronts, by_row: served.instruction.is_some() }
    }
}

/// Counts the work of a solved program, from the counts of its shared-memory accesses.
pub(super) struct WorkCounter<'s, 'm> {
    pub program: Solved<'s, 'm>,
    /// The counts of each shared-memory access, by the operation that makes it.
    pub moved: &'s HashMap<Op, AccessCounts>,
    /// The axis information of a launch whose arguments are known; `None` if only the program is known.
    pub launch_info: Option<&'s AxisInfoMap>,
}

impl WorkCounter<'_, '_> {
    /// Returns the launch of the program's blocks; each block takes `shared_bytes` bytes of shared memory. `launched`
    /// is the number of blocks, `None` for an assumed one.
    pub(super) fn blocks(&self, shared_bytes: u64, launched: Option<u64>) -> Result<ModelBlock, SynthesisError> {
        let steps = self.region(self.program.body.root(), &mut BarrierState::default())?;
        let registers = live(self.program.body, self.program.layouts)?;
        let producers = self.producers();
        Ok(ModelBlock { registers, shared_bytes, producers, ..blocks(self.program.config, launched, steps) })
    }

    /// Returns the number of producer warps, which only issue copies.
    fn producers(&self) -> u64 {
        let body = self.program.body;
        let groups = body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
        let warps = groups.map(|op| match body.op(op).attributes.get("partitionNumWarps") {
            Some(Attribute::Array(_, warps)) => warps.iter().sum(),
            _ => 0,
        });
        warps.max().unwrap_or(0)
    }

    fn region(&self, region: Region, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let mut steps = Vec::new();
        for block in self.program.body.blocks(region) {
            for &op in self.program.body.ops(*block) {
                let operation = self.program.body.op(op);
                if operation.name() == scf::FOR {
                    let (body, stages) = (operation.regions[0], self.stages(op));
                    let around = std::mem::replace(&mut since.is_pipelined, stages > 1);
                    // Walk the loop body twice and keep the steps of the second pass, which begins with the hazards
                    // that an iteration leaves for the next one.
                    self.region(body, since)?;
                    let body = self.region(body, since)?;
                    since.is_pipelined = around;
                    steps.push(ModelStep::Loop { iteration_count: self.iteration_count(op), stages, body });
                    continue;
                }
                if operation.name() == GROUPS {
                    steps.extend(self.groups(op, since)?);
                    continue;
                }
                let work = self.work(op, since)?;
                if work != StepWork::default() {
                    steps.push(ModelStep::Work(work));
                }
                if !matches!(operation.name(), tt::REDUCE | tt::SCAN) {
                    for &inner in &operation.regions {
                        steps.extend(self.region(inner, since)?);
                    }
                }
            }
        }
        Ok(steps)
    }

    /// Returns the steps of warp-specialized partitions: those of the default partition, whose loop also gets the
    /// copies that producer warps issue for it. One barrier before and one after synchronize all warps. `since` has the
    /// accesses of shared memory since the last block barrier.
    fn groups(&self, op: Op, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let body = self.program.body;
        let Some((first, others)) = body.op(op).regions.split_first() else { return Ok(Vec::new()) };
        since.pass_barrier();
        let mut steps = self.region(*first, since)?;
        since.pass_barrier();
        let is_box = |op: &Op| body.op(*op).name() == tw::BULK_TENSOR_LOAD;
        let tensor_copies: Vec<Op> = others.iter().flat_map(|region| body.walk(*region)).filter(is_box).collect();
        let brought = tensor_copies.iter().map(|op| ModelStep::Work(StepWork { produced: true, ..self.boxed(*op) }));
        let inside = || body.walk(*first).into_iter();
        let buffers =
            tensor_copies.iter().filter_map(|op| buffer_count(body, body.operand(*op, "dst")?)).max().unwrap_or(1);
        for step in &mut steps {
            if let ModelStep::Loop { stages, body, .. } = step {
                body.extend(brought);
                // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less
                // are in flight.
                *stages = buffers - u64::from(inside().any(|op| self.is_in_flight(op)));
                break;
            }
        }
        steps.push(ModelStep::Work(StepWork { barriers: 2, ..StepWork::default() }));
        Ok(steps)
    }

    fn iteration_count(&self, op: Op) -> u64 {
        match self.launch_info {
            Some(launch_info) => mean_iteration_count(self.program.body, launch_info, op),
            None => iteration_count(self.program.body, self.program.axis_info, op),
        }
    }

    /// Returns the number of iterations of a loop whose copies are in flight together. It is the number of buffers,
    /// less one if MMAs in flight still read it; two if loads are prefetched through registers.
    fn stages(&self, op: Op) -> u64 {
        let inside = || self.program.body.op(op).regions.iter().flat_map(|region| self.program.body.walk(*region));
        if inside().any(|op| self.is_prefetched(op)) {
            return 2;
        }
        let filled = |op: Op| match self.program.body.op(op).name() {
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => self.program.body.operand(op, "result"),
            tw::BULK_TENSOR_LOAD => self.program.body.operand(op, "dst"),
            _ => None,
        };
        let buffers = inside().filter_map(|op| buffer_count(self.program.body, filled(op)?)).max();
        // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less are in
        // flight.
        buffers.unwrap_or(1) - u64::from(inside().any(|op| self.is_in_flight(op)))
    }

    /// Whether an operation is a dot whose MMA overlaps with the next iteration.
    fn is_in_flight(&self, op: Op) -> bool {
        self.program.body.op(op).attributes.get(PENDING).is_some()
    }

    /// Whether an operation is a load that is prefetched for a later iteration.
    fn is_prefetched(&self, op: Op) -> bool {
        self.program.body.op(op).attributes.get(PREFETCH).is_some()
    }

    fn work(&self, op: Op, since: &mut BarrierState) -> Result<StepWork, SynthesisError> {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        let moved = || self.moved.get(&op).copied().unwrap_or_default();
        Ok(match operation.name() {
            tt::DOT | tt::DOT_SCALED => {
                let plan = self.program.plans.get(&op);
                let work = plan.map(|plan| multiplied(&plan.cost, self.program.config)).unwrap_or_default();
                StepWork { pending: self.is_in_flight(op), ..work }
            }
            ttg::LOCAL_LOAD => {
                let AccessCounts { issued, wavefronts, .. } = moved();
                let barriers = since.count_barriers_before(body, operation.operands[0], Direction::Load);
                StepWork { shared_accesses: issued, wavefronts_loaded: wavefronts, barriers, ..StepWork::default() }
            }
            // Copies before a pipelined loop cost nothing, because the loop's last iterations omit equally many copies.
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL | ttg::LOCAL_STORE
                if !since.is_pipelined && buffer_count(self.program.body, operation.operands[1]).is_some() =>
            {
                StepWork::default()
            }
            ttg::LOCAL_STORE => {
                let AccessCounts { issued, wavefronts, .. } = moved();
                let barriers = since.count_barriers_before(body, operation.operands[1], Direction::Store);
                StepWork { shared_accesses: issued, wavefronts_stored: wavefronts, barriers, ..StepWork::default() }
            }
            tt::LOAD if self.is_prefetched(op) => match since.is_pipelined {
                true => StepWork { asynchronous: true, ..self.op_costs(op, Direction::Load)? },
                false => StepWork::default(),
            },
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                let AccessCounts { issued, wavefronts, by_row } = moved();
                let filled = self.program.body.operand(op, "result").unwrap_or(operation.operands[1]);
                let barriers = since.count_barriers_before(body, filled, Direction::Store);
                let read = self.op_costs(op, Direction::Load)?;
                StepWork {
                    shared_accesses: issued,
                    wavefronts_stored: wavefronts,
                    barriers,
                    asynchronous: by_row,
                    ..read
                }
            }
            // A consumer warp signals that it has read a buffer.
            tw::MBARRIER_ARRIVE => StepWork { shared_accesses: 1, ..StepWork::default() },
            tw::BULK_TENSOR_LOAD if !since.is_pipelined => StepWork::default(),
            tw::BULK_TENSOR_LOAD => self.boxed(op),
            ttg::BARRIER => {
                since.pass_barrier();
                StepWork { barriers: 1, ..StepWork::default() }
            }
            ttg::CONVERT_LAYOUT => self.converted(op)?,
            tt::STORE | tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_STORE => self.op_costs(op, Direction::Store)?,
            _ => self.op_costs(op, Direction::Load)?,
        })
    }

    /// Returns the work of a bulk tensor copy: one warp issues it, and it writes shared memory in full wavefronts.
    fn boxed(&self, op: Op) -> StepWork {
        let ty = self.program.body.operand(op, "dst").map(|buffer| self.program.body.ty(buffer));
        let bytes = ty.map_or(0, |ty| {
            let elements: u64 = ty.shape().unwrap_or_default().iter().product();
            elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
        });
        let config = self.program.config;
        let rows = &config.context.target.shared.banks;
        let wavefront = rows.iter().map(BankRow::wavefront_bytes).max().unwrap_or(1).max(1);
        let issued = self.moved.get(&op).map_or(1, |moved| moved.issued);
        StepWork {
            global_bytes: bytes,
            global_accesses: issued.div_ceil(config.warps.into()),
            wavefronts_stored: bytes.div_ceil(wavefront).div_ceil(config.warps.into()),
            asynchronous: true,
            ..StepWork::default()
        }
    }

    /// Returns the work of an operation that accesses global memory, reduces or scans, or is elementwise, from its
    /// plan.
    fn op_costs(&self, op: Op, direction: Direction) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let first = operation.operands.iter().chain(&operation.results).find(|value| self.program.is_tensor(**value));
        let Some(&first) = first else { return Ok(StepWork::default()) };
        let kind = match operation.name() {
            tt::REDUCE | tt::SCAN => Kind::along_an_axis(self.program.body, op),
            tt::LOAD | tt::ATOMIC_LOAD | ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                Kind::of_access(self.program.body, self.program.axis_info, op, Direction::Load)
            }
            _ if direction == Direction::Store => {
                Kind::of_access(self.program.body, self.program.axis_info, op, direction)
            }
            _ if operation.definition.traits.elementwise
                && !is_memory_reference(self.program.body.ty(operation.results[0])) =>
            {
                Kind::elementwise(operation)
            }
            _ => return Ok(StepWork::default()),
        };
        let layout = self.program.layout(first)?;
        let op_costs = OpCosts::of(&kind, &layout, self.program.config)?;
        let moves = StepWork::of_counts(&op_costs.counts, 0, 0.0);
        let arithmetic = moves.arithmetic + op_costs.plain.ceil() as u64;
        let global_bytes = match &kind {
            Kind::Access(access) => {
                // Elements that several threads load are transferred to the block only once, so their sectors are
                // counted as those of a store by one thread.
                let named = &access.named;
                let target = self.program.config.context.target;
                let once = plan_global_access(&layout, &named.tensor, named.bits, Direction::Store, target)?;
                op_costs.bytes.min(once.transactions * u64::from(target.global.transaction_bytes))
            }
            _ => op_costs.bytes,
        };
        Ok(StepWork { global_accesses: op_costs.accesses, global_bytes, arithmetic, ..moves })
    }

    fn converted(&self, op: Op) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let [from, to] = [operation.operands[0], operation.results[0]].map(|value| self.program.body.ty(value));
        let layouts = [self.program.layouts.distributed(from)?, self.program.layouts.distributed(to)?];
        let plan = plan_conversion(&layouts[0], &layouts[1], moved_bits(from), self.program.config.context)?;
        Ok(StepWork::of_counts(&plan.stats.counts, 0, 0.0))
    }
}

/// Returns the work of a dot, from the cost of its plan. The plan has the cycles of all issues on all pipes; the model
/// takes the cycles of one issue of one warp.
pub(super) fn multiplied(cost: &MmaCost, config: &LaunchConfig<'_>) -> StepWork {
    let target = config.context.target;
    let pipes = target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
    let share = f64::from(pipes) / f64::from(config.warps) / cost.issues.max(1) as f64;
    let casts = cost.cast_cycles / target.costs.select.cycles.max(f64::MIN_POSITIVE) / f64::from(config.warps);
    StepWork {
        matrix_instructions: cost.issues,
        matrix_cycles: cost.issue_cycles * share,
        arithmetic: casts.ceil() as u64,
        ..StepWork::default()
    }
}

/// Whether values of a type are addresses or masks, whose computation folds into immediates.
fn is_memory_reference(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Pointer(_)) || matches!(ty.element(), TileType::Integer(1, _))
}

//! The work of one operation: accesses of shared memory, copies, barriers and dots.

use super::super::SynthesisError;
use super::super::accesses::AccessCounts;
use super::super::implied_barriers::BarrierState;
use super::super::model::StepWork;
use super::WorkCounter;
use crate::LaunchConfig;
use crate::dot_plan::is_smem_operand;
use crate::memory::element_bits_while_moved;
use tilewright_layout::Dim;
use tilewright_plan::mma::MmaCost;
use tilewright_plan::movement::CACHE_LINE_BYTES;
use tilewright_target::{BankTableEntry, Direction};
use tilewright_tile::op::name::{tt, ttg, tw};
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{MemDescType, Op, Value};

impl WorkCounter<'_, '_> {
    /// Returns the work of an operation, without that of its regions; `since` gets its accesses of shared memory.
    pub(super) fn work(&self, op: Op, since: &mut BarrierState) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        Ok(match operation.name() {
            tt::DOT | tt::DOT_SCALED => self.dot(op, since)?,
            ttg::LOCAL_LOAD => self.local_load(op, since),
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL | ttg::LOCAL_STORE if !since.is_pipelined && self.is_omitted_later(op) => {
                StepWork::default()
            }
            ttg::LOCAL_ALLOC if operation.operands.is_empty() => StepWork::default(),
            ttg::LOCAL_STORE | ttg::LOCAL_ALLOC => self.local_store(op, since),
            _ if self.prefetched.contains(op) => match since.is_pipelined {
                true => StepWork { asynchronous: true, ..self.op_costs(op, Direction::Load)? },
                false if self.prefetched.is_predicated(op) => StepWork::default(),
                false => self.op_costs(op, Direction::Load)?,
            },
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => self.async_copy(op, since)?,
            // A consumer warp signals that it has read a buffer.
            tw::MBARRIER_ARRIVE => StepWork { shared_accesses: 1, ..StepWork::default() },
            tw::BULK_TENSOR_LOAD if !since.is_pipelined => StepWork::default(),
            tw::BULK_TENSOR_LOAD => self.bulk_tensor_copy(op, "dst"),
            tw::BULK_TENSOR_STORE => self.bulk_tensor_store(op, since),
            ttg::ASYNC_WAIT => StepWork { barriers: since.count_barriers_after_wait(), ..StepWork::default() },
            ttg::BARRIER => {
                since.pass_barrier();
                StepWork { barriers: 1, ..StepWork::default() }
            }
            ttg::CONVERT_LAYOUT => self.converted(op)?,
            _ if operation.is_global_store() => self.op_costs(op, Direction::Store)?,
            _ => self.op_costs(op, Direction::Load)?,
        })
    }

    fn dot(&self, op: Op, since: &mut BarrierState) -> Result<StepWork, SynthesisError> {
        let body = self.program.body;
        let plan = self.program.plans.get(&op);
        let work = plan.map(|plan| multiplied(&plan.cost, self.program.config)).unwrap_or_default();
        let (shared_accesses, wavefronts_stored) = self.count_operand_stores(op)?;
        let is_in_shared = |value: &&Value| body.value_type(**value).as_memory().is_some_and(MemDescType::is_shared);
        let operands = body.op(op).operands.iter().filter(is_in_shared);
        let reads = operands.map(|value| since.count_barriers_before(body, *value, Direction::Load));
        let barriers = reads.sum::<u64>() + u64::from(shared_accesses > 0);
        Ok(StepWork { pending: self.is_in_flight(op), shared_accesses, wavefronts_stored, barriers, ..work })
    }

    fn local_load(&self, op: Op, since: &mut BarrierState) -> StepWork {
        let operation = self.program.body.op(op);
        let barriers = since.count_barriers_before(self.program.body, operation.operands[0], Direction::Load);
        let counts = self.access_counts(op, operation.results[0], operation.results[0]);
        StepWork { barriers, ..counts.work(Direction::Load) }
    }

    fn local_store(&self, op: Op, since: &mut BarrierState) -> StepWork {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        let counts = self.access_counts(op, operation.operands[0], operation.operands[0]);
        let filled = operation.operands.get(1).or(operation.results.first());
        let barriers = filled.map_or(0, |filled| since.count_barriers_before(body, *filled, Direction::Store));
        StepWork { barriers, ..counts.work(Direction::Store) }
    }

    fn async_copy(&self, op: Op, since: &mut BarrierState) -> Result<StepWork, SynthesisError> {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        let AccessCounts { issued, wavefronts, by_row, .. } =
            self.access_counts(op, operation.operands[0], operation.operands[1]);
        let filled = body.operand(op, "result").unwrap_or(operation.operands[1]);
        let barriers = since.count_barriers_before(body, filled, Direction::Store);
        let read = self.op_costs(op, Direction::Load)?;
        // Copies that are narrower than loads of the tile compute further addresses, in both memories.
        let arithmetic = read.arithmetic + 2 * issued.saturating_sub(read.global_accesses);
        let (shared_accesses, wavefronts_stored) = (issued, wavefronts);
        Ok(StepWork { shared_accesses, wavefronts_stored, barriers, arithmetic, asynchronous: by_row, ..read })
    }

    fn bulk_tensor_store(&self, op: Op, since: &mut BarrierState) -> StepWork {
        let body = self.program.body;
        let source = body.operand(op, "src");
        let barriers = source.map_or(0, |from| since.count_barriers_before(body, from, Direction::Load));
        let work = self.bulk_tensor_copy(op, "src");
        StepWork { wavefronts_loaded: work.wavefronts_stored, wavefronts_stored: 0, barriers, ..work }
    }

    /// Returns the work of a bulk tensor copy of the operand `memory`: one warp issues it, and it writes shared memory
    /// in full wavefronts.
    pub(super) fn bulk_tensor_copy(&self, op: Op, memory: &str) -> StepWork {
        let ty = self.program.body.operand(op, memory).map(|buffer| self.program.body.value_type(buffer));
        let bytes = ty.map_or(0, |ty| {
            let elements: u64 = ty.shape().unwrap_or_default().iter().product();
            elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
        });
        let config = self.program.config;
        let rows = &config.context.target.shared.banks;
        let wavefront = rows.iter().map(BankTableEntry::wavefront_bytes).max().unwrap_or(1).max(1);
        let issued = self.moved.get(&op).map_or(1, |moved| moved.issued);
        StepWork {
            global_bytes: bytes,
            global_lines: bytes.div_ceil(CACHE_LINE_BYTES),
            global_accesses: issued.div_ceil(config.warps.into()),
            wavefronts_stored: bytes.div_ceil(wavefront).div_ceil(config.warps.into()),
            asynchronous: true,
            ..StepWork::default()
        }
    }

    /// Returns the counts of an access of a tensor in shared memory with the register layout of `registers` and the
    /// element type of `elements`. Accesses through views count as if they were free of bank conflicts.
    fn access_counts(&self, op: Op, registers: Value, elements: Value) -> AccessCounts {
        if let Some(counts) = self.moved.get(&op) {
            return *counts;
        }
        let body = self.program.body;
        let is_smem_operand = body.op(op).attributes.get(OPERAND_STAYS_IN_SMEM).is_some();
        let Some(layout) = self.program.layout(registers).ok().filter(|_| !is_smem_operand) else {
            return AccessCounts::default();
        };
        let target = self.program.config.context.target;
        let wavefront = target.shared.banks.iter().map(BankTableEntry::wavefront_bytes).max().unwrap_or(1).max(1);
        let widest = target.shared.access_bits.iter().copied().max().unwrap_or(32).max(1);
        let bits =
            u64::from(element_bits_while_moved(body.value_type(elements).element())) << layout.in_bits(Dim::REGISTER);
        let lanes = u64::from(self.program.config.lanes);
        let wavefronts = (bits * lanes).div_ceil(8 * wavefront);
        AccessCounts { issued: bits.div_ceil(widest.into()), wavefronts, permutes: 0, by_row: true }
    }

    /// Returns the numbers of accesses and of wavefronts of a warp that store the operands of a dot which are in
    /// registers to the shared memory from which the MMA reads them. Operands of batches are not counted.
    fn count_operand_stores(&self, op: Op) -> Result<(u64, u64), SynthesisError> {
        let (body, context) = (self.program.body, self.program.config.context);
        let mut counts = (0, 0);
        let Some(plan) = self.program.plans.get(&op) else { return Ok(counts) };
        for (side, name) in ["a", "b"].into_iter().enumerate() {
            let in_registers = |value: &Value| self.program.is_tensor(*value) && !is_smem_operand(body, *value);
            let Some(value) = body.operand(op, name).filter(in_registers) else { continue };
            let layout = match plan.resident_operand_layout(side, context)? {
                Some(layout) => layout,
                None => self.program.layout(value)?,
            };
            if body.value_type(value).shape().is_some_and(|shape| shape.len() == 2)
                && let Some(store) = plan.plan_operand_store(side, &layout, context)?
            {
                let stored = &store.access.stats.counts;
                counts.0 += stored.shared_stores + stored.matrix_stores;
                counts.1 += stored.wavefronts_stored;
            }
        }
        Ok(counts)
    }
}

/// Returns the work of a dot, from the cost of its plan. The plan has the cycles of all issues on all pipes; the model
/// takes the cycles of one issue of one warp.
pub(in super::super) fn multiplied(cost: &MmaCost, config: &LaunchConfig<'_>) -> StepWork {
    let target = config.context.target;
    let pipes = target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
    let share = f64::from(pipes) / f64::from(config.warps) / cost.issues.max(1) as f64;
    let casts = cost.cast_cycles / target.costs.select.cycles.max(f64::MIN_POSITIVE) / f64::from(config.warps);
    StepWork {
        matrix_instructions: cost.issues,
        matrix_cycles: cost.issue_cycles * share,
        arithmetic: casts.ceil() as u64 + cost.scale_issues,
        ..StepWork::default()
    }
}

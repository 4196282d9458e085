//! Counts the work of a thread block of a solved program for the performance model, from the plans of data movement and
//! dots.
//!
//! A loop counts by its trip count if that is constant or follows from the launch, else by [`crate::LOOP_WEIGHT`].
//! Counted block barriers are the barriers of the program, and the barriers that lowering inserts between a write to a
//! tensor in shared memory and a later read (RAW), or between a read and the next write (WAR).
//!
//! - `loops`: the steps of a loop, its pipelining, and the exclusive sections of its warp groups (ping-pong).
//! - `partitions`: the steps and the registers of warp-specialized partitions.
//! - `operation`: the work of one operation.
//! - `op_costs`: the work that the costs of layout assignment give.

mod loops;
mod op_costs;
mod operation;
mod partitions;

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, tt, ttg};

use super::SynthesisError;
use super::accesses::AccessCounts;
use super::implied_barriers::BarrierState;
use super::loads_in_flight::LoadsInFlight;
use super::model::{ModelLaunch, ModelStep, StepWork};
use super::operand_work::OperandWork;
use super::predicted::{blocks, registers_per_lane};
use super::prefetched::{PrefetchedLoads, is_load};
use super::registers::{RegisterPressure, StepOperand, find_step_operands, live};
use super::solved::Solved;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op_attrs::{BEGINS_EXCLUSIVE, ENDS_EXCLUSIVE};
use tilewright_tile::{Op, Region, Value};

pub(super) use operation::multiplied;

const GROUPS: &str = ttg::WARP_SPECIALIZE;

/// Counts the work of a solved program, from the counts of its shared-memory accesses.
pub(super) struct WorkCounter<'s, 'm> {
    program: Solved<'s, 'm>,
    /// The counts of each shared-memory access, by the operation that makes it.
    moved: &'s HashMap<Op, AccessCounts>,
    pressure: RegisterPressure,
    /// The tensors of dots' operands whose K steps code generators load as late as possible.
    step_operands: HashMap<Value, StepOperand>,
    prefetched: PrefetchedLoads,
    /// The axis information of a launch whose arguments are known; `None` if only the program is known.
    launch_info: Option<&'s AxisInfoMap>,
}

impl<'s, 'm> WorkCounter<'s, 'm> {
    /// Creates the counter of a program; the fields are those of the same names.
    pub(super) fn new(
        program: Solved<'s, 'm>,
        moved: &'s HashMap<Op, AccessCounts>,
        launch_info: Option<&'s AxisInfoMap>,
    ) -> Result<Self, SynthesisError> {
        let pressure = live(program.body, program.axis_info, program.layouts, program.plans)?;
        let step_operands = find_step_operands(program.body, program.plans);
        let prefetched = PrefetchedLoads::of(program.body);
        Ok(Self { program, moved, pressure, step_operands, prefetched, launch_info })
    }

    /// Returns the launch of the program's blocks; each block takes `shared_bytes` bytes of shared memory. `launched`
    /// is the number of blocks, `None` for an assumed one.
    pub(super) fn blocks(&self, shared_bytes: u64, launched: Option<u64>) -> Result<ModelLaunch, SynthesisError> {
        let steps = self.region(self.program.body.root(), &mut BarrierState::new(self.program.body))?;
        let (registers, producers) = (self.registers_per_lane(), self.other_warps());
        Ok(ModelLaunch { registers, shared_bytes, producers, ..blocks(self.program.config, launched, steps) })
    }

    /// Returns the steps of a region. `since` has the accesses of shared memory since the last block barrier.
    fn region(&self, region: Region, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let (mut steps, mut waiting) = (Vec::new(), WaitingWork::default());
        for block in self.program.body.blocks(region) {
            for &op in self.program.body.ops(*block) {
                waiting.loads.wait_before(self.program.body.op(op));
                let spilled_registers = self.count_spilled(op);
                let name = self.program.body.op(op).name();
                if spilled_registers > 0 && matches!(name, scf::FOR | GROUPS) {
                    steps.push(ModelStep::Work(StepWork { spilled_registers, ..StepWork::default() }));
                }
                match name {
                    scf::FOR => steps.push(self.for_loop(op, since)?),
                    GROUPS => steps.extend(self.groups(op, since)?),
                    _ => self.statement(op, spilled_registers, (since, &mut waiting), &mut steps)?,
                }
            }
        }
        Ok(steps)
    }

    /// Appends the steps of an operation that is no loop and has no partitions of warps, and of its regions.
    fn statement(
        &self,
        op: Op,
        spilled_registers: u64,
        (since, waiting): (&mut BarrierState, &mut WaitingWork),
        steps: &mut Vec<ModelStep>,
    ) -> Result<(), SynthesisError> {
        let operation = self.program.body.op(op);
        let exclusive_entries = u64::from(operation.attributes.get(BEGINS_EXCLUSIVE).is_some());
        since.is_exclusive |= exclusive_entries > 0;
        let is_exclusive = since.is_exclusive;
        let work = self.work(op, since)?;
        let work = match work == StepWork::default() && exclusive_entries + spilled_registers == 0 {
            true => work,
            false => StepWork { spilled_registers, is_exclusive, exclusive_entries, ..work },
        };
        since.is_exclusive &= operation.attributes.get(ENDS_EXCLUSIVE).is_none();
        if is_load(operation) && !work.asynchronous {
            waiting.loads.issue(operation, work, steps);
        } else if let Some(operand) = operation.results.first().and_then(|of| self.step_operands.get(of)) {
            steps.extend(waiting.operands.add(operand, work));
        } else if let Some(step) = waiting.operands.with_dot(op, work) {
            steps.push(step);
        } else if work != StepWork::default() {
            steps.push(ModelStep::Work(work));
        }
        if !matches!(operation.name(), tt::REDUCE | tt::SCAN) {
            for &inner in &operation.regions {
                steps.extend(self.region(inner, since)?);
            }
        }
        Ok(())
    }

    /// Returns the number of registers that are spilled at an operation: at the one of the highest register pressure.
    fn count_spilled(&self, op: Op) -> u64 {
        match self.pressure.at == Some(op) {
            true => self.pressure.spilled(match self.partition_registers() {
                Some([own, _]) => own,
                None => registers_per_lane(self.program.config, self.other_warps()),
            }),
            false => 0,
        }
    }
}

/// The work of a region that waits for a later operation: loads in flight, and operands that dots load step by step.
#[derive(Default)]
struct WaitingWork {
    loads: LoadsInFlight,
    operands: OperandWork,
}

//! Loads of global memory that a warp has issued and whose results it has not used.

use super::model::{ModelStep, StepWork};
use tilewright_tile::op::name::ttg;
use tilewright_tile::{Operation, Value};

/// Loads that are issued and not used yet. A warp waits for a load at the first use of its result, so these loads have
/// one latency together.
#[derive(Default)]
pub(super) struct LoadsInFlight {
    /// Position of the step that has the work of all these loads.
    step: Option<usize>,
    results: Vec<Value>,
}

impl LoadsInFlight {
    /// Waits for the loads if an operation uses them, or executes operations that may.
    pub(super) fn wait_before(&mut self, operation: &Operation) {
        let is_used = operation.operands.iter().any(|value| self.results.contains(value));
        if is_used || !operation.regions.is_empty() || operation.name() == ttg::BARRIER {
            *self = Self::default();
        }
    }

    /// Adds a load to those in flight, and its work to their step.
    pub(super) fn issue(&mut self, load: &Operation, work: StepWork, steps: &mut Vec<ModelStep>) {
        self.results.extend(load.results.iter().copied());
        match self.step.and_then(|step| steps.get_mut(step)) {
            Some(ModelStep::Work(loads)) => {
                loads.global_bytes += work.global_bytes;
                loads.global_lines += work.global_lines;
                loads.global_accesses += work.global_accesses;
                loads.address_cycles += work.address_cycles;
                loads.arithmetic += work.arithmetic;
                loads.spilled_registers += work.spilled_registers;
            }
            _ => {
                self.step = Some(steps.len());
                steps.push(ModelStep::Work(work));
            }
        }
    }
}

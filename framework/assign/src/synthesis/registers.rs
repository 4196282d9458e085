//! Register pressure: the max registers of a lane that are live at once in a solved program.

use std::collections::{HashMap, HashSet};

use super::SynthesisError;
use super::solved::is_free;
use crate::dot_plan::is_smem_operand;
use crate::layouts::LayoutCache;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap, IndexBitPosition};
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::{FunctionBody, Op, Region, TileType, Value, ValueOrigin};

/// Number of K steps of a dot whose operand elements a lane holds at once if it has no registers for more, and loads
/// them from shared memory for this dot alone: the step that is multiplied, and the next one. Code generators then load
/// the others later.
const K_STEPS: u64 = 2;

/// Least number of bytes of K in such a step: loads of matrices and of wide vectors have several short steps of an
/// instruction. (`ptxas` takes no fewer registers for steps of 16 bytes.)
const MIN_STEP_BYTES: u64 = 32;

/// Assumed number of 32-bit registers of a lane for addresses, counters and other values that are no tensors.
pub(crate) const BESIDE: u64 = 24;

/// The register pressure of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterPressure {
    /// Number of 32-bit registers of a lane that tensors take at once, at most. Operands that are loaded from shared
    /// memory for one dot are loaded as late as possible, [`K_STEPS`] steps at once.
    tensors: u64,
    /// The operation at which tensors take this number of registers; `None` at the begin of the program.
    pub at: Option<Op>,
}

impl RegisterPressure {
    /// Returns the number of 32-bit registers that a lane needs: for tensors, plus an assumed number for other values.
    pub(crate) fn registers(self) -> u64 {
        BESIDE + self.tensors
    }

    /// Returns the number of registers that a lane spills if it has `available`. Addresses and counters are computed
    /// again before tensors are spilled.
    pub(super) fn spilled(self, available: u64) -> u64 {
        self.tensors.saturating_sub(available)
    }
}

/// Returns the register pressure; `plans` has the plans of dots. Rematerializable tensors do not count.
/// Elements of a lane that differ by known numbers count as one element, since the others are that element plus
/// constants. A broadcast repeats the registers of its operand.
pub(crate) fn live(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    layouts: &LayoutCache<'_>,
    plans: &HashMap<Op, MmaPlan>,
) -> Result<RegisterPressure, SynthesisError> {
    let mut spans = Spans { body, ops: Vec::new(), of: HashMap::new() };
    spans.region(body.root(), &mut Vec::new());
    let operands = find_step_operands(body, plans);
    let mut changes = Vec::new();
    for (&value, &[begin, end]) in &spans.of {
        let ty = body.value_type(value);
        if is_free(body, value) || is_smem_operand(body, value) || viewed(body, value).is_some() {
            continue;
        }
        let layout = layouts.resolve_distributed(ty)?;
        let known = axis_info.get(value).map_or(0, |info| count_known_steps(&layout, info));
        let (steps, bits) = operands.get(&value).map_or((0, 0), |operand| (operand.steps, operand.bits));
        let bits = ty.element_bits().unwrap_or(32).max(bits);
        let bits_per_lane = i64::from(bits) << (layout.in_bits(Dim::REGISTER) - known);
        let registers = (bits_per_lane / (steps / K_STEPS).max(1) as i64 + 31) / 32;
        // The result may take the registers of an operand at its last use.
        changes.extend([(begin, registers), (end.max(begin + 1), -registers)]);
    }
    let (tensors, position) = find_peak(changes);
    let at = position.checked_sub(1).and_then(|index| spans.ops.get(index).copied());
    Ok(RegisterPressure { tensors, at })
}

/// Returns the highest sum of changes up to a position, and the position.
fn find_peak(mut changes: Vec<(usize, i64)>) -> (u64, usize) {
    changes.sort_unstable();
    let (mut alive, mut most, mut position) = (0, 0, 0);
    for (at, change) in changes {
        alive += change;
        if alive > most {
            (most, position) = (alive, at);
        }
    }
    (u64::try_from(most).unwrap_or(0), position)
}

/// A tensor that a block loads from shared memory for one dot.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOperand {
    /// The dot.
    pub dot: Op,
    /// Number of K steps of the dot.
    pub steps: u64,
    /// Number of bits of an element in the dot's instruction; zero for a tensor from which elementwise operations
    /// compute the operand.
    bits: u32,
}

/// Finds operands of dots, and tensors from which elementwise operations compute such operands, that a block loads from
/// shared memory and uses once.
pub(super) fn find_step_operands(body: &FunctionBody, plans: &HashMap<Op, MmaPlan>) -> HashMap<Value, StepOperand> {
    let all = body.walk_region(body.root());
    let mut uses: HashMap<Value, u32> = HashMap::new();
    all.iter().flat_map(|op| &body.op(*op).operands).for_each(|value| *uses.entry(*value).or_default() += 1);
    let regions = all.iter().flat_map(|op| &body.op(*op).regions).copied().chain([body.root()]);
    let mut found: HashMap<Value, StepOperand> = HashMap::new();
    for block in regions.flat_map(|region| body.blocks(region)) {
        let mut loaded = HashSet::new();
        for operation in body.ops(*block).iter().map(|op| body.op(*op)) {
            let is_elementwise = operation.definition.traits.elementwise;
            if operation.name() == ttg::LOCAL_LOAD
                || is_elementwise && operation.operands.iter().any(|value| loaded.contains(value))
            {
                loaded.extend(operation.results.iter().copied().filter(|value| uses.get(value) == Some(&1)));
            }
        }
        for &op in body.ops(*block).iter().rev() {
            let operation = body.op(op);
            let record = |value: &Value, operand: StepOperand, found: &mut HashMap<_, _>| {
                _ = loaded.contains(value).then(|| found.insert(*value, operand));
            };
            if let Some(plan) = plans.get(&op) {
                for (side, value) in operation.operands[..2].iter().enumerate() {
                    let bits = plan.instruction_element_bits(side);
                    let bytes = plan.problem.shape[2] * u64::from(bits) / 8;
                    let steps = plan.k_steps().min(bytes / MIN_STEP_BYTES);
                    record(value, StepOperand { dot: op, steps, bits }, &mut found);
                }
            } else if let Some(&computed) = operation.results.first().and_then(|result| found.get(result)) {
                operation
                    .operands
                    .iter()
                    .for_each(|value| record(value, StepOperand { bits: 0, ..computed }, &mut found));
            }
        }
    }
    found
}

/// Returns the number of bits of a register's index that change the value by a known number.
fn count_known_steps(layout: &LinearLayout, info: &AxisInfo) -> u32 {
    let is_known = |basis: &Vec<u64>| {
        basis.iter().enumerate().all(|(axis, &coordinate)| {
            let bits = (0..u64::BITS).filter(|bit| coordinate >> bit & 1 == 1);
            bits.into_iter().all(|bit| info.bit_step(IndexBitPosition { axis, bit }).is_some())
        })
    };
    layout.bases_of(Dim::REGISTER).iter().filter(|basis| is_known(basis)).count() as u32
}

/// Returns the tensor whose elements a value repeats, so that both are in the same registers; `None` for other values.
fn viewed(body: &FunctionBody, value: Value) -> Option<Value> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    let operation = body.op(op);
    let source = *operation.operands.first()?;
    let is_view = matches!(operation.name(), tt::BROADCAST | tt::EXPAND_DIMS);
    (is_view && body.value_type(source).as_tensor().is_some()).then_some(source)
}

/// The live ranges of tensors. A position is the number of operations up to it, in program order.
struct Spans<'b> {
    body: &'b FunctionBody,
    ops: Vec<Op>,
    of: HashMap<Value, [usize; 2]>,
}

impl Spans<'_> {
    /// Finds the live ranges in a region. `open` has, for each region around the current position, its first position,
    /// and the values that it uses but does not define.
    fn region(&mut self, region: Region, open: &mut Vec<(usize, Vec<Value>)>) {
        open.push((self.ops.len(), Vec::new()));
        let arguments = self.body.blocks(region).iter().flat_map(|block| self.body.arguments(*block));
        arguments.for_each(|value| self.record_definition(*value));
        for block in self.body.blocks(region) {
            for &op in self.body.ops(*block) {
                self.ops.push(op);
                let operation = self.body.op(op);
                operation.operands.iter().for_each(|value| self.used(*value, open));
                // Regions that combine two elements have no tensors, and the model counts none of their operations.
                if !matches!(operation.name(), tt::REDUCE | tt::SCAN) {
                    operation.regions.iter().for_each(|region| self.region(*region, open));
                }
                operation.results.iter().for_each(|value| self.record_definition(*value));
            }
        }
        // Values defined outside a loop are live during all iterations.
        let found = open.pop().map(|(_, found)| found).unwrap_or_default();
        found.iter().for_each(|value| self.used(*value, open));
    }

    fn record_definition(&mut self, value: Value) {
        if matches!(self.body.value_type(value), TileType::Tensor(_)) {
            self.of.insert(value, [self.ops.len(); 2]);
        }
    }

    fn used(&mut self, value: Value, open: &mut [(usize, Vec<Value>)]) {
        if let Some(source) = viewed(self.body, value) {
            self.used(source, open);
        }
        let Some(span) = self.of.get_mut(&value) else { return };
        span[1] = self.ops.len();
        let begin = span[0];
        if let Some((first, found)) = open.last_mut()
            && begin < *first
        {
            found.push(value);
        }
    }
}

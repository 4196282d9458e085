//! Register pressure: the max registers of a lane that are live at once in a solved program.

use std::collections::HashMap;

use super::SynthesisError;
use super::solved::is_free;
use crate::dot_plan::is_smem_operand;
use crate::layouts::LayoutCache;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap, IndexBitPosition};
use tilewright_tile::op::name::tt;
use tilewright_tile::{Body, Op, Region, TileType, Value, ValueOrigin};

/// Assumed number of 32-bit registers of a lane for addresses, counters and other values that are no tensors.
pub(crate) const BESIDE: u64 = 24;

/// The register pressure of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterPressure {
    /// Number of 32-bit registers of a lane that tensors take at once, at most.
    tensors: u64,
    /// The operation at which tensors take this number; `None` at the begin of the program.
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

/// Returns the register pressure. Rematerializable tensors do not count. Elements of a lane that differ by known
/// numbers count as one element, since the others are that element plus constants. A broadcast repeats the registers of
/// its operand.
pub(crate) fn live(
    body: &Body,
    axis_info: &AxisInfoMap,
    layouts: &LayoutCache<'_>,
) -> Result<RegisterPressure, SynthesisError> {
    let mut spans = Spans { body, ops: Vec::new(), of: HashMap::new() };
    spans.region(body.root(), &mut Vec::new());
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (&value, &[begin, end]) in &spans.of {
        let ty = body.value_type(value);
        if is_free(body, value) || is_smem_operand(body, value) || viewed(body, value).is_some() {
            continue;
        }
        let bits = ty.element_bits().unwrap_or(32);
        let layout = layouts.resolve_distributed(ty)?;
        let known = axis_info.get(value).map_or(0, |info| count_known_steps(&layout, info));
        let bits_per_lane = i64::from(bits) << (layout.in_bits(Dim::REGISTER) - known);
        let registers = (bits_per_lane + 31) / 32;
        // The result may take the registers of an operand at its last use.
        changes.extend([(begin, registers), (end.max(begin + 1), -registers)]);
    }
    changes.sort_unstable();
    let (mut alive, mut most, mut position) = (0, 0, 0);
    for (at, change) in changes {
        alive += change;
        if alive > most {
            (most, position) = (alive, at);
        }
    }
    let at = position.checked_sub(1).and_then(|index| spans.ops.get(index).copied());
    Ok(RegisterPressure { tensors: u64::try_from(most).unwrap_or(0), at })
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
fn viewed(body: &Body, value: Value) -> Option<Value> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    let operation = body.op(op);
    let source = *operation.operands.first()?;
    let is_view = matches!(operation.name(), tt::BROADCAST | tt::EXPAND_DIMS);
    (is_view && body.value_type(source).as_tensor().is_some()).then_some(source)
}

/// The live ranges of tensors. A position is the number of operations up to it, in program order.
struct Spans<'b> {
    body: &'b Body,
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
                operation.regions.iter().for_each(|region| self.region(*region, open));
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

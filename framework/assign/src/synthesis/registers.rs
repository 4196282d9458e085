//! Register pressure: the max registers of a lane that are live at once in a solved program.

use std::collections::HashMap;

use super::SynthesisError;
use super::solved::is_free;
use crate::layouts::LayoutCache;
use tilewright_layout::Dim;
use tilewright_tile::op_attrs::SMEM_OPERAND;
use tilewright_tile::{Body, Region, TileType, Value, ValueOrigin};

/// Assumed number of 32-bit registers of a lane for addresses, counters and other values that are no tensors.
const BESIDE: u64 = 24;

/// Returns the number of 32-bit registers that a lane needs: the max number that tensors take at once, plus an assumed
/// number for other values. Rematerializable tensors do not count.
pub(crate) fn live(body: &Body, layouts: &LayoutCache<'_>) -> Result<u64, SynthesisError> {
    let mut spans = Spans { body, at: 0, of: HashMap::new() };
    spans.region(body.root(), &mut Vec::new());
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (value, [begin, end]) in spans.of {
        let ty = body.ty(value);
        if is_free(body, value) || is_smem_operand(body, value) {
            continue;
        }
        let bits = ty.element_bits().unwrap_or(32);
        let bits_per_lane = i64::from(bits) << layouts.distributed(ty)?.in_bits(Dim::REGISTER);
        let registers = (bits_per_lane + 31) / 32;
        // The result may take the registers of an operand at its last use.
        changes.extend([(begin, registers), (end.max(begin + 1), -registers)]);
    }
    changes.sort_unstable();
    let mut most = 0;
    changes.iter().fold(0, |alive, (_, change)| {
        most = most.max(alive + change);
        alive + change
    });
    Ok(BESIDE + u64::try_from(most).unwrap_or(0))
}

/// Whether a value is an operand that the MMA reads from shared memory, so that it takes no registers.
fn is_smem_operand(body: &Body, value: Value) -> bool {
    matches!(body.origin(value), ValueOrigin::Result(op, _) if body.op(op).attributes.get(SMEM_OPERAND).is_some())
}

/// The live ranges of tensors; positions are numbered in program order.
struct Spans<'b> {
    body: &'b Body,
    at: usize,
    of: HashMap<Value, [usize; 2]>,
}

impl Spans<'_> {
    /// Finds the live ranges in a region. `open` has, for each region around the current position, its first position,
    /// and the values that it uses but does not define.
    fn region(&mut self, region: Region, open: &mut Vec<(usize, Vec<Value>)>) {
        open.push((self.at, Vec::new()));
        let arguments = self.body.blocks(region).iter().flat_map(|block| self.body.arguments(*block));
        arguments.for_each(|value| self.record_definition(*value));
        for block in self.body.blocks(region) {
            for &op in self.body.ops(*block) {
                self.at += 1;
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
        if matches!(self.body.ty(value), TileType::Tensor(_)) {
            self.of.insert(value, [self.at, self.at]);
        }
    }

    fn used(&mut self, value: Value, open: &mut [(usize, Vec<Value>)]) {
        let Some(span) = self.of.get_mut(&value) else { return };
        span[1] = self.at;
        let begin = span[0];
        if let Some((first, found)) = open.last_mut()
            && begin < *first
        {
            found.push(value);
        }
    }
}

//! Registers that a lane needs for the tensors of a solved program: the most that are alive at a place.

use std::collections::HashMap;

use super::SynthesisError;
use super::solved::is_free;
use crate::layouts::LayoutCache;
use tilewright_layout::Dim;
use tilewright_tile::marks::IN_PLACE;
use tilewright_tile::{Body, Region, TileType, Value, ValueOrigin};

/// 32-bit registers of a lane for addresses, counters, and what else no tensor says.
const BESIDE: u64 = 24;

/// 32-bit registers of a lane. Tensors that follow from ranges and constants alone are not kept.
pub(crate) fn live(body: &Body, layouts: &LayoutCache<'_>) -> Result<u64, SynthesisError> {
    let mut spans = Spans { body, at: 0, of: HashMap::new() };
    spans.region(body.root(), &mut Vec::new());
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (value, [begin, end]) in spans.of {
        let ty = body.ty(value);
        if is_free(body, value) || is_in_place(body, value) {
            continue;
        }
        let bits = ty.element_bits().unwrap_or(32);
        let held = i64::from(bits) << layouts.distributed(ty)?.in_bits(Dim::REGISTER);
        let registers = (held + 31) / 32;
        // What an operation takes for the last time makes room for what it gives.
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

/// Whether a value is a factor that the unit reads from shared memory.
fn is_in_place(body: &Body, value: Value) -> bool {
    matches!(body.origin(value), ValueOrigin::Result(op, _) if body.op(op).attributes.get(IN_PLACE).is_some())
}

/// From where to where tensors are alive, places being numbered in the order of the text.
struct Spans<'b> {
    body: &'b Body,
    at: usize,
    of: HashMap<Value, [usize; 2]>,
}

impl Spans<'_> {
    /// `open` has, for each region around, the place at which it begins and what is used in it that was made before.
    fn region(&mut self, region: Region, open: &mut Vec<(usize, Vec<Value>)>) {
        open.push((self.at, Vec::new()));
        let arguments = self.body.blocks(region).iter().flat_map(|block| self.body.arguments(*block));
        arguments.for_each(|value| self.made(*value));
        for block in self.body.blocks(region) {
            for &op in self.body.ops(*block) {
                self.at += 1;
                let operation = self.body.op(op);
                operation.operands.iter().for_each(|value| self.used(*value, open));
                operation.regions.iter().for_each(|region| self.region(*region, open));
                operation.results.iter().for_each(|value| self.made(*value));
            }
        }
        // What a loop finds is alive for all of its turns.
        let found = open.pop().map(|(_, found)| found).unwrap_or_default();
        found.iter().for_each(|value| self.used(*value, open));
    }

    fn made(&mut self, value: Value) {
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

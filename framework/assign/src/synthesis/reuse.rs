//! Reuse of global memory between the blocks of a launch whose grid is unknown: which of the program ids an access
//! depends on.
//!
//! The blocks of a matrix multiplication that compute one row of tiles load the same tiles of A, since the address of A
//! depends on the row alone. The last-level cache serves all but the first of these loads.

use std::collections::{BTreeSet, HashMap};

use super::iteration_count::execution_count;
use super::model::ModelLaunch;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::name::{arith, scf, tt, tw};
use tilewright_tile::{Block, FunctionBody, Op, TileType, Value, ValueOrigin};

/// An access of global memory of an explicit-memory program.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GlobalAccess {
    /// Bytes that a block accesses.
    bytes: f64,
    /// Number of indices of the block on which the accessed address depends.
    indices: usize,
}

/// The accesses of global memory of a program, with the indices of the block that their addresses depend on. An index
/// of a block is a program id, or its quotient or remainder by a divisor.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reuse {
    accesses: Vec<GlobalAccess>,
    /// Number of indices of a block on which some access depends.
    indices: usize,
}

impl Reuse {
    /// Finds the accesses of a program and their dependences.
    pub(super) fn of(body: &FunctionBody, axis_info: &AxisInfoMap) -> Self {
        let slices = Slices::of(body);
        let (mut all, mut found) = (BTreeSet::new(), Vec::new());
        for op in body.walk_region(body.root()) {
            let (name, operation) = (body.op(op).name(), body.op(op));
            let views = operation.operands.iter().filter(|value| matches!(body.value_type(**value), TileType::View(_)));
            let addresses: Vec<Value> = match name {
                tw::COPY => views.copied().collect(),
                tt::LOAD | tt::STORE => body.operand(op, "ptr").into_iter().collect(),
                _ => Vec::new(),
            };
            let Some(first) = addresses.first() else { continue };
            let indices = slices.block_indices(&addresses);
            let ty = body.value_type(*first);
            let elements: u64 = ty.shape().unwrap_or_default().iter().product();
            let bits = u64::from(ty.element_bits().unwrap_or(8)).max(1);
            let bytes = (elements * bits) as f64 / 8.0 * execution_count(body, axis_info, op) as f64;
            found.push((bytes, indices.len()));
            all.extend(indices);
        }
        let accesses = found.into_iter().map(|(bytes, indices)| GlobalAccess { bytes, indices }).collect();
        Self { accesses, indices: all.len() }
    }

    /// Returns the number of distinct bytes that the launch of `block` accesses. A grid of B blocks is assumed to have
    /// as many blocks along each of n indices: an access that depends on m of them has B^(m/n) different addresses.
    pub(super) fn distinct_bytes(&self, block: &ModelLaunch) -> Option<u64> {
        let blocks = block.blocks.max(1) as f64;
        let share = |access: &GlobalAccess| match self.indices {
            0 => 1.0,
            all => blocks.powf((access.indices as f64 - all as f64) / all as f64),
        };
        let all: f64 = self.accesses.iter().map(|access| access.bytes).sum();
        let distinct: f64 = self.accesses.iter().map(|access| access.bytes * share(access)).sum();
        // The plans count whole sectors, which the types do not show.
        (all > 0.0).then(|| (block.global_bytes() * blocks * distinct / all).ceil() as u64)
    }
}

/// Backward slices of the values of a body.
struct Slices<'b> {
    body: &'b FunctionBody,
    /// The operation whose region has each block, and the last operation of the block.
    owners: HashMap<Block, (Op, Option<Op>)>,
}

impl<'b> Slices<'b> {
    fn of(body: &'b FunctionBody) -> Self {
        let regions =
            body.walk_region(body.root()).into_iter().flat_map(|op| body.op(op).regions.iter().map(move |r| (op, *r)));
        let blocks = regions.flat_map(|(op, region)| body.blocks(region).iter().map(move |block| (op, *block)));
        let owners = blocks.map(|(op, block)| (block, (op, body.ops(block).last().copied()))).collect();
        Self { body, owners }
    }

    /// Returns the indices of the block on which these values depend.
    fn block_indices(&self, values: &[Value]) -> BTreeSet<Op> {
        let (mut open, mut seen, mut found) = (values.to_vec(), BTreeSet::new(), BTreeSet::new());
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.body.value_origin(value) {
                ValueOrigin::Argument(block, index) => open.extend(self.sources(block, index as usize)),
                ValueOrigin::Result(op, _) => match self.as_block_index(op) {
                    Some(index) => _ = found.insert(index),
                    None => open.extend(&self.body.op(op).operands),
                },
            }
        }
        found
    }

    /// Returns the operation that stands for the index of the block that `op` computes: a program id, or a quotient or
    /// remainder of one. `None` if it computes no index. Quotients and remainders of one program id are
    /// different indices; two operations that compute the same one count once.
    fn as_block_index(&self, op: Op) -> Option<Op> {
        let operation = self.body.op(op);
        let first = |names: &[&str]| {
            let same = |other: &Op| {
                let other = self.body.op(*other);
                other.name() == operation.name()
                    && other.operands == operation.operands
                    && other.attributes == operation.attributes
            };
            names
                .contains(&operation.name())
                .then(|| self.body.walk_region(self.body.root()).into_iter().find(same).unwrap_or(op))
        };
        if let Some(id) = first(&[tt::GET_PROGRAM_ID]) {
            return Some(id);
        }
        let division = first(&[arith::DIVSI, arith::DIVUI, arith::REMSI, arith::REMUI])?;
        let ValueOrigin::Result(dividend, _) = self.body.value_origin(*operation.operands.first()?) else {
            return None;
        };
        let is_id = self.body.op(dividend).name() == tt::GET_PROGRAM_ID;
        is_id.then_some(division)
    }

    /// Returns the values that an argument of a block takes: its initial and its yielded value in the body of a loop;
    /// in any other block, all operands of the operation whose region contains the block.
    fn sources(&self, block: Block, index: usize) -> Vec<Value> {
        let Some((op, last)) = self.owners.get(&block) else { return Vec::new() };
        let operands = &self.body.op(*op).operands;
        if self.body.op(*op).name() != scf::FOR {
            return operands.to_vec();
        }
        let Some(carried) = index.checked_sub(1) else { return operands.iter().take(3).copied().collect() };
        let yielded = last.and_then(|last| self.body.op(last).operands.get(carried).copied());
        operands.get(3 + carried).copied().into_iter().chain(yielded).collect()
    }
}

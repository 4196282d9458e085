//! Pending copies as bulk tensor copies: the program issues the copies, orders its buffers, and waits for groups of
//! copies.
//!
//! The pending copies are divided into *batches* of equally many copies, such that each wait is for whole batches. A
//! batch completes on one mbarrier of a ring. The number of batches that the program has waited for selects the
//! mbarrier and its phase; loops carry it. A block barrier follows each wait, so that all threads have waited for a
//! batch before its mbarrier is used again.

use std::collections::{HashMap, HashSet};

use super::expander::Expander;
use super::parts::full_tensor;
use crate::op::name::{arith, scf, ttg, tw};
use crate::op_attrs::IS_PENDING;
use crate::transform::pipeliner::{Bounds, Mbarriers};
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Attribute, Block, Function, FunctionBody, Op, TileType, Value, ValueUses};

/// The pending copies to shared memory of a function whose order relative to its waits is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingCopies {
    /// The copies, in the order of the program.
    pub copies: Vec<Op>,
    /// Number of mbarriers of the ring: a power of two.
    ring: u32,
    /// Bytes of a batch.
    bytes: u64,
    /// The first copy of each batch, with the number of batches in flight before it.
    starts: HashMap<Op, u32>,
    /// The waits, each with the number of batches that it waits for.
    waits: HashMap<Op, u32>,
    /// The loops with pending copies or waits.
    loops: HashSet<Op>,
    /// The operations of the function's entry block with pending copies or waits.
    outermost: Vec<Op>,
    /// Number of batches that the program does not wait for.
    rest: u32,
}

/// Whether an operation is a pending copy from global to shared memory.
#[must_use]
pub fn is_pending_copy(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    let from_global = || matches!(body.value_type(operation.operands[0]), TileType::View(_));
    let to_shared = |to: Value| matches!(body.value_type(to), TileType::Memory(_));
    operation.name() == tw::COPY
        && operation.attributes.get(IS_PENDING).is_some()
        && from_global()
        && body.operand(op, "dst").is_some_and(to_shared)
}

/// Finds the batches of a function's pending copies; no copies if there are none.
///
/// # Errors
/// The reason why the number of copies in flight is not known everywhere, or why batches differ in their bytes.
pub fn find_pending_copies(function: &Function) -> Result<PendingCopies, String> {
    let Some(body) = &function.body else { return Ok(PendingCopies::default()) };
    let copies: Vec<Op> = body.walk_region(body.root()).into_iter().filter(|op| is_pending_copy(body, *op)).collect();
    let found = PendingCopies::default();
    let mut search = BatchSearch { body, size: 1, position: 0, flying: 0, bytes: Vec::new(), found };
    if copies.is_empty() {
        return Ok(search.found);
    }
    if let Some(&block) = body.blocks(body.root()).first() {
        search.size = search.batch_size(block).max(1);
        search.block(block)?;
        let concerned = body.ops(block).iter().copied().filter(|op| search.concerns(*op));
        search.found.outermost = concerned.collect();
    }
    let filled: HashSet<Value> = copies.iter().filter_map(|copy| filled_tensor(body, *copy)).collect();
    let is_other = |op: &Op| body.op(*op).name() == tw::COPY && !copies.contains(op);
    let mut others = body.walk_region(body.root()).into_iter().filter(is_other);
    if others.any(|copy| filled_tensor(body, copy).is_some_and(|tensor| filled.contains(&tensor))) {
        return Err("a tensor is filled by pending copies and by others".to_owned());
    }
    let BatchSearch { flying, bytes, mut found, .. } = search;
    found.bytes = bytes.iter().copied().max().unwrap_or(0);
    if bytes.iter().any(|bytes| *bytes != found.bytes) {
        return Err("batches of copies that complete together transfer different numbers of bytes".to_owned());
    }
    found.rest = flying;
    found.ring = found.ring.max(1).next_power_of_two();
    Ok(PendingCopies { copies, ..found })
}

/// The tensor in shared memory that a copy fills, or fills a part of.
fn filled_tensor(body: &FunctionBody, copy: Op) -> Option<Value> {
    let to = body.operand(copy, "dst").filter(|to| matches!(body.value_type(*to), TileType::Memory(_)))?;
    Some(full_tensor(body, to))
}

/// The search for batches in the order of the program.
struct BatchSearch<'b> {
    body: &'b FunctionBody,
    /// Number of copies of a batch.
    size: u64,
    /// Number of copies of the last batch so far, modulo the size of a batch.
    position: u64,
    /// Number of batches in flight.
    flying: u32,
    /// The bytes of each batch.
    bytes: Vec<u64>,
    found: PendingCopies,
}

impl BatchSearch<'_> {
    /// Whether an operation is, or contains, a pending copy or a wait for copies.
    fn concerns(&self, op: Op) -> bool {
        let is_one = |op: &Op| is_pending_copy(self.body, *op) || self.body.op(*op).name() == ttg::ASYNC_WAIT;
        self.body.op_and_nested_ops(op).iter().any(is_one)
    }

    /// The largest number of copies that divides the number of copies between waits or bounds of loops, and the number
    /// that each wait leaves in flight; 0 without copies.
    fn batch_size(&self, block: Block) -> u64 {
        let (mut size, mut run) = (0, 0);
        for &op in self.body.ops(block).iter().filter(|op| self.concerns(**op)) {
            let operation = self.body.op(op);
            if operation.name() == tw::COPY {
                run += 1;
                continue;
            }
            let inner = operation.regions.iter().flat_map(|region| self.body.blocks(*region));
            let inner = inner.map(|block| self.batch_size(*block)).fold(self.left_by_wait(op), greatest_common_divisor);
            size = greatest_common_divisor(greatest_common_divisor(size, run), inner);
            run = 0;
        }
        greatest_common_divisor(size, run)
    }

    /// Number of copies that an operation leaves in flight if it is a wait.
    fn left_by_wait(&self, op: Op) -> u64 {
        let left = self.body.op(op).attributes.get("num").and_then(Attribute::as_integer);
        left.and_then(|left| u64::try_from(left).ok()).unwrap_or(0)
    }

    fn block(&mut self, block: Block) -> Result<(), String> {
        let concerned: Vec<Op> = self.body.ops(block).iter().copied().filter(|op| self.concerns(*op)).collect();
        for op in concerned {
            match self.body.op(op).name() {
                tw::COPY => self.copy(op),
                ttg::ASYNC_WAIT => self.wait(op)?,
                scf::FOR => self.for_loop(op)?,
                name => return Err(format!("`{name}` contains pending copies or waits for them")),
            }
        }
        Ok(())
    }

    fn copy(&mut self, op: Op) {
        if self.position == 0 {
            self.found.starts.insert(op, self.flying);
            self.bytes.push(0);
            self.flying += 1;
            self.found.ring = self.found.ring.max(self.flying);
        }
        self.position = (self.position + 1) % self.size;
        if let Some(bytes) = self.bytes.last_mut() {
            *bytes += bytes_of(self.body, op);
        }
    }

    fn wait(&mut self, op: Op) -> Result<(), String> {
        let operation = self.body.op(op);
        let is_used = |value: &Value| !ValueUses::of(self.body).of_value(*value).is_empty();
        if !operation.operands.is_empty() || operation.results.iter().any(is_used) {
            return Err("a wait for copies has tokens".to_owned());
        }
        let left = u32::try_from(self.left_by_wait(op) / self.size).unwrap_or(u32::MAX).min(self.flying);
        self.found.waits.insert(op, self.flying - left);
        self.flying = left;
        Ok(())
    }

    fn for_loop(&mut self, op: Op) -> Result<(), String> {
        let body = self.body.op(op).regions.first().and_then(|region| self.body.blocks(*region).first());
        let before = self.flying;
        body.map_or(Ok(()), |block| self.block(*block))?;
        self.found.loops.insert(op);
        match self.flying == before {
            true => Ok(()),
            false => Err("an iteration begins and ends with different numbers of copies in flight".to_owned()),
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Number of bytes that a copy to shared memory transfers.
fn bytes_of(body: &FunctionBody, copy: Op) -> u64 {
    let Some(ty) = body.operand(copy, "dst").map(|to| body.value_type(to)) else { return 0 };
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
}

/// The state of the ring of mbarriers during expansion.
#[derive(Debug, Clone)]
pub(super) struct MbarrierRing {
    mbarriers: Mbarriers,
    /// The number of batches that the program has waited for, an `i32`.
    waited: Value,
    /// The mbarrier of the last batch; `None` before the first one.
    last: Option<Value>,
}

impl Expander<'_> {
    /// Emits the tensor maps of the pending copies in an operation of the entry block, and at first the ring of
    /// mbarriers.
    pub(super) fn begin_pending_copies(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        if !self.pending_copies.outermost.contains(&op) {
            return Ok(());
        }
        if self.ring.is_none() {
            let PendingCopies { ring, bytes, .. } = self.pending_copies;
            let mbarriers = Mbarriers::emit_allocation(ring, None, bytes, cloner.to)?;
            self.ring = Some(MbarrierRing { mbarriers, waited: cloner.to.constant_i32(0)?, last: None });
        }
        for copy in cloner.from.op_and_nested_ops(op) {
            if self.pending_copies.copies.contains(&copy) {
                let map = self.map(copy, cloner)?;
                self.maps.insert(copy, map);
            }
        }
        Ok(())
    }

    /// Emits a wait for the batches that the program does not wait for, behind the last operation of the entry block
    /// with pending copies: their buffers end their lifetime here.
    pub(super) fn end_pending_copies(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        match self.pending_copies.outermost.last() == Some(&op) {
            true => self.wait_for_batches(self.pending_copies.rest, cloner),
            false => Ok(()),
        }
    }

    /// Emits a pending copy as a bulk tensor copy.
    pub(super) fn fill_pending(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let unknown = "its batch is unknown";
        let Some(ring) = &self.ring else { return Err(violation(cloner, op, unknown)) };
        let mut mbarrier = ring.last;
        if let Some(&ahead) = self.pending_copies.starts.get(&op) {
            let index = self.ring_index(ring.waited, ahead, cloner)?;
            mbarrier = ring.mbarriers.emit_expect_bytes(index, cloner.to)?;
        }
        if let Some(ring) = &mut self.ring {
            ring.last = mbarrier;
        }
        self.fill_box(op, mbarrier, cloner)
    }

    /// Emits a wait of the program as waits for batches; returns false for other waits.
    pub(super) fn wait_for_pending(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(&batches) = self.pending_copies.waits.get(&op) else { return Ok(false) };
        self.wait_for_batches(batches, cloner)?;
        Ok(true)
    }

    fn wait_for_batches(&mut self, batches: u32, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let Some(MbarrierRing { mbarriers, waited, last }) = self.ring.clone().filter(|_| batches > 0) else {
            return Ok(());
        };
        let one = cloner.to.constant_i32(1)?;
        for ahead in 0..batches {
            let index = self.ring_index(waited, ahead, cloner)?;
            let number = self.ahead(waited, ahead, cloner)?;
            let shift = cloner.to.constant_i32(self.pending_copies.ring.trailing_zeros())?;
            let pass = cloner.to.binary(arith::SHRUI, number, shift)?;
            let phase = cloner.to.binary(arith::ANDI, pass, one)?;
            mbarriers.emit_wait_until_full(index, phase, cloner.to)?;
        }
        cloner.to.barrier()?;
        let waited = self.ahead(waited, batches, cloner)?;
        self.ring = Some(MbarrierRing { mbarriers, waited, last });
        Ok(())
    }

    /// Emits the index of the mbarrier of the batch `ahead` batches after batch `number`.
    fn ring_index(&self, number: Value, ahead: u32, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let number = self.ahead(number, ahead, cloner)?;
        let mask = cloner.to.constant_i32(self.pending_copies.ring - 1)?;
        Ok(cloner.to.binary(arith::ANDI, number, mask)?)
    }

    fn ahead(&self, number: Value, by: u32, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let by = cloner.to.constant_i32(by)?;
        Ok(cloner.to.binary(arith::ADDI, number, by)?)
    }

    /// Emits a loop with pending copies or waits, which carries the number of batches; returns false for other loops.
    pub(super) fn loop_with_pending(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(ring) = self.ring.as_mut().filter(|_| self.pending_copies.loops.contains(&op)) else {
            return Ok(false);
        };
        let bounds = Bounds::new(op, cloner)?;
        let initial = [&bounds.initial[..], &[ring.waited]].concat();
        let (region, around, arguments) = bounds.enter(&initial, cloner);
        let own = cloner.from.arguments(bounds.block);
        own.iter().zip(&arguments).for_each(|(argument, clone)| cloner.bind(*argument, *clone));
        ring.waited = arguments[own.len()];
        let ops = cloner.from.ops(bounds.block);
        ops.iter()
            .filter(|op| cloner.from.op(**op).name() != scf::YIELD)
            .try_for_each(|op| cloner.rewrite_or_clone_op(*op, self))?;
        let waited = self.ring.as_ref().map(|ring| ring.waited);
        let given: Vec<Value> = bounds.yielded_clones(cloner).into_iter().chain(waited).collect();
        let results = bounds.close(region, around, &initial, &given, cloner)?;
        cloner.from.op(op).results.iter().zip(&results).for_each(|(result, clone)| cloner.bind(*result, *clone));
        if let (Some(ring), Some(&waited)) = (&mut self.ring, results.last()) {
            ring.waited = waited;
        }
        Ok(true)
    }
}

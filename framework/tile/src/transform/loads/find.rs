//! Finds loads that can be prefetched.
//!
//! A load can be prefetched if its value is used only by a layout conversion through shared memory or as an MMA operand
//! in shared memory, perhaps after elementwise operations, or if a dot of the loop depends on it, or if the program
//! states the loop's number of stages.

use super::pointer_bases::PointerBases;
use crate::op::name::{scf, tt, ttg};
use crate::op_attrs::{NUM_STAGES, OPERAND_STAYS_IN_SMEM};
use std::collections::BTreeSet;

use crate::transform::pipeliner::{Slice, backward, check_speculatable};
use crate::{Block, Function, FunctionBody, Op, TileType, Value, ValueOrigin};

/// Queries about layouts that only the layout algorithms of the target can answer.
#[derive(Clone, Copy)]
pub struct LayoutQueries<'a> {
    /// Whether a layout conversion moves its values through shared memory.
    pub moves_through_shared: &'a dyn Fn(Op) -> bool,
    /// Whether the MMA instruction of a dot can read operand A (0) or B (1) from shared memory, in the layout that the
    /// operand then has there.
    pub can_read_from_shared: &'a dyn Fn(Op, usize) -> bool,
}

/// An innermost `scf.for` with loads, or with MMA operands that are the same in each iteration.
#[derive(Debug, Clone)]
pub struct LoadLoop {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// The loads that can be prefetched.
    pub loads: Vec<PrefetchableLoad>,
    /// The loads of the loop that are not prefetched, each with the reason.
    pub left: Vec<(Op, String)>,
    /// The values that are the same in each iteration, and that MMAs read from shared memory, or could load from there.
    pub invariant_operands: Vec<InvariantDotOperand>,
}

/// A value that is computed outside a loop, and so is the same in each iteration, and that dots of the loop multiply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvariantDotOperand {
    /// The value.
    pub value: Value,
    /// The reads by the MMAs of the loop, of the value or of its transpose.
    pub reads: Vec<PrefetchRead>,
}

impl InvariantDotOperand {
    /// Returns one operand for each read.
    pub fn split(&self) -> impl Iterator<Item = Self> + '_ {
        self.reads.iter().map(|read| Self { value: self.value, reads: vec![read.clone()] })
    }
}

/// A load that can be prefetched, and the operations that read its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefetchableLoad {
    /// The load operation.
    pub op: Op,
    /// The operations between the load and the store to shared memory, in order.
    pub chain: Vec<Op>,
    /// The value that is stored to shared memory: the result of the last operation in `chain`, or of the load.
    pub stored: Value,
    /// The reads of the buffer; without a buffer, the only one is of the loaded value.
    pub reads: Vec<PrefetchRead>,
}

impl PrefetchableLoad {
    /// Whether a buffer replaces several stores to shared memory, and no lane needs the value in the layout of the
    /// load.
    #[must_use]
    pub fn is_stored_once(&self) -> bool {
        self.reads.len() > 1
            && self.reads.iter().all(|read| read.value != self.stored || read.reader != PrefetchConsumer::Lanes)
    }

    /// Whether the value can stay in registers, without a buffer: it is used in the layout of the load.
    #[must_use]
    pub fn stays_in_registers(&self) -> bool {
        matches!(&self.reads[..], [only] if only.value == self.stored && only.reader == PrefetchConsumer::Lanes)
    }
}

/// A read of the buffer of a prefetched load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefetchRead {
    /// The value of the program that the read replaces.
    pub value: Value,
    /// The transpositions from the stored value to the read one, in order.
    pub views: Vec<Op>,
    /// The consumer of the value.
    pub reader: PrefetchConsumer,
}

/// The consumer of a prefetched value: it reads the buffer in shared memory that the load fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchConsumer {
    /// All lanes, in the layout of the value. With [`PrefetchPath::Carried`](super::PrefetchPath::Carried), the loaded
    /// value stays in registers, without a buffer.
    Lanes,
    /// The MMA instruction of a dot, for operand A (0) or B (1).
    MmaOperand(Op, usize),
}

/// Finds the innermost loops of a function that have loads, or dots with an operand in shared memory that is the same
/// in each iteration, in program order.
#[must_use]
pub fn innermost_load_loops(function: &Function, queries: &LayoutQueries<'_>) -> Vec<LoadLoop> {
    let Some(body) = &function.body else { return Vec::new() };
    let mut uses = vec![0u32; body.value_count()];
    for op in body.walk_region(body.root()) {
        body.op(op).operands.iter().for_each(|value| uses[value.index()] += 1);
    }
    let bases = PointerBases::of(body);
    let all = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == scf::FOR);
    all.filter_map(|op| Search::of(body, op, queries, (&uses, &bases))?.found(op)).collect()
}

/// A load, and the operations from it to a value that depends on it, in order.
type Traced = (Op, Vec<Op>);
/// Loads that cannot be prefetched, with their common reason.
type Refused = (Vec<Op>, &'static str);

pub(super) fn is_load(body: &FunctionBody, op: Op) -> bool {
    matches!(body.op(op).name(), tt::LOAD | tt::DESCRIPTOR_LOAD)
}

struct Search<'s> {
    body: &'s FunctionBody,
    block: Block,
    queries: &'s LayoutQueries<'s>,
    uses: &'s [u32],
    bases: &'s PointerBases<'s>,
    /// The parameters through which the loop stores.
    stored: BTreeSet<Value>,
    loop_ops: BTreeSet<Op>,
    /// The values of an iteration that depend on its loads.
    loaded: BTreeSet<Value>,
    /// Whether the program states the loop's number of stages.
    has_stages: bool,
}

impl<'s> Search<'s> {
    fn of(
        body: &'s FunctionBody,
        op: Op,
        queries: &'s LayoutQueries<'s>,
        (uses, bases): (&'s [u32], &'s PointerBases<'s>),
    ) -> Option<Self> {
        let block = *body.blocks(*body.op(op).regions.first()?).first()?;
        let loop_ops: BTreeSet<Op> = body.ops(block).iter().copied().collect();
        let mut loaded = BTreeSet::new();
        for &op in body.ops(block) {
            let operands = body.op_and_nested_ops(op).into_iter().flat_map(|op| &body.op(op).operands);
            if is_load(body, op) || operands.into_iter().any(|value| loaded.contains(value)) {
                loaded.extend(&body.op(op).results);
            }
        }
        let has_stages = body.op(op).attributes.get(NUM_STAGES).is_some();
        let stores = body.op_and_nested_ops(op).into_iter().filter(|op| body.op(*op).name() == tt::STORE);
        let stored = stores.filter_map(|store| bases.find(body.op(store).operands[0])).collect();
        Some(Self { body, block, queries, uses, bases, stored, loop_ops, loaded, has_stages })
    }

    fn found(&self, op: Op) -> Option<LoadLoop> {
        let body = self.body;
        let all: Vec<Op> = body.ops(self.block).iter().copied().filter(|op| is_load(body, *op)).collect();
        let is_loop = |inner: &&Op| matches!(body.op(**inner).name(), scf::FOR | scf::WHILE);
        let inner: Vec<Op> = body.op_and_nested_ops(op);
        if inner[1..].iter().any(|op| is_loop(&op)) {
            return None;
        }
        let invariant_operands = self.invariant_operands(&inner);
        if all.is_empty() && invariant_operands.is_empty() {
            return None;
        }
        let mut found = LoadLoop { op, loads: Vec::new(), left: Vec::new(), invariant_operands };
        if let Some(reason) = self.rejected(&inner[1..]) {
            found.left = all.into_iter().map(|load| (load, reason.clone())).collect();
            return Some(found);
        }
        for (value, read) in self.readers() {
            let Some(traced) = self.traced(value) else { continue };
            let (load, chain) = match traced {
                Ok(traced) => traced,
                Err((loads, reason)) => {
                    found.left.extend(loads.into_iter().map(|load| (load, reason.to_owned())));
                    continue;
                }
            };
            let load = PrefetchableLoad { op: load, chain, stored: value, reads: vec![read] };
            match self.can_go(&load) {
                Ok(()) => found.loads.push(load),
                Err(reason) => found.left.push((load.op, reason)),
            }
        }
        let is_prefetched = |load: &Op| found.loads.iter().any(|known| known.op == *load);
        let others =
            all.iter().copied().filter(|load| !is_prefetched(load)).filter_map(|load| self.register_prefetch(load));
        let others: Vec<PrefetchableLoad> = others.collect();
        found.loads.extend(others);
        // List a load with several readers once: as prefetched if one of them allows it, otherwise with the first
        // reason.
        let mut reported = BTreeSet::new();
        found.left.retain(|(load, _)| found.loads.iter().all(|known| known.op != *load) && reported.insert(*load));
        for load in all {
            let is_known = found.loads.iter().any(|known| known.op == load) || found.left.iter().any(|l| l.0 == load);
            if !is_known {
                found.left.push((load, "its value does not pass through shared memory".to_owned()));
            }
        }
        Some(found)
    }

    /// The reason why no load of the loop can be prefetched, given the operations of its body; `None` if some may be.
    ///
    /// It is an unsupported counter, or an operation with side effects or a barrier, except stores through known
    /// parameters of the function.
    fn rejected(&self, inner: &[Op]) -> Option<String> {
        let counter = self.body.arguments(self.block).first().map(|counter| self.body.value_type(*counter));
        if !matches!(counter, Some(TileType::Integer(..))) {
            return Some("the loop counter has type `index`".to_owned());
        }
        let may_be_passed = |op: &&Op| {
            let operation = self.body.op(**op);
            let name = operation.name();
            operation.definition.traits.pure
                || matches!(name, tt::LOAD | tt::DESCRIPTOR_LOAD | scf::IF | tt::DOT | tt::DOT_SCALED)
                || name == tt::STORE && self.bases.find(operation.operands[0]).is_some()
        };
        let stays = inner.iter().find(|op| !may_be_passed(op))?;
        Some(format!("no load can be moved across `{}`", self.body.op(*stays).name()))
    }

    /// Returns the load `op` as a prefetch whose value stays in registers; `None` unless a dot of the iteration
    /// depends on it, or the program states the number of stages.
    ///
    /// Without the prefetch, the latency of global memory would delay the matrix units. In a loop without dots, warps
    /// hide each other's latencies, so that a prefetch is worth its registers only if the program asks for it.
    fn register_prefetch(&self, op: Op) -> Option<PrefetchableLoad> {
        let &[value] = &self.body.op(op).results[..] else { return None };
        let read = PrefetchRead { value, views: Vec::new(), reader: PrefetchConsumer::Lanes };
        let load = PrefetchableLoad { op, chain: Vec::new(), stored: value, reads: vec![read] };
        ((self.has_stages || self.reaches_dot(value)) && self.can_go(&load).is_ok()).then_some(load)
    }

    /// Whether a dot of the iteration depends on a value.
    fn reaches_dot(&self, value: Value) -> bool {
        let mut reached = BTreeSet::from([value]);
        self.body.ops(self.block).iter().any(|&op| {
            let operands = self.body.op_and_nested_ops(op).into_iter().flat_map(|op| &self.body.op(op).operands);
            let depends = operands.into_iter().any(|operand| reached.contains(operand));
            if depends {
                reached.extend(&self.body.op(op).results);
            }
            depends && self.body.op(op).is_dot()
        })
    }

    /// Returns the values that are computed outside the loop and that MMAs of the loop read from shared memory, perhaps
    /// transposed, or that layout conversions outside the loop bring into their layout; `inner` has the operations of
    /// the loop.
    fn invariant_operands(&self, inner: &[Op]) -> Vec<InvariantDotOperand> {
        let body = self.body;
        let regions = || inner.iter().flat_map(|op| body.op(*op).regions.iter());
        let blocks: BTreeSet<Block> = regions().flat_map(|region| body.blocks(*region).iter().copied()).collect();
        let is_outside = |value: Value| match body.value_origin(value) {
            ValueOrigin::Result(op, _) => {
                !inner.contains(&op) && body.op(op).attributes.get(OPERAND_STAYS_IN_SMEM).is_none()
            }
            ValueOrigin::Argument(block, _) => !blocks.contains(&block),
        };
        let mut found: Vec<InvariantDotOperand> = Vec::new();
        let dots = body.ops(self.block).iter().copied().filter(|op| body.op(*op).name() == tt::DOT);
        for (dot, side) in dots.flat_map(|dot| [(dot, 0), (dot, 1)]) {
            let value = body.op(dot).operands[side];
            let (root, views) = self.transposed_value(value);
            if !is_outside(root) {
                continue;
            }
            if !(self.queries.can_read_from_shared)(dot, side) {
                let known = |known: &InvariantDotOperand| known.reads.iter().any(|read| read.value == value);
                if root == value && !found.iter().any(known) {
                    found.push(self.register_operand(value));
                }
                continue;
            }
            let read = PrefetchRead { value, views, reader: PrefetchConsumer::MmaOperand(dot, side) };
            match found.iter_mut().find(|known| known.value == root) {
                Some(known) => known.reads.push(read),
                None => found.push(InvariantDotOperand { value: root, reads: vec![read] }),
            }
        }
        found
    }

    /// Returns the operand `value` of an MMA that reads registers, as the layout conversion before it leaves it.
    fn register_operand(&self, value: Value) -> InvariantDotOperand {
        let source = match self.body.value_origin(value) {
            ValueOrigin::Result(op, _) if self.body.op(op).name() == ttg::CONVERT_LAYOUT => {
                self.body.op(op).operands[0]
            }
            _ => value,
        };
        let read = PrefetchRead { value, views: Vec::new(), reader: PrefetchConsumer::Lanes };
        InvariantDotOperand { value: source, reads: vec![read] }
    }

    /// Returns the value from which transpositions of the iteration derive `value`, and these, in order.
    fn transposed_value(&self, mut value: Value) -> (Value, Vec<Op>) {
        let mut views = Vec::new();
        while let ValueOrigin::Result(op, _) = self.body.value_origin(value)
            && self.loop_ops.contains(&op)
            && self.body.op(op).name() == tt::TRANS
        {
            views.insert(0, op);
            value = self.body.op(op).operands[0];
        }
        (value, views)
    }

    /// Returns the reads of buffers in shared memory, each with the value to store in the buffer.
    fn readers(&self) -> Vec<(Value, PrefetchRead)> {
        let mut readers = Vec::new();
        let read = |value, reader| PrefetchRead { value, views: Vec::new(), reader };
        for &op in self.body.ops(self.block) {
            let operation = self.body.op(op);
            match operation.name() {
                ttg::CONVERT_LAYOUT if (self.queries.moves_through_shared)(op) => {
                    readers.push((operation.operands[0], read(operation.results[0], PrefetchConsumer::Lanes)));
                }
                tt::DOT => {
                    let sides = (0..2).filter(|side| (self.queries.can_read_from_shared)(op, *side));
                    readers.extend(sides.map(|side| {
                        let value = operation.operands[side];
                        (value, read(value, PrefetchConsumer::MmaOperand(op, side)))
                    }));
                }
                _ => {}
            }
        }
        readers
    }

    /// Traces a value back to a load of this iteration, and returns the load and the operations in between.
    ///
    /// The inner error is the reason why the load cannot be prefetched, such as a second use. `None` if the value does
    /// not depend on a load of this iteration, or if an operation in between may not move before the store to shared
    /// memory.
    fn traced(&self, value: Value) -> Option<Result<Traced, Refused>> {
        let (mut at, mut chain) = (value, Vec::new());
        loop {
            let ValueOrigin::Result(op, _) = self.body.value_origin(at) else { return None };
            if !self.loop_ops.contains(&op) || !self.loaded.contains(&at) {
                return None;
            }
            let operation = self.body.op(op);
            if is_load(self.body, op) {
                if self.uses[at.index()] > 1 {
                    return Some(Err((vec![op], "its value is used more than once")));
                }
                chain.reverse();
                return Some(Ok((op, chain)));
            }
            if !self.may_precede_store(op) {
                return None;
            }
            let mut from = operation.operands.iter().filter(|value| self.loaded.contains(value));
            let (first, more) = (from.next()?, from.next());
            if more.is_some() {
                return Some(Err((self.loads_of(at), "its value is combined with other loads")));
            }
            if self.uses[at.index()] > 1 {
                return Some(Err((self.loads_of(at), "a value computed from it is used more than once")));
            }
            chain.push(op);
            at = *first;
        }
    }

    /// Whether an operation can be applied to a loaded value before the store.
    ///
    /// It is elementwise or changes the shape or layout, and does not go through shared memory.
    fn may_precede_store(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let traits = operation.definition.traits;
        let moves = operation.name() == ttg::CONVERT_LAYOUT && (self.queries.moves_through_shared)(op);
        let is_shape = matches!(operation.name(), ttg::CONVERT_LAYOUT | tt::TRANS | tt::RESHAPE | tt::EXPAND_DIMS);
        traits.pure && (traits.elementwise || is_shape) && !moves && operation.results.len() == 1
    }

    /// The loads of the iteration on which a value depends, in the order of the text.
    fn loads_of(&self, value: Value) -> Vec<Op> {
        let (mut found, mut open) = (BTreeSet::new(), vec![value]);
        let mut seen = BTreeSet::new();
        while let Some(value) = open.pop() {
            let ValueOrigin::Result(op, _) = self.body.value_origin(value) else { continue };
            if !self.loop_ops.contains(&op) || !seen.insert(op) {
                continue;
            }
            if is_load(self.body, op) {
                found.insert(op);
            } else {
                open.extend(&self.body.op(op).operands);
            }
        }
        found.into_iter().collect()
    }

    fn can_go(&self, load: &PrefetchableLoad) -> Result<(), String> {
        self.check_not_stored(load.op)?;
        let ty = self.body.value_type(load.stored);
        let numbers = matches!(ty.element(), TileType::Integer(..) | TileType::Float(_));
        if ty.as_tensor().is_none() || !numbers || ty.element_bits().is_none_or(|bits| bits < 8) {
            return Err(format!("`{ty}` is not a tensor of whole bytes"));
        }
        let check = |op| match self.body.op(op).name() {
            tt::LOAD => {
                let wrong = |reason| format!("its slice has `tt.load`, which cannot be executed earlier: {reason}");
                self.check_not_stored(op).map_err(wrong)
            }
            _ => check_speculatable(self.body, op),
        };
        slice(self.body, self.block, std::slice::from_ref(load), check).map(drop)
    }

    /// Checks that a load may be executed in an earlier iteration. The error is the reason why it may not.
    fn check_not_stored(&self, load: Op) -> Result<(), String> {
        let volatile = self.body.op(load).attributes.get("isVolatile");
        if volatile.is_some_and(|volatile| *volatile == crate::Attribute::Bool(true)) {
            return Err("it is volatile".to_owned());
        }
        let base = self.bases.find(self.body.op(load).operands[0]);
        if !self.stored.is_empty() && base.is_none_or(|base| self.stored.contains(&base)) {
            return Err("it may read an element that a `tt.store` of the loop writes".to_owned());
        }
        Ok(())
    }
}

/// Returns the slice of an iteration that prefetches of `loads` need. It computes the operands of the loads, and of the
/// operations between load and store, except the loaded values themselves.
///
/// # Errors
/// The first error of `check` for an operation of the slice, or the reason why it cannot be executed for a later
/// iteration.
pub(super) fn slice(
    body: &FunctionBody,
    block: Block,
    loads: &[PrefetchableLoad],
    check: impl Fn(Op) -> Result<(), String>,
) -> Result<Slice, String> {
    let roots = loads.iter().flat_map(|load| {
        let is_passed_on = |value: &Value| match body.value_origin(*value) {
            ValueOrigin::Result(defining_op, _) => defining_op == load.op || load.chain.contains(&defining_op),
            ValueOrigin::Argument(..) => false,
        };
        let ops = std::iter::once(&load.op).chain(&load.chain);
        ops.flat_map(|op| body.op(*op).operands.iter().copied()).filter(move |value| !is_passed_on(value))
    });
    backward(body, block, roots.collect(), |_| false, check)?.guard_loads(body, block)
}

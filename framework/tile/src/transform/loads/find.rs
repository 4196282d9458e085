//! Loads whose values go, by single uses, into a conversion that costs something or to a unit that reads shared memory.

use crate::op::name::{scf, tt, ttg};
use std::collections::BTreeSet;

use crate::transform::pipeliner::{Slice, backward, check_speculatable};
use crate::{Block, Body, Function, Op, TileType, Value, ValueOrigin};

/// Queries on layouts that need the target.
#[derive(Clone, Copy)]
pub struct LayoutQueries<'a> {
    /// Whether a conversion moves through shared memory.
    pub moves: &'a dyn Fn(Op) -> bool,
    /// Whether the unit of a product reads factor 0 or 1 from shared memory, as it lies there.
    pub reads: &'a dyn Fn(Op, usize) -> bool,
}

/// An `scf.for` that loads.
#[derive(Debug, Clone)]
pub struct LoadLoop {
    /// The loop.
    pub op: Op,
    /// The loads that can go ahead.
    pub loads: Vec<PrefetchableLoad>,
    /// The loads that stay where they are, and why.
    pub left: Vec<(Op, String)>,
}

/// A load, and what reads its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefetchableLoad {
    /// The load.
    pub op: Op,
    /// What is done with its value before it is stored, in order.
    pub chain: Vec<Op>,
    /// The value that is stored.
    pub stored: Value,
    /// The value that stands for it behind the buffer.
    pub required: Value,
    /// What wants it.
    pub reader: BufferReader,
}

/// What reads a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferReader {
    /// All lanes, in the layout that this conversion is to.
    Conversion(Op),
    /// The unit of a product: factor 0 or 1.
    Unit(Op, usize),
}

/// The loops of a function that contain no other loop and load something, in the order of the text.
#[must_use]
pub fn load_loops(function: &Function, queries: &LayoutQueries<'_>) -> Vec<LoadLoop> {
    let Some(body) = &function.body else { return Vec::new() };
    let mut uses = vec![0u32; body.value_count()];
    for op in body.walk(body.root()) {
        body.op(op).operands.iter().for_each(|value| uses[value.index()] += 1);
    }
    let all = body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == scf::FOR);
    all.filter_map(|op| Search::of(body, op, queries, &uses)?.found(op)).collect()
}

/// A load, and what is done with its value, in order.
type Traced = (Op, Vec<Op>);
/// Loads that do not go ahead, and why.
type Refused = (Vec<Op>, &'static str);

pub(super) fn is_load(body: &Body, op: Op) -> bool {
    matches!(body.op(op).name(), tt::LOAD | tt::DESCRIPTOR_LOAD)
}

struct Search<'s> {
    body: &'s Body,
    block: Block,
    queries: &'s LayoutQueries<'s>,
    uses: &'s [u32],
    own: BTreeSet<Op>,
    /// Values of the turn that follow from what is loaded in it.
    loaded: BTreeSet<Value>,
}

impl<'s> Search<'s> {
    fn of(body: &'s Body, op: Op, queries: &'s LayoutQueries<'s>, uses: &'s [u32]) -> Option<Self> {
        let block = *body.blocks(*body.op(op).regions.first()?).first()?;
        let own: BTreeSet<Op> = body.ops(block).iter().copied().collect();
        let mut loaded = BTreeSet::new();
        for &op in body.ops(block) {
            let operands = body.nested(op).into_iter().flat_map(|op| &body.op(op).operands);
            if is_load(body, op) || operands.into_iter().any(|value| loaded.contains(value)) {
                loaded.extend(&body.op(op).results);
            }
        }
        Some(Self { body, block, queries, uses, own, loaded })
    }

    fn found(&self, op: Op) -> Option<LoadLoop> {
        let body = self.body;
        let all: Vec<Op> = body.ops(self.block).iter().copied().filter(|op| is_load(body, *op)).collect();
        let is_loop = |inner: &&Op| matches!(body.op(**inner).name(), scf::FOR | scf::WHILE);
        let inner: Vec<Op> = body.nested(op);
        if all.is_empty() || inner[1..].iter().any(|op| is_loop(&op)) {
            return None;
        }
        let mut found = LoadLoop { op, loads: Vec::new(), left: Vec::new() };
        if let Some(reason) = self.rejected(&inner[1..]) {
            found.left = all.into_iter().map(|load| (load, reason.clone())).collect();
            return Some(found);
        }
        for (value, required, reader) in self.readers() {
            let Some(traced) = self.traced(value) else { continue };
            let (load, chain) = match traced {
                Ok(traced) => traced,
                Err((loads, reason)) => {
                    found.left.extend(loads.into_iter().map(|load| (load, reason.to_owned())));
                    continue;
                }
            };
            let load = PrefetchableLoad { op: load, chain, stored: value, required, reader };
            match self.can_go(&load) {
                Ok(()) => found.loads.push(load),
                Err(reason) => found.left.push((load.op, reason)),
            }
        }
        // Of what was looked at for several readers, what goes ahead does, and one reason is enough.
        let mut told = BTreeSet::new();
        found.left.retain(|(load, _)| found.loads.iter().all(|known| known.op != *load) && told.insert(*load));
        for load in all {
            let is_known = found.loads.iter().any(|known| known.op == load) || found.left.iter().any(|l| l.0 == load);
            if !is_known {
                found.left.push((load, "what it gives does not go through shared memory".to_owned()));
            }
        }
        Some(found)
    }

    /// What forbids that anything goes ahead: what other threads may see, or wait for.
    fn rejected(&self, inner: &[Op]) -> Option<String> {
        let counter = self.body.arguments(self.block).first().map(|counter| self.body.ty(*counter));
        if !matches!(counter, Some(TileType::Integer(..))) {
            return Some("the loop does not count in integers of a width".to_owned());
        }
        let may_be_passed = |op: &&Op| {
            let operation = self.body.op(**op);
            operation.definition.traits.pure
                || matches!(operation.name(), tt::LOAD | tt::DESCRIPTOR_LOAD | scf::IF | tt::DOT | tt::DOT_SCALED)
        };
        let stays = inner.iter().find(|op| !may_be_passed(op))?;
        Some(format!("no load may pass by `{}`", self.body.op(*stays).name()))
    }

    /// What is read through shared memory: the value, what stands for it behind that, and the reader.
    fn readers(&self) -> Vec<(Value, Value, BufferReader)> {
        let mut readers = Vec::new();
        for &op in self.body.ops(self.block) {
            let operation = self.body.op(op);
            match operation.name() {
                ttg::CONVERT_LAYOUT if (self.queries.moves)(op) => {
                    readers.push((operation.operands[0], operation.results[0], BufferReader::Conversion(op)));
                }
                tt::DOT => {
                    let sides = (0..2).filter(|side| (self.queries.reads)(op, *side));
                    readers.extend(sides.map(|side| {
                        let value = operation.operands[side];
                        (value, value, BufferReader::Unit(op, side))
                    }));
                }
                _ => {}
            }
        }
        readers
    }

    /// The load that a value comes from by single uses, and what is done with it on the way; nothing of what is not loaded
    /// here, or comes out of shared memory.
    fn traced(&self, value: Value) -> Option<Result<Traced, Refused>> {
        let (mut at, mut chain) = (value, Vec::new());
        loop {
            let ValueOrigin::Result(op, _) = self.body.origin(at) else { return None };
            if !self.own.contains(&op) || !self.loaded.contains(&at) {
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
            if !self.keeps(op) {
                return None;
            }
            let mut from = operation.operands.iter().filter(|value| self.loaded.contains(value));
            let (first, more) = (from.next()?, from.next());
            if more.is_some() {
                return Some(Err((self.loads_of(at), "it is one of several that make one value")));
            }
            if self.uses[at.index()] > 1 {
                return Some(Err((self.loads_of(at), "what is made of its value is used more than once")));
            }
            chain.push(op);
            at = *first;
        }
    }

    /// Whether an operation gives as many elements as it takes, each from one, so that it may be done when they are stored.
    fn keeps(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let traits = operation.definition.traits;
        let moves = operation.name() == ttg::CONVERT_LAYOUT && (self.queries.moves)(op);
        let is_shape = matches!(operation.name(), ttg::CONVERT_LAYOUT | tt::TRANS | tt::RESHAPE | tt::EXPAND_DIMS);
        traits.pure && (traits.elementwise || is_shape) && !moves && operation.results.len() == 1
    }

    /// The loads that a value follows from by operations of the turn.
    fn loads_of(&self, value: Value) -> Vec<Op> {
        let (mut found, mut open) = (BTreeSet::new(), vec![value]);
        let mut seen = BTreeSet::new();
        while let Some(value) = open.pop() {
            let ValueOrigin::Result(op, _) = self.body.origin(value) else { continue };
            if !self.own.contains(&op) || !seen.insert(op) {
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
        let volatile = self.body.op(load.op).attributes.get("isVolatile");
        if volatile.is_some_and(|volatile| *volatile == crate::Attribute::Bool(true)) {
            return Err("it is volatile".to_owned());
        }
        let ty = self.body.ty(load.stored);
        let numbers = matches!(ty.element(), TileType::Integer(..) | TileType::Float(_));
        if ty.as_tensor().is_none() || !numbers || ty.element_bits().is_none_or(|bits| bits < 8) {
            return Err(format!("`{ty}` is no tensor of whole bytes"));
        }
        slice(self.body, self.block, std::slice::from_ref(load)).map(drop)
    }
}

/// The operations that compute the operands of loads, and the operands of operations between a load and its store to a buffer.
///
/// # Errors
/// Why it cannot be executed for an iteration that is ahead.
pub(super) fn slice(body: &Body, block: Block, loads: &[PrefetchableLoad]) -> Result<Slice, String> {
    let roots = loads.iter().flat_map(|load| {
        let is_passed_on = |value: &Value| match body.origin(*value) {
            ValueOrigin::Result(made, _) => made == load.op || load.chain.contains(&made),
            ValueOrigin::Argument(..) => false,
        };
        let ops = std::iter::once(&load.op).chain(&load.chain);
        ops.flat_map(|op| body.op(*op).operands.iter().copied()).filter(move |value| !is_passed_on(value))
    });
    backward(body, block, roots.collect(), |_| false, |op| check_speculatable(body, op))
}

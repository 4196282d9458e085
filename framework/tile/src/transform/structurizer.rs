//! CFG structurization: turns branches between the blocks of a region into `scf.if`.
//!
//! The code of a block is followed by the code of its joins: merge blocks that it immediately dominates. A branch to a
//! merge block emits no code: the block is an exit of the enclosing `scf.if`, and its code follows later. If an
//! `scf.if` has several exits, it yields an integer that selects the exit that control takes, and the block arguments
//! of all exits; the arguments of other exits are poison.
//!
//! The target of a back edge is a loop header, whose loop becomes an `scf.while`: the back edge is one of the exits of
//! the loop body, on which the loop continues; the others leave the loop.

use crate::op::name::{cf, scf, ub};
use std::collections::BTreeMap;

use super::carried::loop_closed_values;
use super::graph::ControlFlowGraph;
use super::ir_cloner::{IrCloner, Rewrite};
use super::{Rewritten, violation};
use crate::{Attribute, BuildError, Op, Operation, Region, TileType, Value, Values};

/// The exit that stands for the end of the region; other exits are block indices.
const END: usize = i32::MAX as usize;

/// Maximum nesting depth of `scf.if` operations; deeper nesting is an error at the branch.
const MOST_DEPTH: usize = 256;

/// The exits of a piece of structured code: the later blocks that control may reach next.
#[derive(Clone)]
pub(super) struct Exits {
    /// For each exit, its block arguments.
    pub along: BTreeMap<usize, Values>,
    /// The selector, an `i32` with the number of the exit that control takes; `None` if there is only one exit.
    pub taken: Option<Value>,
}

/// Emits the blocks of a region as structured control flow.
pub(super) struct Structurizer<'w, 'a, 'b, 'd> {
    pub cloner: &'w mut IrCloner<'a, 'b, 'd>,
    pub graph: ControlFlowGraph,
    /// For each block, the exits of its code and of the code of its joins (merge blocks that it dominates).
    exits: Vec<Vec<usize>>,
    /// For each block, the loop-closed values that it takes in addition to its block arguments.
    carried: Vec<Vec<Value>>,
    /// The headers of the loops being emitted.
    pub open: Vec<usize>,
    results: &'w [TileType],
    rewrite: &'w mut dyn Rewrite,
    depth: usize,
}

impl<'w, 'a, 'b, 'd> Structurizer<'w, 'a, 'b, 'd> {
    /// Emits the code of a region whose arguments are bound, and returns the operands of its terminator.
    ///
    /// `results` are the types of these operands.
    pub fn emit_region(
        cloner: &'w mut IrCloner<'a, 'b, 'd>,
        region: Region,
        results: &'w [TileType],
        rewrite: &'w mut dyn Rewrite,
    ) -> Rewritten<Values> {
        let graph = ControlFlowGraph::build(cloner.from, region).map_err(|terminator| {
            let message = "it branches back into a loop that is also entered elsewhere (irreducible control flow): enter \
                           the loop only at the target of its back edge, or use `scf.for` or `scf.while`";
            violation(cloner, terminator, message)
        })?;
        if graph.blocks.is_empty() {
            return Ok(Values::new());
        }
        let (exits, carried) = (exits(&graph), loop_closed_values(cloner.from, &graph));
        let mut structurizer =
            Structurizer { cloner, graph, exits, carried, open: Vec::new(), results, rewrite, depth: 0 };
        let outgoing = structurizer.code(0)?;
        Ok(outgoing.along.into_values().next().unwrap_or_default())
    }

    /// Emits the code of a block and of its joins; for a loop header, emits the loop and the blocks after it.
    fn code(&mut self, index: usize) -> Rewritten<Exits> {
        if self.graph.loops.contains_key(&index) && !self.open.contains(&index) {
            self.repeated(index)
        } else {
            self.once(index)
        }
    }

    pub fn once(&mut self, index: usize) -> Rewritten<Exits> {
        let from = self.cloner.from;
        let Some((last, ops)) = from.ops(self.graph.blocks[index]).split_last() else {
            return Ok(Exits::one(END, Values::new()));
        };
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let message = format!("branches nest deeper than {MOST_DEPTH}");
            return Err(violation(self.cloner, *last, message));
        }
        ops.iter().try_for_each(|op| self.cloner.rewrite_or_clone_op(*op, self.rewrite))?;
        let mut outgoing = self.terminator(*last)?;
        let joins: Vec<_> = self.graph.dominated_merge_blocks(index).collect();
        for join in joins {
            outgoing = self.emit_merge_block(outgoing, join, from.op(*last))?;
        }
        self.depth -= 1;
        Ok(outgoing)
    }

    /// Emits a terminator: a return, a branch, a conditional branch or a switch.
    fn terminator(&mut self, op: Op) -> Rewritten<Exits> {
        let operation = self.cloner.from.op(op);
        let along = |range: std::ops::Range<usize>| operation.operands.get(range).unwrap_or_default();
        let successors = operation.successors.iter().map(|to| (to.block, along(to.operands.clone())));
        let target = |(block, along)| {
            let (index, mut along) = (self.index(block), self.cloner.all(along));
            along.extend(self.carried.get(index).map(|carried| self.cloner.all(carried)).unwrap_or_default());
            (index, along)
        };
        let targets: Vec<(usize, Values)> = successors.map(target).collect();
        match (operation.name(), &targets[..]) {
            (ub::UNREACHABLE, _) => {
                let poison = self.poison(END)?;
                Ok(Exits::one(END, poison))
            }
            (_, []) => Ok(Exits::one(END, self.cloner.all(&operation.operands))),
            (_, [(target, along)]) => self.go(*target, along),
            (cf::COND_BR, [yes, no]) => {
                let condition = self.cloner.clone_of(operation.operands[0]);
                let reached = [yes, no].into_iter().flat_map(|(target, _)| self.exits_to(*target)).collect();
                let go = |(target, along): &(usize, Values)| {
                    let (target, along) = (*target, along.clone());
                    move |structurizer: &mut Self| structurizer.go(target, &along)
                };
                self.either(operation, condition, reached, go(yes), go(no))
            }
            (_, targets) => self.switch(op, targets),
        }
    }

    /// Emits a switch; the first target is the default, and each other target belongs to one case value.
    fn switch(&mut self, op: Op, targets: &[(usize, Values)]) -> Rewritten<Exits> {
        let operation = self.cloner.from.op(op);
        let numbers = match operation.attributes.get("case_values") {
            Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
            Some(Attribute::List(list)) => {
                list.iter().filter_map(|one| one.as_integer().map(|one| one as u64)).collect()
            }
            _ => Vec::new(),
        };
        if numbers.len() + 1 != targets.len() {
            return Err(violation(self.cloner, op, "the number of case values differs from the number of cases"));
        }
        let flag = self.cloner.clone_of(operation.operands[0]);
        self.cases(operation, flag, &numbers, targets)
    }

    fn cases(
        &mut self,
        operation: &Operation,
        flag: Value,
        numbers: &[u64],
        targets: &[(usize, Values)],
    ) -> Rewritten<Exits> {
        let (Some(number), [default, first, ..]) = (numbers.first(), targets) else {
            return self.go(targets[0].0, &targets[0].1);
        };
        let is = self.is(flag, *number as i64)?;
        let others: Vec<_> = std::iter::once(default).chain(&targets[2..]).cloned().collect();
        let first = first.clone();
        let reached = others.iter().chain([&first]).flat_map(|(target, _)| self.exits_to(*target)).collect();
        let yes = |structurizer: &mut Self| structurizer.go(first.0, &first.1);
        let no = |structurizer: &mut Self| structurizer.cases(operation, flag, &numbers[1..], &others);
        self.either(operation, is, reached, yes, no)
    }

    /// Branches to the block `target` with the block arguments `along`: emits the block's code here, or makes it an
    /// exit.
    fn go(&mut self, target: usize, along: &[Value]) -> Rewritten<Exits> {
        if self.waits(target) {
            return Ok(Exits::one(target, along.into()));
        }
        self.bind(target, along);
        self.code(target)
    }

    /// Whether branches to a block make it an exit, whose code is emitted later.
    ///
    /// Such a block has several forward predecessors, or follows a loop that control must leave first, or is the header
    /// of a loop that is being emitted.
    fn waits(&self, target: usize) -> bool {
        self.graph.forward_predecessors[target] > 1
            || self.graph.outermost_exited_loop(target).is_some()
            || self.open.contains(&target)
    }

    /// Emits the code of the merge block `join` if it is one of the exits in `outgoing`; returns the exits that remain.
    ///
    /// `at` is the operation whose location the emitted branch gets.
    pub fn emit_merge_block(&mut self, mut outgoing: Exits, join: usize, at: &Operation) -> Rewritten<Exits> {
        let Some(along) = outgoing.along.remove(&join) else { return Ok(outgoing) };
        if outgoing.along.is_empty() {
            self.bind(join, &along);
            return self.code(join);
        }
        let Some(taken) = outgoing.taken else { return Ok(outgoing) };
        let here = self.emit_is_exit(taken, join)?;
        let reached = outgoing.along.keys().chain(&self.exits[join]).copied().collect();
        let yes = |structurizer: &mut Self| {
            structurizer.bind(join, &along);
            structurizer.code(join)
        };
        self.either(at, here, reached, yes, |_| Ok(outgoing))
    }

    /// Emits an `scf.if` with the branches `yes` and `no`, whose exits are all in `reached`; it has the location of
    /// `at`.
    fn either(
        &mut self,
        at: &Operation,
        condition: Value,
        mut reached: Vec<usize>,
        yes: impl FnOnce(&mut Self) -> Rewritten<Exits>,
        no: impl FnOnce(&mut Self) -> Rewritten<Exits>,
    ) -> Rewritten<Exits> {
        reached.sort_unstable();
        reached.dedup();
        let yes = self.branch(at, &reached, yes)?;
        let no = self.branch(at, &reached, no)?;
        self.cloner.to.set_location(at.location.clone());
        let selector = (reached.len() > 1).then(|| TileType::integer(32));
        let types: Vec<_> = reached.iter().map(|exit| self.along_types(*exit)).collect();
        let choice = self.cloner.to.build_op(scf::IF).operand(condition).existing_region(yes).existing_region(no);
        let results = selector.iter().chain(types.iter().flatten());
        let values = choice.results(results.cloned()).values()?;
        let mut rest = values.iter().copied();
        let taken = selector.and_then(|_| rest.next());
        let along = reached.iter().zip(&types).map(|(exit, types)| (*exit, rest.by_ref().take(types.len()).collect()));
        Ok(Exits { along: along.collect(), taken })
    }

    /// Emits a branch of an `scf.if`, which yields the number of its exit and the block arguments of all exits in
    /// `reached`.
    fn branch(
        &mut self,
        at: &Operation,
        reached: &[usize],
        code: impl FnOnce(&mut Self) -> Rewritten<Exits>,
    ) -> Rewritten<Region> {
        let (region, around) = self.cloner.to.enter_region(Vec::new());
        let outgoing = code(self)?;
        self.cloner.to.set_location(at.location.clone());
        let mut given = Values::new();
        if reached.len() > 1 {
            given.push(match outgoing.taken {
                Some(taken) => taken,
                None => {
                    let exit = outgoing.along.keys().next().map_or(0, |exit| *exit as i64);
                    self.cloner.to.integer(exit, &TileType::integer(32))?
                }
            });
        }
        for exit in reached {
            match outgoing.along.get(exit) {
                Some(along) => given.extend_from_slice(along),
                None => given.extend(self.poison(*exit)?),
            }
        }
        self.cloner.to.build_op(scf::YIELD).operands("results", &given).build()?;
        self.cloner.to.set_insertion_block(around);
        Ok(region)
    }
}

impl Structurizer<'_, '_, '_, '_> {
    fn index(&self, block: crate::Block) -> usize {
        self.graph.blocks.iter().position(|known| *known == block).unwrap_or(END)
    }

    /// The values that a block takes: its block arguments, then its loop-closed values.
    pub fn incoming_values(&self, index: usize) -> Vec<Value> {
        let block = self.graph.blocks[index];
        self.cloner.from.arguments(block).iter().chain(&self.carried[index]).copied().collect()
    }

    fn bind(&mut self, target: usize, along: &[Value]) {
        self.cloner.bind_all(&self.incoming_values(target), along);
    }

    /// Returns the exits that a branch to the block `target` leads to: the block itself, or the exits of its code.
    fn exits_to(&self, target: usize) -> Vec<usize> {
        if self.waits(target) { vec![target] } else { self.exits[target].clone() }
    }

    /// Returns the types of the values that control passes to an exit; for the end of the region, those of the region's
    /// results.
    fn along_types(&self, exit: usize) -> Vec<TileType> {
        if exit < self.graph.blocks.len() {
            self.cloner.types_of(&self.incoming_values(exit))
        } else {
            self.results.to_vec()
        }
    }

    /// Emits poison for the values of an exit that control does not take.
    fn poison(&mut self, exit: usize) -> Rewritten<Values> {
        let types = self.along_types(exit);
        types.into_iter().map(|ty| Ok(self.cloner.to.build_op(ub::POISON).result(ty).value()?)).collect()
    }

    /// Compares the selector with an exit.
    pub fn emit_is_exit(&mut self, taken: Value, exit: usize) -> Result<Value, BuildError> {
        self.is(taken, exit as i64)
    }

    /// Compares an integer with a constant.
    fn is(&mut self, number: Value, value: i64) -> Result<Value, BuildError> {
        let ty = self.cloner.to.ty(number).clone();
        let value = self.cloner.to.integer(value, &ty)?;
        self.cloner.to.compare("eq", number, value)
    }
}

impl Exits {
    fn one(exit: usize, along: Values) -> Self {
        Self { along: BTreeMap::from([(exit, along)]), taken: None }
    }
}

/// The exits of the code of each block and of its joins.
fn exits(graph: &ControlFlowGraph) -> Vec<Vec<usize>> {
    let mut exits: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
    for index in (0..graph.blocks.len()).rev() {
        let mut outgoing = std::collections::BTreeSet::new();
        for &target in &graph.successors[index] {
            let waits = target <= index
                || graph.forward_predecessors[target] > 1
                || graph.outermost_exited_loop(target).is_some();
            if waits { _ = outgoing.insert(target) } else { outgoing.extend(&exits[target]) }
        }
        if graph.successors[index].is_empty() {
            outgoing.insert(END);
        }
        let is_head = graph.loops.contains_key(&index);
        let behind = graph.blocks_after_loop(index).filter(|_| is_head);
        for join in graph.dominated_merge_blocks(index).chain(behind) {
            if outgoing.remove(&join) {
                outgoing.extend(&exits[join]);
            }
        }
        if is_head {
            outgoing.remove(&index);
        }
        exits[index] = outgoing.into_iter().collect();
    }
    exits
}

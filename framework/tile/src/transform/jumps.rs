//! Jumps between the blocks of a region as choices.
//!
//! A block's code is followed by that of the blocks that several jumps bring to by way of it (its joins). Until then a
//! choice only says where its branches go: the way out. Where there are several such ways, a number tells which one is
//! taken, and each brings the values that its block takes; those of ways that are not taken are poison.
//!
//! A block that is jumped back to begins a loop, whose code is written within an `scf.while`: the jump back is one of the ways
//! out of that code, on which the loop goes on, and the others are where it goes when it has been left.

use crate::op::name::{cf, scf, ub};
use std::collections::BTreeMap;

use super::carried::carried;
use super::copy::{Copier, Rewrite};
use super::graph::Graph;
use super::{Rewritten, violation};
use crate::{Attribute, BuildError, Op, Operation, Region, TileType, Value, Values};

/// The way out of the region; others are the places of blocks.
const END: usize = i32::MAX as usize;

/// Choices may be this deep in each other.
const MOST_DEPTH: usize = 256;

/// Where code may go on.
#[derive(Clone)]
pub(super) struct Ways {
    /// The values that each way takes along, where they are known.
    pub along: BTreeMap<usize, Values>,
    /// Which way is taken, by its place; absent where there is one alone.
    pub taken: Option<Value>,
}

/// Writes the blocks of a region.
pub(super) struct Jumps<'w, 'a, 'b, 'd> {
    pub copier: &'w mut Copier<'a, 'b, 'd>,
    pub graph: Graph,
    /// By block, where its code with all that follows its joins goes.
    exits: Vec<Vec<usize>>,
    /// By block, what it takes of loops that have been left.
    carried: Vec<Vec<Value>>,
    /// The heads of the loops whose code is being written.
    pub open: Vec<usize>,
    results: &'w [TileType],
    rewrite: &'w mut dyn Rewrite,
    depth: usize,
}

impl<'w, 'a, 'b, 'd> Jumps<'w, 'a, 'b, 'd> {
    /// Adds the code of a region, whose arguments are bound, and gives what it ends with.
    pub fn write(
        copier: &'w mut Copier<'a, 'b, 'd>,
        region: Region,
        results: &'w [TileType],
        rewrite: &'w mut dyn Rewrite,
    ) -> Rewritten<Values> {
        let graph = Graph::of(copier.from, region).map_err(|jump| {
            let message = "it jumps back into what is entered elsewhere: a loop is entered at the block that is jumped \
                           back to alone, or written as `scf.for` or `scf.while`";
            violation(copier, jump, message)
        })?;
        if graph.blocks.is_empty() {
            return Ok(Values::new());
        }
        let (exits, carried) = (exits(&graph), carried(copier.from, &graph));
        let mut jumps = Jumps { copier, graph, exits, carried, open: Vec::new(), results, rewrite, depth: 0 };
        let ways = jumps.code(0)?;
        Ok(ways.along.into_values().next().unwrap_or_default())
    }

    /// The code of a block and of its joins; of a loop's head that of the loop, and of what is reached behind it.
    fn code(&mut self, place: usize) -> Rewritten<Ways> {
        if self.graph.loops.contains_key(&place) && !self.open.contains(&place) {
            self.repeated(place)
        } else {
            self.once(place)
        }
    }

    pub fn once(&mut self, place: usize) -> Rewritten<Ways> {
        let from = self.copier.from;
        let Some((last, ops)) = from.ops(self.graph.blocks[place]).split_last() else {
            return Ok(Ways::one(END, Values::new()));
        };
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let message = format!("more than {MOST_DEPTH} jumps are within each other");
            return Err(violation(self.copier, *last, message));
        }
        ops.iter().try_for_each(|op| self.copier.op(*op, self.rewrite))?;
        let mut ways = self.jump(*last)?;
        let joins: Vec<_> = self.graph.joins(place).collect();
        for join in joins {
            ways = self.join(ways, join, from.op(*last))?;
        }
        self.depth -= 1;
        Ok(ways)
    }

    /// What ends a block.
    fn jump(&mut self, op: Op) -> Rewritten<Ways> {
        let operation = self.copier.from.op(op);
        let along = |range: std::ops::Range<usize>| operation.operands.get(range).unwrap_or_default();
        let successors = operation.successors.iter().map(|to| (to.block, along(to.operands.clone())));
        let target = |(block, along)| {
            let (place, mut along) = (self.place(block), self.copier.all(along));
            along.extend(self.carried.get(place).map(|carried| self.copier.all(carried)).unwrap_or_default());
            (place, along)
        };
        let targets: Vec<(usize, Values)> = successors.map(target).collect();
        match (operation.name(), &targets[..]) {
            (ub::UNREACHABLE, _) => {
                let poison = self.poison(END)?;
                Ok(Ways::one(END, poison))
            }
            (_, []) => Ok(Ways::one(END, self.copier.all(&operation.operands))),
            (_, [(target, along)]) => self.go(*target, along),
            (cf::COND_BR, [yes, no]) => {
                let condition = self.copier.value(operation.operands[0]);
                let reached = [yes, no].into_iter().flat_map(|(target, _)| self.ways_to(*target)).collect();
                let go = |(target, along): &(usize, Values)| {
                    let (target, along) = (*target, along.clone());
                    move |jumps: &mut Self| jumps.go(target, &along)
                };
                self.either(operation, condition, reached, go(yes), go(no))
            }
            (_, targets) => self.switch(op, targets),
        }
    }

    /// One jump for each number, and the first where it is none of them.
    fn switch(&mut self, op: Op, targets: &[(usize, Values)]) -> Rewritten<Ways> {
        let operation = self.copier.from.op(op);
        let numbers = match operation.attributes.get("case_values") {
            Some(Attribute::Dense(dense)) => dense.elements.to_vec(),
            Some(Attribute::List(list)) => {
                list.iter().filter_map(|one| one.as_integer().map(|one| one as u64)).collect()
            }
            _ => Vec::new(),
        };
        if numbers.len() + 1 != targets.len() {
            return Err(violation(self.copier, op, "it has not one number for each case"));
        }
        let flag = self.copier.value(operation.operands[0]);
        self.cases(operation, flag, &numbers, targets)
    }

    fn cases(
        &mut self,
        operation: &Operation,
        flag: Value,
        numbers: &[u64],
        targets: &[(usize, Values)],
    ) -> Rewritten<Ways> {
        let (Some(number), [default, first, ..]) = (numbers.first(), targets) else {
            return self.go(targets[0].0, &targets[0].1);
        };
        let is = self.is(flag, *number as i64)?;
        let others: Vec<_> = std::iter::once(default).chain(&targets[2..]).cloned().collect();
        let first = first.clone();
        let reached = others.iter().chain([&first]).flat_map(|(target, _)| self.ways_to(*target)).collect();
        let yes = |jumps: &mut Self| jumps.go(first.0, &first.1);
        let no = |jumps: &mut Self| jumps.cases(operation, flag, &numbers[1..], &others);
        self.either(operation, is, reached, yes, no)
    }

    /// Goes on at a block: with its code, where no other jump comes there.
    fn go(&mut self, target: usize, along: &[Value]) -> Rewritten<Ways> {
        if self.waits(target) {
            return Ok(Ways::one(target, along.into()));
        }
        self.bind(target, along);
        self.code(target)
    }

    /// Whether a block's code is not written where it is jumped to: several jumps go there, or it is behind a loop that is to be left,
    /// or it is the head of the loop that is being written.
    fn waits(&self, target: usize) -> bool {
        self.graph.entered[target] > 1 || self.graph.left(target).is_some() || self.open.contains(&target)
    }

    /// A block that several jumps go to, where some of the ways lead.
    pub fn join(&mut self, mut ways: Ways, join: usize, at: &Operation) -> Rewritten<Ways> {
        let Some(along) = ways.along.remove(&join) else { return Ok(ways) };
        if ways.along.is_empty() {
            self.bind(join, &along);
            return self.code(join);
        }
        let Some(taken) = ways.taken else { return Ok(ways) };
        let here = self.is_way(taken, join)?;
        let reached = ways.along.keys().chain(&self.exits[join]).copied().collect();
        let yes = |jumps: &mut Self| {
            jumps.bind(join, &along);
            jumps.code(join)
        };
        self.either(at, here, reached, yes, |_| Ok(ways))
    }

    /// A choice of two, which both go one of the ways in `reached`.
    fn either(
        &mut self,
        at: &Operation,
        condition: Value,
        mut reached: Vec<usize>,
        yes: impl FnOnce(&mut Self) -> Rewritten<Ways>,
        no: impl FnOnce(&mut Self) -> Rewritten<Ways>,
    ) -> Rewritten<Ways> {
        reached.sort_unstable();
        reached.dedup();
        let yes = self.branch(at, &reached, yes)?;
        let no = self.branch(at, &reached, no)?;
        self.copier.to.located(at.location.clone());
        let selector = (reached.len() > 1).then(|| TileType::integer(32));
        let types: Vec<_> = reached.iter().map(|way| self.along_types(*way)).collect();
        let choice = self.copier.to.op(scf::IF).operand(condition).made_region(yes).made_region(no);
        let results = selector.iter().chain(types.iter().flatten());
        let values = choice.results(results.cloned()).values()?;
        let mut rest = values.iter().copied();
        let taken = selector.and_then(|_| rest.next());
        let along = reached.iter().zip(&types).map(|(way, types)| (*way, rest.by_ref().take(types.len()).collect()));
        Ok(Ways { along: along.collect(), taken })
    }

    /// A branch of a choice, which gives the way that it goes.
    fn branch(
        &mut self,
        at: &Operation,
        reached: &[usize],
        code: impl FnOnce(&mut Self) -> Rewritten<Ways>,
    ) -> Rewritten<Region> {
        let (region, around) = self.copier.to.enter_region(Vec::new());
        let ways = code(self)?;
        self.copier.to.located(at.location.clone());
        let mut given = Values::new();
        if reached.len() > 1 {
            given.push(match ways.taken {
                Some(taken) => taken,
                None => {
                    let way = ways.along.keys().next().map_or(0, |way| *way as i64);
                    self.copier.to.integer(way, &TileType::integer(32))?
                }
            });
        }
        for way in reached {
            match ways.along.get(way) {
                Some(along) => given.extend_from_slice(along),
                None => given.extend(self.poison(*way)?),
            }
        }
        self.copier.to.op(scf::YIELD).operands("results", &given).done()?;
        self.copier.to.at(around);
        Ok(region)
    }
}

impl Jumps<'_, '_, '_, '_> {
    fn place(&self, block: crate::Block) -> usize {
        self.graph.blocks.iter().position(|known| *known == block).unwrap_or(END)
    }

    /// What a block takes: its arguments, and what it needs of loops that have been left.
    pub fn takes(&self, place: usize) -> Vec<Value> {
        let block = self.graph.blocks[place];
        self.copier.from.arguments(block).iter().chain(&self.carried[place]).copied().collect()
    }

    fn bind(&mut self, target: usize, along: &[Value]) {
        self.copier.bind_all(&self.takes(target), along);
    }

    /// Where a jump to a block goes in the end.
    fn ways_to(&self, target: usize) -> Vec<usize> {
        if self.waits(target) { vec![target] } else { self.exits[target].clone() }
    }

    /// The types of what a way takes along.
    fn along_types(&self, way: usize) -> Vec<TileType> {
        if way < self.graph.blocks.len() { self.copier.types(&self.takes(way)) } else { self.results.to_vec() }
    }

    /// Values for a way that is not taken.
    fn poison(&mut self, way: usize) -> Rewritten<Values> {
        let types = self.along_types(way);
        types.into_iter().map(|ty| Ok(self.copier.to.op(ub::POISON).result(ty).value()?)).collect()
    }

    /// Whether the way that is taken is this one.
    pub fn is_way(&mut self, taken: Value, way: usize) -> Result<Value, BuildError> {
        self.is(taken, way as i64)
    }

    /// Whether a number is this one.
    fn is(&mut self, number: Value, value: i64) -> Result<Value, BuildError> {
        let ty = self.copier.to.ty(number).clone();
        let value = self.copier.to.integer(value, &ty)?;
        self.copier.to.compare("eq", number, value)
    }
}

impl Ways {
    fn one(way: usize, along: Values) -> Self {
        Self { along: BTreeMap::from([(way, along)]), taken: None }
    }
}

/// Where each block's code goes, with that of its joins.
fn exits(graph: &Graph) -> Vec<Vec<usize>> {
    let mut exits: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
    for place in (0..graph.blocks.len()).rev() {
        let mut ways = std::collections::BTreeSet::new();
        for &target in &graph.successors[place] {
            let waits = target <= place || graph.entered[target] > 1 || graph.left(target).is_some();
            if waits { _ = ways.insert(target) } else { ways.extend(&exits[target]) }
        }
        if graph.successors[place].is_empty() {
            ways.insert(END);
        }
        let is_head = graph.loops.contains_key(&place);
        let behind = graph.behind(place).filter(|_| is_head);
        for join in graph.joins(place).chain(behind) {
            if ways.remove(&join) {
                ways.extend(&exits[join]);
            }
        }
        if is_head {
            ways.remove(&place);
        }
        exits[place] = ways.into_iter().collect();
    }
    exits
}

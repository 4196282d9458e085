//! What the blocks of a solved program do, for the model: plans of movement and of products, counted where they stand.
//!
//! A turn of a loop is as often as its bounds say, where they are numbers. The block meets where the program says so, and
//! where a tensor in shared memory is read that was written since, or written that was read since.

use std::collections::{BTreeSet, HashMap};

use super::model::{Block, Step, Work};
use super::predicted::blocks;
use super::registers::live;
use super::{SynthesisError, place};
use crate::contract::{Contraction, ContractionCost};
use crate::engine::effort::Effort;
use crate::engine::facts::Facts;
use crate::engine::graph::Kind;
use crate::engine::layouts::Layouts;
use crate::engine::memory::moved_bits;
use crate::engine::{LOOP_WEIGHT, Machine};
use crate::movement::convert;
use crate::target::Direction;
use crate::tile::{Body, Op, Origin, Region, Type, Value};

/// How an access of a tensor in shared memory goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// Accesses of a warp.
    pub issued: u64,
    /// Wavefronts of a warp.
    pub wavefronts: u64,
    /// Whether a row does it, so that a copy from global memory goes past the registers.
    pub by_row: bool,
}

/// A program whose tensors all have a layout.
pub(super) struct Solved<'s, 'm> {
    pub body: &'s Body,
    pub facts: &'s Facts,
    pub machine: &'s Machine<'m>,
    pub layouts: &'s Layouts<'s>,
    /// How accesses of shared memory go.
    pub moved: &'s HashMap<Op, Moved>,
    /// The plans of products.
    pub plans: &'s HashMap<Op, Contraction>,
}

impl Solved<'_, '_> {
    /// The blocks of a launch of the program, each of which takes so many bytes of shared memory.
    pub(super) fn blocks(&self, shared_bytes: u64, launched: Option<u64>) -> Result<Block, SynthesisError> {
        let steps = self.region(self.body.root(), &mut Since::default())?;
        let registers = live(self.body, self.layouts)?;
        Ok(Block { registers, shared_bytes, ..blocks(self.machine, launched, steps) })
    }

    fn region(&self, region: Region, since: &mut Since) -> Result<Vec<Step>, SynthesisError> {
        let mut steps = Vec::new();
        for block in self.body.blocks(region) {
            for &op in self.body.ops(*block) {
                let operation = self.body.op(op);
                if operation.name() == "scf.for" {
                    let (body, stages) = (operation.regions[0], self.stages(op));
                    let around = std::mem::replace(&mut since.ahead, stages > 1);
                    // What a turn leaves behind is what the next one finds.
                    self.region(body, since)?;
                    let body = self.region(body, since)?;
                    since.ahead = around;
                    steps.push(Step::Loop { trips: self.trips(op), stages, body });
                    continue;
                }
                let work = self.work(op, since)?;
                if work != Work::default() {
                    steps.push(Step::Work(work));
                }
                if !matches!(operation.name(), "tt.reduce" | "tt.scan") {
                    for &inner in &operation.regions {
                        steps.extend(self.region(inner, since)?);
                    }
                }
            }
        }
        Ok(steps)
    }

    fn trips(&self, op: Op) -> u64 {
        trips(self.body, self.facts, op)
    }

    /// The buffers of what a loop copies ahead.
    fn stages(&self, op: Op) -> u64 {
        let inside = self.body.op(op).regions.iter().flat_map(|region| self.body.walk(*region));
        let copies = inside.filter(|op| self.body.op(*op).name() == "ttg.async_copy_global_to_local");
        copies.filter_map(|op| self.buffers(self.body.operand(op, "result")?)).max().unwrap_or(1)
    }

    /// How many buffers there are of which a value is one.
    fn buffers(&self, value: Value) -> Option<u64> {
        let whole = place::whole(self.body, value);
        (whole != value).then(|| self.body.ty(whole).shape()?.first().copied())?
    }

    fn work(&self, op: Op, since: &mut Since) -> Result<Work, SynthesisError> {
        let operation = self.body.op(op);
        let moved = || self.moved.get(&op).copied().unwrap_or_default();
        Ok(match operation.name() {
            "tt.dot" => self.plans.get(&op).map(|plan| multiplied(&plan.cost, self.machine)).unwrap_or_default(),
            "ttg.local_load" => {
                let Moved { issued, wavefronts, .. } = moved();
                let barriers = self.meeting(since, operation.operands[0], Direction::Load);
                Work { shared_accesses: issued, wavefronts_loaded: wavefronts, barriers, ..Work::default() }
            }
            "ttg.local_store" => {
                let Moved { issued, wavefronts, .. } = moved();
                let barriers = self.meeting(since, operation.operands[1], Direction::Store);
                Work { shared_accesses: issued, wavefronts_stored: wavefronts, barriers, ..Work::default() }
            }
            // What is copied before the loop is what its last turns do not copy anymore.
            "ttg.async_copy_global_to_local" if !since.ahead && self.buffers(operation.operands[1]).is_some() => {
                Work::default()
            }
            "ttg.async_copy_global_to_local" => {
                let Moved { issued, wavefronts, by_row } = moved();
                let filled = self.body.operand(op, "result").unwrap_or(operation.operands[1]);
                let barriers = self.meeting(since, filled, Direction::Store);
                let read = self.effort(op, Direction::Load)?;
                Work { shared_accesses: issued, wavefronts_stored: wavefronts, barriers, asynchronous: by_row, ..read }
            }
            "ttg.barrier" => {
                since.meet();
                Work { barriers: 1, ..Work::default() }
            }
            "ttg.convert_layout" => self.converted(op)?,
            "tt.store" | "tt.atomic_rmw" | "tt.atomic_cas" | "tt.atomic_store" => self.effort(op, Direction::Store)?,
            _ => self.effort(op, Direction::Load)?,
        })
    }

    /// What plans say of an operation that accesses global memory, combines, or works on each element.
    fn effort(&self, op: Op, direction: Direction) -> Result<Work, SynthesisError> {
        let operation = self.body.op(op);
        let first = operation.operands.iter().chain(&operation.results).find(|value| self.is_tensor(**value));
        let Some(&first) = first else { return Ok(Work::default()) };
        let kind = match operation.name() {
            "tt.reduce" | "tt.scan" => Kind::along_an_axis(self.body, op),
            "tt.load" | "tt.atomic_load" | "ttg.async_copy_global_to_local" => {
                Kind::of_access(self.body, self.facts, op, Direction::Load)
            }
            _ if direction == Direction::Store => Kind::of_access(self.body, self.facts, op, direction),
            _ if operation.definition.traits.elementwise && !is_place(self.body.ty(operation.results[0])) => {
                Kind::elementwise(operation)
            }
            _ => return Ok(Work::default()),
        };
        let effort = Effort::of(&kind, &self.layouts.distributed(self.body.ty(first))?, self.machine)?;
        let moves = Work::of_counts(&effort.counts, 0, 0.0);
        let arithmetic = moves.arithmetic + effort.plain.ceil() as u64;
        Ok(Work { global_accesses: effort.accesses, global_bytes: effort.bytes, arithmetic, ..moves })
    }

    fn converted(&self, op: Op) -> Result<Work, SynthesisError> {
        let operation = self.body.op(op);
        let [from, to] = [operation.operands[0], operation.results[0]].map(|value| self.body.ty(value));
        let layouts = [self.layouts.distributed(from)?, self.layouts.distributed(to)?];
        let plan = convert(&layouts[0], &layouts[1], moved_bits(from), self.machine.means)?;
        Ok(Work::of_counts(&plan.counts, 0, 0.0))
    }

    fn is_tensor(&self, value: Value) -> bool {
        matches!(self.body.ty(value), Type::Tensor(_))
    }

    /// How often the block meets before a tensor is accessed. Buffers that a loop goes round are kept apart by its own meeting.
    fn meeting(&self, since: &mut Since, accessed: Value, direction: Direction) -> u64 {
        if self.buffers(accessed).is_some() {
            return 0;
        }
        let tensor = place::whole(self.body, accessed);
        let meets = match direction {
            Direction::Load => since.written.contains(&tensor),
            Direction::Store => since.read.contains(&tensor),
        };
        if meets {
            since.meet();
        }
        match direction {
            Direction::Load => since.read.insert(tensor),
            Direction::Store => since.written.insert(tensor),
        };
        u64::from(meets)
    }
}

/// What was done with tensors in shared memory since the block met, and where that is.
#[derive(Debug, Default)]
struct Since {
    /// Whether it is a turn of a loop that copies ahead.
    ahead: bool,
    written: BTreeSet<Value>,
    read: BTreeSet<Value>,
}

impl Since {
    fn meet(&mut self) {
        self.written.clear();
        self.read.clear();
    }
}

/// What a product does: its plan says for how long all its issues occupy the pipes, the model asks for one issue of one warp.
pub(super) fn multiplied(cost: &ContractionCost, machine: &Machine<'_>) -> Work {
    let target = machine.means.target;
    let pipes = target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
    let share = f64::from(pipes) / f64::from(machine.warps) / cost.issues.max(1) as f64;
    let casts = cost.cast_cycles / target.costs.select.cycles.max(f64::MIN_POSITIVE) / f64::from(machine.warps);
    Work {
        matrix_instructions: cost.issues,
        matrix_cycles: cost.issue_cycles * share,
        arithmetic: casts.ceil() as u64,
        ..Work::default()
    }
}

/// How often a loop turns.
pub(super) fn trips(body: &Body, facts: &Facts, op: Op) -> u64 {
    known_trips(body, facts, op).unwrap_or(LOOP_WEIGHT)
}

/// The same where the bounds are numbers.
pub(in crate::engine) fn known_trips(body: &Body, facts: &Facts, op: Op) -> Option<u64> {
    let bound = |number: usize| facts.get(body.op(op).operands[number])?.range.single();
    match (bound(0)?, bound(1)?, bound(2)?) {
        (begin, end, step) if step > 0 => {
            Some(u64::try_from(end.saturating_sub(begin)).unwrap_or(0).div_ceil(step as u64))
        }
        _ => None,
    }
}

/// How often an operation happens: the turns of all loops that it stands in.
pub(super) fn times(body: &Body, facts: &Facts, op: Op) -> u64 {
    let mut times = 1u64;
    for of in body.walk(body.root()).into_iter().filter(|of| body.op(*of).name() == "scf.for") {
        if body.op(of).regions.iter().any(|region| body.walk(*region).contains(&op)) {
            times = times.saturating_mul(trips(body, facts, of));
        }
    }
    times
}

/// Whether values of a type are addresses, or tell which elements are there: they are computed with immediates, once.
fn is_place(ty: &Type) -> bool {
    matches!(ty.element(), Type::Pointer(_)) || matches!(ty.element(), Type::Integer(1, _))
}

/// Whether a value follows from ranges and constants alone, so that it is computed where it is used.
pub(super) fn is_free(body: &Body, value: Value) -> bool {
    match body.origin(value) {
        Origin::Argument(..) => false,
        Origin::Result(op, _) => {
            let operation = body.op(op);
            let tensors = operation.operands.iter().filter(|value| matches!(body.ty(**value), Type::Tensor(_)));
            operation.definition.traits.pure
                && operation.regions.is_empty()
                && operation.name() != "ttg.convert_layout"
                && tensors.into_iter().all(|value| is_free(body, *value))
        }
    }
}

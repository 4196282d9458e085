//! What the blocks of a solved program do, for the model: plans of movement and of products, counted where they stand.
//!
//! A turn of a loop is as often as its bounds say, where they are numbers. The block meets where the program says so, and
//! where a tensor in shared memory is read that was written since, or written that was read since.

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, tt, ttg, tw};

use super::SynthesisError;
use super::accesses::buffer_count;
use super::meeting::Since;
use super::model::{Block, ModelStep, Work};
use super::often::trips;
use super::predicted::blocks;
use super::registers::live;
use super::solved::Solved;
use crate::LaunchConfig;
use crate::graph::Kind;
use crate::memory::moved_bits;
use crate::op_costs::OpCosts;
use tilewright_plan::contract::ContractionCost;
use tilewright_plan::movement::{access_global, convert};
use tilewright_target::{BankRow, Direction};
use tilewright_tile::marks::{AHEAD, PENDING};
use tilewright_tile::{Attribute, Op, Region, TileType};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

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

/// A solved program, and what of it is counted elsewhere.
pub(super) struct Counted<'s, 'm> {
    pub program: Solved<'s, 'm>,
    /// How accesses of shared memory go.
    pub moved: &'s HashMap<Op, Moved>,
}

impl Counted<'_, '_> {
    /// The blocks of a launch of the program, each of which takes so many bytes of shared memory.
    pub(super) fn blocks(&self, shared_bytes: u64, launched: Option<u64>) -> Result<Block, SynthesisError> {
        let steps = self.region(self.program.body.root(), &mut Since::default())?;
        let registers = live(self.program.body, self.program.layouts)?;
        let producers = self.producers();
        Ok(Block { registers, shared_bytes, producers, ..blocks(self.program.machine, launched, steps) })
    }

    /// Warps that do nothing but issue copies.
    fn producers(&self) -> u64 {
        let body = self.program.body;
        let groups = body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
        let warps = groups.map(|op| match body.op(op).attributes.get("partitionNumWarps") {
            Some(Attribute::Array(_, warps)) => warps.iter().sum(),
            _ => 0,
        });
        warps.max().unwrap_or(0)
    }

    fn region(&self, region: Region, since: &mut Since) -> Result<Vec<ModelStep>, SynthesisError> {
        let mut steps = Vec::new();
        for block in self.program.body.blocks(region) {
            for &op in self.program.body.ops(*block) {
                let operation = self.program.body.op(op);
                if operation.name() == scf::FOR {
                    let (body, stages) = (operation.regions[0], self.stages(op));
                    let around = std::mem::replace(&mut since.ahead, stages > 1);
                    // What a turn leaves behind is what the next one finds.
                    self.region(body, since)?;
                    let body = self.region(body, since)?;
                    since.ahead = around;
                    steps.push(ModelStep::Loop {
                        trips: trips(self.program.body, self.program.facts, op),
                        stages,
                        body,
                    });
                    continue;
                }
                if operation.name() == GROUPS {
                    steps.extend(self.groups(op, since)?);
                    continue;
                }
                let work = self.work(op, since)?;
                if work != Work::default() {
                    steps.push(ModelStep::Work(work));
                }
                if !matches!(operation.name(), tt::REDUCE | tt::SCAN) {
                    for &inner in &operation.regions {
                        steps.extend(self.region(inner, since)?);
                    }
                }
            }
        }
        Ok(steps)
    }

    /// What groups of warps do beside each other: the first one's loop is there for the turns, others issue what it copies. All
    /// meet before and after.
    fn groups(&self, op: Op, since: &mut Since) -> Result<Vec<ModelStep>, SynthesisError> {
        let body = self.program.body;
        let Some((first, others)) = body.op(op).regions.split_first() else { return Ok(Vec::new()) };
        since.meet();
        let mut steps = self.region(*first, since)?;
        since.meet();
        let is_box = |op: &Op| body.op(*op).name() == tw::LOAD_BOX;
        let boxes: Vec<Op> = others.iter().flat_map(|region| body.walk(*region)).filter(is_box).collect();
        let brought = boxes.iter().map(|op| ModelStep::Work(Work { produced: true, ..self.boxed(*op) }));
        let inside = || body.walk(*first).into_iter();
        let buffers = boxes.iter().filter_map(|op| buffer_count(body, body.operand(*op, "dst")?)).max().unwrap_or(1);
        for step in &mut steps {
            if let ModelStep::Loop { stages, body, .. } = step {
                body.extend(brought);
                // What products that go on still read is not filled yet.
                *stages = buffers - u64::from(inside().any(|op| self.goes_on(op)));
                break;
            }
        }
        steps.push(ModelStep::Work(Work { barriers: 2, ..Work::default() }));
        Ok(steps)
    }

    /// For how many turns what a loop copies is under way together: as many as there are buffers, but what registers hold is
    /// stored in its turn.
    fn stages(&self, op: Op) -> u64 {
        let inside = || self.program.body.op(op).regions.iter().flat_map(|region| self.program.body.walk(*region));
        if inside().any(|op| self.goes_ahead(op)) {
            return 2;
        }
        let filled = |op: Op| match self.program.body.op(op).name() {
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => self.program.body.operand(op, "result"),
            tw::LOAD_BOX => self.program.body.operand(op, "dst"),
            _ => None,
        };
        let buffers = inside().filter_map(|op| buffer_count(self.program.body, filled(op)?)).max();
        // What products that go on still read is not filled yet.
        buffers.unwrap_or(1) - u64::from(inside().any(|op| self.goes_on(op)))
    }

    /// Whether an operation is a product that goes on while the next turn begins.
    fn goes_on(&self, op: Op) -> bool {
        self.program.body.op(op).attributes.get(PENDING).is_some()
    }

    /// Whether an operation is a load for a later turn.
    fn goes_ahead(&self, op: Op) -> bool {
        self.program.body.op(op).attributes.get(AHEAD).is_some()
    }

    fn work(&self, op: Op, since: &mut Since) -> Result<Work, SynthesisError> {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        let moved = || self.moved.get(&op).copied().unwrap_or_default();
        Ok(match operation.name() {
            tt::DOT => {
                let plan = self.program.plans.get(&op);
                let work = plan.map(|plan| multiplied(&plan.cost, self.program.machine)).unwrap_or_default();
                Work { pending: self.goes_on(op), ..work }
            }
            ttg::LOCAL_LOAD => {
                let Moved { issued, wavefronts, .. } = moved();
                let barriers = since.meets_before(body, operation.operands[0], Direction::Load);
                Work { shared_accesses: issued, wavefronts_loaded: wavefronts, barriers, ..Work::default() }
            }
            // What is copied before the loop is what its last turns do not copy anymore.
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL | ttg::LOCAL_STORE
                if !since.ahead && buffer_count(self.program.body, operation.operands[1]).is_some() =>
            {
                Work::default()
            }
            ttg::LOCAL_STORE => {
                let Moved { issued, wavefronts, .. } = moved();
                let barriers = since.meets_before(body, operation.operands[1], Direction::Store);
                Work { shared_accesses: issued, wavefronts_stored: wavefronts, barriers, ..Work::default() }
            }
            tt::LOAD if self.goes_ahead(op) => match since.ahead {
                true => Work { asynchronous: true, ..self.op_costs(op, Direction::Load)? },
                false => Work::default(),
            },
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                let Moved { issued, wavefronts, by_row } = moved();
                let filled = self.program.body.operand(op, "result").unwrap_or(operation.operands[1]);
                let barriers = since.meets_before(body, filled, Direction::Store);
                let read = self.op_costs(op, Direction::Load)?;
                Work { shared_accesses: issued, wavefronts_stored: wavefronts, barriers, asynchronous: by_row, ..read }
            }
            // A warp says that it has read a buffer.
            tw::MBARRIER_ARRIVE => Work { shared_accesses: 1, ..Work::default() },
            tw::LOAD_BOX if !since.ahead => Work::default(),
            tw::LOAD_BOX => self.boxed(op),
            ttg::BARRIER => {
                since.meet();
                Work { barriers: 1, ..Work::default() }
            }
            ttg::CONVERT_LAYOUT => self.converted(op)?,
            tt::STORE | tt::ATOMIC_RMW | tt::ATOMIC_CAS | tt::ATOMIC_STORE => self.op_costs(op, Direction::Store)?,
            _ => self.op_costs(op, Direction::Load)?,
        })
    }

    /// What a copy by boxes does: one warp issues it, bytes are written to shared memory as a full wavefront has them.
    fn boxed(&self, op: Op) -> Work {
        let ty = self.program.body.operand(op, "dst").map(|buffer| self.program.body.ty(buffer));
        let bytes = ty.map_or(0, |ty| {
            let elements: u64 = ty.shape().unwrap_or_default().iter().product();
            elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
        });
        let machine = self.program.machine;
        let rows = &machine.context.target.shared.banks;
        let wavefront = rows.iter().map(BankRow::wavefront_bytes).max().unwrap_or(1).max(1);
        let issued = self.moved.get(&op).map_or(1, |moved| moved.issued);
        Work {
            global_bytes: bytes,
            global_accesses: issued.div_ceil(machine.warps.into()),
            wavefronts_stored: bytes.div_ceil(wavefront).div_ceil(machine.warps.into()),
            asynchronous: true,
            ..Work::default()
        }
    }

    /// What plans say of an operation that accesses global memory, combines, or works on each element.
    fn op_costs(&self, op: Op, direction: Direction) -> Result<Work, SynthesisError> {
        let operation = self.program.body.op(op);
        let first = operation.operands.iter().chain(&operation.results).find(|value| self.program.is_tensor(**value));
        let Some(&first) = first else { return Ok(Work::default()) };
        let kind = match operation.name() {
            tt::REDUCE | tt::SCAN => Kind::along_an_axis(self.program.body, op),
            tt::LOAD | tt::ATOMIC_LOAD | ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                Kind::of_access(self.program.body, self.program.facts, op, Direction::Load)
            }
            _ if direction == Direction::Store => Kind::of_access(self.program.body, self.program.facts, op, direction),
            _ if operation.definition.traits.elementwise && !is_place(self.program.body.ty(operation.results[0])) => {
                Kind::elementwise(operation)
            }
            _ => return Ok(Work::default()),
        };
        let layout = self.program.layout(first)?;
        let op_costs = OpCosts::of(&kind, &layout, self.program.machine)?;
        let moves = Work::of_counts(&op_costs.counts, 0, 0.0);
        let arithmetic = moves.arithmetic + op_costs.plain.ceil() as u64;
        let global_bytes = match &kind {
            Kind::Access(access) => {
                // What several threads read is brought to the block once, as what they store is stored once.
                let named = &access.named;
                let target = self.program.machine.context.target;
                let once = access_global(&layout, &named.tensor, named.bits, Direction::Store, target)?;
                op_costs.bytes.min(once.transactions * u64::from(target.global.transaction_bytes))
            }
            _ => op_costs.bytes,
        };
        Ok(Work { global_accesses: op_costs.accesses, global_bytes, arithmetic, ..moves })
    }

    fn converted(&self, op: Op) -> Result<Work, SynthesisError> {
        let operation = self.program.body.op(op);
        let [from, to] = [operation.operands[0], operation.results[0]].map(|value| self.program.body.ty(value));
        let layouts = [self.program.layouts.distributed(from)?, self.program.layouts.distributed(to)?];
        let plan = convert(&layouts[0], &layouts[1], moved_bits(from), self.program.machine.context)?;
        Ok(Work::of_counts(&plan.stats.counts, 0, 0.0))
    }
}

/// What a product does: its plan says for how long all its issues occupy the pipes, the model asks for one issue of one warp.
pub(super) fn multiplied(cost: &ContractionCost, machine: &LaunchConfig<'_>) -> Work {
    let target = machine.context.target;
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

/// Whether values of a type are addresses, or tell which elements are there: they are computed with immediates, once.
fn is_place(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Pointer(_)) || matches!(ty.element(), TileType::Integer(1, _))
}

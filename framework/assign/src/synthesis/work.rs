//! Counts the work of a thread block of a solved program for the performance model, from the plans of data movement and
//! dots.
//!
//! A loop counts by its trip count if that is constant or follows from the launch, else by [`crate::LOOP_WEIGHT`].
//! Counted block barriers are the barriers of the program, and the barriers that lowering inserts between a write to a
//! tensor in shared memory and a later read (RAW), or between a read and the next write (WAR).

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, tt, ttg, tw};

use super::SynthesisError;
use super::accesses::{AccessCounts, buffer_count};
use super::implied_barriers::BarrierState;
use super::iteration_count::{iteration_count, mean_iteration_count};
use super::loads_in_flight::LoadsInFlight;
use super::model::{ModelLaunch, ModelStep, Pipelining, StepWork};
use super::operand_work::OperandWork;
use super::predicted::{blocks, registers_per_lane};
use super::prefetched::{PrefetchedLoads, is_load};
use super::registers::{RegisterPressure, StepOperand, find_step_operands, live};
use super::solved::Solved;
use crate::LaunchConfig;
use crate::dot_plan::is_smem_operand;
use crate::graph::{Access, Kind};
use crate::memory::{describe_descriptor_global_tensor, element_bits_while_moved};
use crate::op_costs::OpCosts;
use tilewright_layout::Dim;
use tilewright_plan::mma::MmaCost;
use tilewright_plan::movement::{CACHE_LINE_BYTES, plan_conversion, plan_global_access};
use tilewright_target::{BankTableEntry, Direction};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op_attrs::{BEGINS_EXCLUSIVE, ENDS_EXCLUSIVE, IS_PENDING, OPERAND_STAYS_IN_SMEM};
use tilewright_tile::{Attribute, MemDescType, Op, Region, TileType, Value, ValueOrigin};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

/// Counts the work of a solved program, from the counts of its shared-memory accesses.
pub(super) struct WorkCounter<'s, 'm> {
    program: Solved<'s, 'm>,
    /// The counts of each shared-memory access, by the operation that makes it.
    moved: &'s HashMap<Op, AccessCounts>,
    pressure: RegisterPressure,
    /// The tensors of dots' operands whose K steps code generators load as late as possible.
    step_operands: HashMap<Value, StepOperand>,
    prefetched: PrefetchedLoads,
    /// The axis information of a launch whose arguments are known; `None` if only the program is known.
    launch_info: Option<&'s AxisInfoMap>,
}

impl<'s, 'm> WorkCounter<'s, 'm> {
    /// Creates the counter of a program; the fields are those of the same names.
    pub(super) fn new(
        program: Solved<'s, 'm>,
        moved: &'s HashMap<Op, AccessCounts>,
        launch_info: Option<&'s AxisInfoMap>,
    ) -> Result<Self, SynthesisError> {
        let pressure = live(program.body, program.axis_info, program.layouts, program.plans)?;
        let step_operands = find_step_operands(program.body, program.plans);
        let prefetched = PrefetchedLoads::of(program.body);
        Ok(Self { program, moved, pressure, step_operands, prefetched, launch_info })
    }

    /// Returns the launch of the program's blocks; each block takes `shared_bytes` bytes of shared memory. `launched`
    /// is the number of blocks, `None` for an assumed one.
    pub(super) fn blocks(&self, shared_bytes: u64, launched: Option<u64>) -> Result<ModelLaunch, SynthesisError> {
        let steps = self.region(self.program.body.root(), &mut BarrierState::new(self.program.body))?;
        let (registers, producers) = (self.registers_per_lane(), self.producers());
        Ok(ModelLaunch { registers, shared_bytes, producers, ..blocks(self.program.config, launched, steps) })
    }

    /// Returns the number of registers of a lane: if producers hand theirs over, the mean, with which the block is
    /// launched.
    fn registers_per_lane(&self) -> u64 {
        let Some([own, of_producers]) = self.partition_registers() else { return self.pressure.registers() };
        let (consumers, producers) = (u64::from(self.program.config.warps), self.producers());
        (own * consumers + of_producers * producers).div_ceil(consumers + producers)
    }

    /// Returns the numbers in an attribute of each operation with partitions of warps.
    fn partition_numbers(&self, name: &str) -> Vec<Vec<u64>> {
        let body = self.program.body;
        let groups = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
        let numbers = groups.filter_map(|op| match body.op(op).attributes.get(name) {
            Some(Attribute::Array(_, numbers)) => Some(numbers.clone()),
            _ => None,
        });
        numbers.collect()
    }

    /// Returns the number of producer warps, which only issue copies, with the idle warps that complete the warp group
    /// of producers that hand registers over.
    fn producers(&self) -> u64 {
        let config = self.program.config;
        let partitions = self.partition_numbers("partitionNumWarps");
        let warps = partitions.iter().map(|warps| warps.iter().sum()).max().unwrap_or(0);
        let change = config.context.target.limits.register_reallocation;
        match change.filter(|_| self.partition_registers().is_some()) {
            Some(change) => {
                let (consumers, together) = (u64::from(config.warps), (change.lanes / config.lanes).max(1));
                (consumers + warps).next_multiple_of(together.into()) - consumers
            }
            None => warps,
        }
    }

    /// Returns the registers of a lane of the consumer warps, and of the producer warps, if these hand registers over.
    fn partition_registers(&self) -> Option<[u64; 2]> {
        self.partition_numbers("actualRegisters").into_iter().find_map(|numbers| numbers.try_into().ok())
    }

    fn region(&self, region: Region, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let mut steps = Vec::new();
        let mut waited = LoadsInFlight::default();
        let mut operands = OperandWork::default();
        for block in self.program.body.blocks(region) {
            for &op in self.program.body.ops(*block) {
                let operation = self.program.body.op(op);
                waited.wait_before(operation);
                let spilled_registers = self.count_spilled(op);
                if spilled_registers > 0 && matches!(operation.name(), scf::FOR | GROUPS) {
                    steps.push(ModelStep::Work(StepWork { spilled_registers, ..StepWork::default() }));
                }
                if operation.name() == scf::FOR {
                    let (body, (pipelining, is_pipelined)) = (operation.regions[0], self.pipelining(op));
                    let ping_pong = self.ping_pong(body);
                    since.is_exclusive = ping_pong.is_some_and(|ping_pong| ping_pong.lasts);
                    let around = std::mem::replace(&mut since.is_pipelined, is_pipelined);
                    since.enter_loop(self.program.body, op);
                    // Walk the loop body twice and keep the steps of the second pass, which begins with the hazards
                    // that an iteration leaves for the next one.
                    self.region(body, since)?;
                    let body = self.region(body, since)?;
                    (since.is_pipelined, since.is_exclusive) = (around, false);
                    let groups = ping_pong.map_or(1, |ping_pong| ping_pong.groups);
                    if groups > 1 && has_barrier(&body) {
                        let target = self.program.config.context.target.name.clone();
                        return Err(SynthesisError::NoPingPong { target });
                    }
                    let pipelining = Pipelining { groups, ..pipelining };
                    steps.push(ModelStep::Loop { iteration_count: self.iteration_count(op), pipelining, body });
                    continue;
                }
                if operation.name() == GROUPS {
                    steps.extend(self.groups(op, since)?);
                    continue;
                }
                let exclusive_entries = u64::from(operation.attributes.get(BEGINS_EXCLUSIVE).is_some());
                since.is_exclusive |= exclusive_entries > 0;
                let is_exclusive = since.is_exclusive;
                let work = self.work(op, since)?;
                let work = match work == StepWork::default() && exclusive_entries + spilled_registers == 0 {
                    true => work,
                    false => StepWork { spilled_registers, is_exclusive, exclusive_entries, ..work },
                };
                since.is_exclusive &= operation.attributes.get(ENDS_EXCLUSIVE).is_none();
                if is_load(operation) && !work.asynchronous {
                    waited.issue(operation, work, &mut steps);
                } else if let Some(operand) = operation.results.first().and_then(|of| self.step_operands.get(of)) {
                    steps.extend(operands.add(operand, work));
                } else if let Some(step) = operands.with_dot(op, work) {
                    steps.push(step);
                } else if work != StepWork::default() {
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

    /// Returns the steps of warp-specialized partitions: those of the default partition, whose loop also gets the
    /// copies that producer warps issue for it. One barrier before and one after synchronize all warps. `since` has the
    /// accesses of shared memory since the last block barrier.
    fn groups(&self, op: Op, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let body = self.program.body;
        let Some((first, others)) = body.op(op).regions.split_first() else { return Ok(Vec::new()) };
        since.pass_barrier();
        let mut steps = self.region(*first, since)?;
        since.pass_barrier();
        let is_box = |op: &Op| body.op(*op).name() == tw::BULK_TENSOR_LOAD;
        let tensor_copies: Vec<Op> =
            others.iter().flat_map(|region| body.walk_region(*region)).filter(is_box).collect();
        let brought = tensor_copies
            .iter()
            .map(|op| ModelStep::Work(StepWork { produced: true, ..self.bulk_tensor_copy(*op, "dst") }));
        let inside = || body.walk_region(*first).into_iter();
        let buffers =
            tensor_copies.iter().filter_map(|op| buffer_count(body, body.operand(*op, "dst")?)).max().unwrap_or(1);
        for step in &mut steps {
            if let ModelStep::Loop { pipelining, body, .. } = step {
                body.extend(brought);
                // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less
                // are in flight.
                pipelining.stages = buffers - u64::from(inside().any(|op| self.is_in_flight(op)));
                break;
            }
        }
        steps.push(ModelStep::Work(StepWork { barriers: 2, ..StepWork::default() }));
        Ok(steps)
    }

    /// Returns the number of registers that are spilled at an operation: at the one of the highest register pressure.
    fn count_spilled(&self, op: Op) -> u64 {
        match self.pressure.at == Some(op) {
            true => self.pressure.spilled(match self.partition_registers() {
                Some([own, _]) => own,
                None => registers_per_lane(self.program.config, self.producers()),
            }),
            false => 0,
        }
    }

    /// Returns the exclusive sections of warp groups in the body of a loop; `None` if there are none.
    fn ping_pong(&self, region: Region) -> Option<ExclusiveSection> {
        let body = self.program.body;
        let ops = || body.blocks(region).iter().flat_map(|block| body.ops(*block)).map(|op| &body.op(*op).attributes);
        let find = |name| ops().position(|attributes| attributes.get(name).is_some());
        let groups = ops().find_map(|attributes| attributes.get(BEGINS_EXCLUSIVE)?.as_integer())?;
        Some(ExclusiveSection {
            groups: u64::try_from(groups).ok()?,
            lasts: find(ENDS_EXCLUSIVE)? < find(BEGINS_EXCLUSIVE)?,
        })
    }

    fn iteration_count(&self, op: Op) -> u64 {
        match self.launch_info {
            Some(launch_info) => mean_iteration_count(self.program.body, launch_info, op),
            None => iteration_count(self.program.body, self.program.axis_info, op),
        }
    }

    /// Returns how the copies of a loop overlap, and whether the loop is pipelined; a loop around another loop is not.
    /// The number of stages counts the buffers, less one if MMAs in flight still read it; two if loads are prefetched
    /// through registers.
    fn pipelining(&self, op: Op) -> (Pipelining, bool) {
        let body = self.program.body;
        let inside: Vec<Op> = body.op_and_nested_ops(op).into_iter().filter(|inner| *inner != op).collect();
        if inside.iter().any(|op| body.op(*op).name() == scf::FOR) {
            return (Pipelining { stages: 1, is_filled: false, groups: 1 }, false);
        }
        let mut loads = inside.iter().filter(|op| self.prefetched.contains(**op)).peekable();
        if loads.peek().is_some() {
            let is_filled = loads.any(|op| !self.prefetched.is_predicated(*op));
            return (Pipelining { stages: 2, is_filled, groups: 1 }, true);
        }
        let filled = |op: &Op| match body.op(*op).name() {
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => body.operand(*op, "result"),
            ttg::LOCAL_STORE => body.operand(*op, "dst"),
            tw::BULK_TENSOR_LOAD => body.operand(*op, "dst"),
            _ => None,
        };
        let buffers = inside.iter().filter_map(|op| buffer_count(body, filled(op)?)).max().unwrap_or(1);
        // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less are in
        // flight.
        let is_read = inside.iter().any(|op| self.is_in_flight(*op));
        (Pipelining { stages: buffers - u64::from(is_read), is_filled: false, groups: 1 }, buffers > 1)
    }

    /// Whether an operation is a dot whose MMA overlaps with the next iteration.
    fn is_in_flight(&self, op: Op) -> bool {
        let attributes = &self.program.body.op(op).attributes;
        // The last dot of an exclusive section is waited for in the same iteration.
        attributes.get(IS_PENDING).is_some() && attributes.get(ENDS_EXCLUSIVE).is_none()
    }

    /// Whether an operation before a pipelined loop fills a buffer in place of a load that the loop omits in its last
    /// iterations. The loop counts with all loads, so such an operation does not count. A loop without predicates has
    /// fewer iterations instead, so operations before it count.
    fn is_omitted_later(&self, op: Op) -> bool {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        buffer_count(body, operation.operands[1]).is_some()
            && match body.value_origin(operation.operands[0]) {
                ValueOrigin::Result(load, _) if operation.name() == ttg::LOCAL_STORE => {
                    !is_load(body.op(load)) || self.prefetched.is_predicated(load)
                }
                _ => true,
            }
    }

    /// Returns the counts of an access of a tensor in shared memory with the register layout of `registers` and the
    /// element type of `elements`. Accesses through views count as if they were free of bank conflicts.
    fn access_counts(&self, op: Op, registers: Value, elements: Value) -> AccessCounts {
        if let Some(counts) = self.moved.get(&op) {
            return *counts;
        }
        let body = self.program.body;
        let is_smem_operand = body.op(op).attributes.get(OPERAND_STAYS_IN_SMEM).is_some();
        let Some(layout) = self.program.layout(registers).ok().filter(|_| !is_smem_operand) else {
            return AccessCounts::default();
        };
        let target = self.program.config.context.target;
        let wavefront = target.shared.banks.iter().map(BankTableEntry::wavefront_bytes).max().unwrap_or(1).max(1);
        let widest = target.shared.access_bits.iter().copied().max().unwrap_or(32).max(1);
        let bits =
            u64::from(element_bits_while_moved(body.value_type(elements).element())) << layout.in_bits(Dim::REGISTER);
        let lanes = u64::from(self.program.config.lanes);
        let wavefronts = (bits * lanes).div_ceil(8 * wavefront);
        AccessCounts { issued: bits.div_ceil(widest.into()), wavefronts, permutes: 0, by_row: true }
    }

    /// Returns the numbers of accesses and of wavefronts of a warp that store the operands of a dot which are in
    /// registers to the shared memory from which the MMA reads them. Operands of batches are not counted.
    fn count_operand_stores(&self, op: Op) -> Result<(u64, u64), SynthesisError> {
        let (body, context) = (self.program.body, self.program.config.context);
        let mut counts = (0, 0);
        let Some(plan) = self.program.plans.get(&op) else { return Ok(counts) };
        for (side, name) in ["a", "b"].into_iter().enumerate() {
            let in_registers = |value: &Value| self.program.is_tensor(*value) && !is_smem_operand(body, *value);
            let Some(value) = body.operand(op, name).filter(in_registers) else { continue };
            let layout = match plan.resident_operand_layout(side, context)? {
                Some(layout) => layout,
                None => self.program.layout(value)?,
            };
            if body.value_type(value).shape().is_some_and(|shape| shape.len() == 2)
                && let Some(store) = plan.plan_operand_store(side, &layout, context)?
            {
                let stored = &store.access.stats.counts;
                counts.0 += stored.shared_stores + stored.matrix_stores;
                counts.1 += stored.wavefronts_stored;
            }
        }
        Ok(counts)
    }

    fn work(&self, op: Op, since: &mut BarrierState) -> Result<StepWork, SynthesisError> {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        let moved = |registers: Value, elements: Value| self.access_counts(op, registers, elements);
        Ok(match operation.name() {
            tt::DOT | tt::DOT_SCALED => {
                let plan = self.program.plans.get(&op);
                let work = plan.map(|plan| multiplied(&plan.cost, self.program.config)).unwrap_or_default();
                let (shared_accesses, wavefronts_stored) = self.count_operand_stores(op)?;
                let is_in_shared =
                    |value: &&Value| body.value_type(**value).as_memory().is_some_and(MemDescType::is_shared);
                let operands = operation.operands.iter().filter(is_in_shared);
                let reads = operands.map(|value| since.count_barriers_before(body, *value, Direction::Load));
                let barriers = reads.sum::<u64>() + u64::from(shared_accesses > 0);
                StepWork { pending: self.is_in_flight(op), shared_accesses, wavefronts_stored, barriers, ..work }
            }
            ttg::LOCAL_LOAD => {
                let barriers = since.count_barriers_before(body, operation.operands[0], Direction::Load);
                let counts = moved(operation.results[0], operation.results[0]);
                StepWork { barriers, ..counts.work(Direction::Load) }
            }
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL | ttg::LOCAL_STORE if !since.is_pipelined && self.is_omitted_later(op) => {
                StepWork::default()
            }
            ttg::LOCAL_ALLOC if operation.operands.is_empty() => StepWork::default(),
            ttg::LOCAL_STORE | ttg::LOCAL_ALLOC => {
                let counts = moved(operation.operands[0], operation.operands[0]);
                let filled = operation.operands.get(1).or(operation.results.first());
                let barriers = filled.map_or(0, |filled| since.count_barriers_before(body, *filled, Direction::Store));
                StepWork { barriers, ..counts.work(Direction::Store) }
            }
            _ if self.prefetched.contains(op) => match since.is_pipelined {
                true => StepWork { asynchronous: true, ..self.op_costs(op, Direction::Load)? },
                false if self.prefetched.is_predicated(op) => StepWork::default(),
                false => self.op_costs(op, Direction::Load)?,
            },
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                let AccessCounts { issued, wavefronts, by_row, .. } =
                    moved(operation.operands[0], operation.operands[1]);
                let filled = self.program.body.operand(op, "result").unwrap_or(operation.operands[1]);
                let barriers = since.count_barriers_before(body, filled, Direction::Store);
                let read = self.op_costs(op, Direction::Load)?;
                // Copies that are narrower than loads of the tile compute further addresses, in both memories.
                let arithmetic = read.arithmetic + 2 * issued.saturating_sub(read.global_accesses);
                StepWork {
                    shared_accesses: issued,
                    wavefronts_stored: wavefronts,
                    barriers,
                    arithmetic,
                    asynchronous: by_row,
                    ..read
                }
            }
            // A consumer warp signals that it has read a buffer.
            tw::MBARRIER_ARRIVE => StepWork { shared_accesses: 1, ..StepWork::default() },
            tw::BULK_TENSOR_LOAD if !since.is_pipelined => StepWork::default(),
            tw::BULK_TENSOR_LOAD => self.bulk_tensor_copy(op, "dst"),
            tw::BULK_TENSOR_STORE => {
                let source = body.operand(op, "src");
                let barriers = source.map_or(0, |from| since.count_barriers_before(body, from, Direction::Load));
                let work = self.bulk_tensor_copy(op, "src");
                StepWork { wavefronts_loaded: work.wavefronts_stored, wavefronts_stored: 0, barriers, ..work }
            }
            ttg::ASYNC_WAIT => StepWork { barriers: since.count_barriers_after_wait(), ..StepWork::default() },
            ttg::BARRIER => {
                since.pass_barrier();
                StepWork { barriers: 1, ..StepWork::default() }
            }
            ttg::CONVERT_LAYOUT => self.converted(op)?,
            tt::STORE
            | tt::ATOMIC_RMW
            | tt::ATOMIC_CAS
            | tt::ATOMIC_STORE
            | tt::DESCRIPTOR_STORE
            | tt::DESCRIPTOR_REDUCE
            | tt::DESCRIPTOR_SCATTER => self.op_costs(op, Direction::Store)?,
            _ => self.op_costs(op, Direction::Load)?,
        })
    }

    /// Returns the work of a bulk tensor copy of the operand `memory`: one warp issues it, and it writes shared memory
    /// in full wavefronts.
    fn bulk_tensor_copy(&self, op: Op, memory: &str) -> StepWork {
        let ty = self.program.body.operand(op, memory).map(|buffer| self.program.body.value_type(buffer));
        let bytes = ty.map_or(0, |ty| {
            let elements: u64 = ty.shape().unwrap_or_default().iter().product();
            elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8
        });
        let config = self.program.config;
        let rows = &config.context.target.shared.banks;
        let wavefront = rows.iter().map(BankTableEntry::wavefront_bytes).max().unwrap_or(1).max(1);
        let issued = self.moved.get(&op).map_or(1, |moved| moved.issued);
        StepWork {
            global_bytes: bytes,
            global_lines: bytes.div_ceil(CACHE_LINE_BYTES),
            global_accesses: issued.div_ceil(config.warps.into()),
            wavefronts_stored: bytes.div_ceil(wavefront).div_ceil(config.warps.into()),
            asynchronous: true,
            ..StepWork::default()
        }
    }

    /// Returns the work of an operation that accesses global memory, reduces or scans, or is elementwise, from its
    /// plan.
    fn op_costs(&self, op: Op, direction: Direction) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let first = operation.operands.iter().chain(&operation.results).find(|value| self.program.is_tensor(**value));
        let Some(&first) = first else { return Ok(StepWork::default()) };
        let program = (self.program.body, self.program.axis_info);
        let kind = match operation.name() {
            tt::REDUCE | tt::SCAN => Kind::along_an_axis(self.program.body, op),
            tt::LOAD | tt::ATOMIC_LOAD | ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                Kind::of_access(program, self.program.config.context.target, op, Direction::Load)
            }
            tt::DESCRIPTOR_LOAD
            | tt::DESCRIPTOR_GATHER
            | tt::DESCRIPTOR_STORE
            | tt::DESCRIPTOR_REDUCE
            | tt::DESCRIPTOR_SCATTER => {
                let named = describe_descriptor_global_tensor(self.program.body.value_type(first), u64::MAX);
                named.map_or(Kind::Nothing, |named| Kind::Access(Access { named, direction, bulk_block: None }))
            }
            _ if direction == Direction::Store => {
                Kind::of_access(program, self.program.config.context.target, op, direction)
            }
            // Inline assembly counts as one instruction for each register.
            name if (operation.definition.traits.elementwise || name == tt::ELEMENTWISE_INLINE_ASM)
                && !is_memory_reference(self.program.body.value_type(operation.results[0])) =>
            {
                Kind::elementwise(operation)
            }
            _ => return Ok(StepWork::default()),
        };
        let layout = self.program.layout(first)?;
        let op_costs = OpCosts::of(&kind, &layout, self.program.config)?;
        let moves = StepWork::from_counts(&op_costs.counts, self.program.config.context.target);
        let arithmetic = moves.arithmetic + op_costs.plain.ceil() as u64;
        let (global_bytes, global_lines) = match &kind {
            Kind::Access(access) => {
                // The first-level cache has what several threads or accesses load, so its sectors are counted as those
                // of one access by all threads. Each access looks up its lines, but threads with the same elements
                // once.
                let (named, target) = (&access.named, self.program.config.context.target);
                let stored = |layout| plan_global_access(layout, &named.tensor, named.bits, Direction::Store, target);
                let together = layout.flatten_ins().rename_in(Dim::REGISTER, Dim::LANE)?;
                let bytes = match access.direction {
                    Direction::Load => stored(&together)?.transactions * u64::from(target.global.transaction_bytes),
                    Direction::Store => op_costs.bytes,
                };
                (bytes, stored(&layout)?.lines)
            }
            _ => (op_costs.bytes, 0),
        };
        let address_cycles = (op_costs.global.address_cycles * f64::from(self.program.config.warps)).round() as u64;
        let global_accesses = op_costs.accesses;
        Ok(StepWork { global_accesses, address_cycles, global_bytes, global_lines, arithmetic, ..moves })
    }

    fn converted(&self, op: Op) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let [from, to] = [operation.operands[0], operation.results[0]].map(|value| self.program.body.value_type(value));
        let layouts = [self.program.layouts.resolve_distributed(from)?, self.program.layouts.resolve_distributed(to)?];
        let plan =
            plan_conversion(&layouts[0], &layouts[1], element_bits_while_moved(from), self.program.config.context)?;
        Ok(StepWork::from_counts(&plan.stats.counts_with_packing(), self.program.config.context.target))
    }
}

/// The exclusive sections of warp groups in a loop.
#[derive(Debug, Clone, Copy)]
struct ExclusiveSection {
    groups: u64,
    /// Whether an exclusive section lasts from one iteration into the next.
    lasts: bool,
}

/// Whether steps have a block barrier.
fn has_barrier(steps: &[ModelStep]) -> bool {
    steps.iter().any(|step| match step {
        ModelStep::Work(work) => work.barriers > 0,
        ModelStep::Interleaved { parts, .. } => parts.iter().any(|work| work.barriers > 0),
        ModelStep::Loop { body, .. } => has_barrier(body),
    })
}

/// Returns the work of a dot, from the cost of its plan. The plan has the cycles of all issues on all pipes; the model
/// takes the cycles of one issue of one warp.
pub(super) fn multiplied(cost: &MmaCost, config: &LaunchConfig<'_>) -> StepWork {
    let target = config.context.target;
    let pipes = target.matrix.as_ref().map_or(1, |unit| unit.pipes.max(1));
    let share = f64::from(pipes) / f64::from(config.warps) / cost.issues.max(1) as f64;
    let casts = cost.cast_cycles / target.costs.select.cycles.max(f64::MIN_POSITIVE) / f64::from(config.warps);
    StepWork {
        matrix_instructions: cost.issues,
        matrix_cycles: cost.issue_cycles * share,
        arithmetic: casts.ceil() as u64,
        ..StepWork::default()
    }
}

/// Whether values of a type are addresses or masks, whose computation folds into immediates.
fn is_memory_reference(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Pointer(_)) || matches!(ty.element(), TileType::Integer(1, _))
}

//! Plans one prefetched load: bulk tensor copy, asynchronous copy or registers, and the shared-memory layout of its
//! buffers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tilewright_tile::op::name::tt;

use crate::dot_plan::{DotPlan, plan_dot};
use crate::layouts::LayoutCache;
use crate::memory::element_bits_while_moved;
use crate::shared_buffer::{
    SharedBuffer, SolvedLayouts, is_filled_asynchronously, mma_operand_access, prefetching_access,
};
use crate::{LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::memory_synthesis::{SharedLayoutSearchLimits, SharedLayoutSolution, TensorAccess};
use tilewright_plan::movement::{
    ConversionKind, PointerToSharedCopySpec, plan_conversion, plan_pointer_to_shared_copy,
};
use tilewright_target::{Optimization, Queue};
use tilewright_tile::axis_info::{AxisInfoMap, IndexBitPosition};
use tilewright_tile::transform::loads::{
    HoistedSharedOperand, InvariantDotOperand, PrefetchConsumer, PrefetchPath, PrefetchableLoad,
    carried_accumulator_index,
};
use tilewright_tile::{FunctionBody, LayoutAttribute, Op, Value};

/// The planner of software pipelining: it plans the prefetches of a program whose tensors all have layouts.
pub(super) struct PipelinePlanner<'q, 'm> {
    pub body: &'q FunctionBody,
    pub axis_info: &'q AxisInfoMap,
    pub layouts: &'q LayoutCache<'q>,
    pub config: &'q LaunchConfig<'m>,
    /// The limits of the search for a buffer's layout.
    pub limits: SharedLayoutSearchLimits,
    /// The layouts of buffers that are known.
    pub solved: &'q SolvedLayouts<'m>,
    /// The plan of each dot, cached; `None` for a dot without a plan.
    pub dot_plans: RefCell<HashMap<Op, Option<Rc<DotPlan>>>>,
    /// The result of [`Self::plan_prefetch`] for each load, cached: all loops are pipelined again for each number of
    /// stages that is tried for one of them.
    pub prefetch_plans: RefCell<HashMap<(Op, bool), PlannedLoad>>,
}

/// A load with the plan of its prefetch, or the reason why it cannot be prefetched.
type PlannedLoad = Result<(PrefetchableLoad, PrefetchPlan), String>;

/// The plan of one prefetched load.
#[derive(Clone)]
pub(super) struct PrefetchPlan {
    pub path: PrefetchPath,
    /// The shared-memory layout of a buffer, and the accesses that write and read the buffer; `None` without a buffer.
    pub solution: Option<SharedLayoutSolution>,
    /// Bytes of one buffer in shared memory.
    pub bytes: u64,
    /// Number of 32-bit registers of a lane that hold the loaded value while the load is in flight; zero for copies.
    pub registers: u64,
    /// For a bulk tensor copy, the shared-memory layout of a buffer in the axes of the descriptor's block; `None`
    /// otherwise.
    pub block: Option<LayoutAttribute>,
}

impl PrefetchPlan {
    /// Whether an asynchronous copy or a bulk tensor copy fills the buffer.
    pub fn is_asynchronous_copy(&self) -> bool {
        matches!(self.path, PrefetchPath::Copy | PrefetchPath::TensorCopy)
    }
}

impl<'m> PipelinePlanner<'_, 'm> {
    /// Whether a conversion goes through shared memory.
    pub fn conversion_uses_shared(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let (from, to) = (operation.operands[0], operation.results[0]);
        let bits = element_bits_while_moved(self.body.value_type(from).element());
        let (Some(from), Some(to)) = (self.layout(from), self.layout(to)) else { return false };
        let plan = plan_conversion(&from, &to, bits, self.config.context);
        plan.is_ok_and(|plan| matches!(plan.path, ConversionKind::Shared | ConversionKind::Mixed))
    }

    /// Whether the MMA of a dot reads all of operand A (`side` 0) or B (1) from shared memory, in its layout there.
    pub fn reads_operand_from_shared(&self, op: Op, side: usize) -> bool {
        if !self.config.context.enables(Optimization::SharedOperands) {
            return false;
        }
        let Some(planned) = self.dot_plan(op) else { return false };
        let in_memory = planned.operands[side].is_none() && planned.batches.is_none();
        in_memory && mma_operand_access(&planned.plan, side, "MMA", self.config).is_some()
    }

    /// Returns the plan of a dot; `None` if the target cannot execute the dot.
    pub(super) fn dot_plan(&self, op: Op) -> Option<Rc<DotPlan>> {
        let mut known = self.dot_plans.borrow_mut();
        known.entry(op).or_insert_with(|| plan_dot(self.body, op, self.config).ok().map(Rc::new)).clone()
    }

    /// Returns all dots of a loop if their MMAs may be in flight when the next iteration begins; none if one dot's may
    /// not.
    ///
    /// The buffers that the MMAs read must be filled by copies, or by stores if waits for MMAs cover the whole block;
    /// operands may also be stored before the loop. The loop may only carry the accumulators.
    pub(super) fn overlapped_dots(
        &self,
        of: Op,
        loads: &[(PrefetchableLoad, PrefetchPlan)],
        stored: &[HoistedSharedOperand],
    ) -> Vec<Op> {
        if !self.config.context.enables(Optimization::OverlappedMma) {
            return Vec::new();
        }
        let body = self.body;
        let block = body.op(of).regions.first().and_then(|region| body.blocks(*region).first().copied());
        let Some(block) = block else { return Vec::new() };
        let dots: Vec<Op> = body.op_and_nested_ops(of).into_iter().filter(|op| body.op(*op).is_dot()).collect();
        let is_in_buffer = |dot: Op, side: usize| {
            let reads = loads.iter().flat_map(|(load, _)| &load.reads);
            reads.into_iter().any(|read| read.reader == PrefetchConsumer::MmaOperand(dot, side))
                || stored
                    .iter()
                    .flat_map(|of| &of.operand.reads)
                    .any(|read| read.reader == PrefetchConsumer::MmaOperand(dot, side))
        };
        let may_overlap = |dot: &Op| {
            body.op(*dot).name() == tt::DOT
                && self.dot_plan(*dot).is_some_and(|planned| planned.plan.pending_queue().is_some())
                && (0..2).all(|side| is_in_buffer(*dot, side))
                && carried_accumulator_index(body, block, *dot).is_some()
        };
        let only_copies = loads.iter().all(|(_, how)| how.is_asynchronous_copy());
        let may_fill = only_copies || self.waits_cover_block(&dots);
        if may_fill && dots.iter().all(may_overlap) { dots } else { Vec::new() }
    }

    /// Whether a wait for the MMAs of these dots, by any thread, covers the MMAs of the whole block, because they
    /// arrive at mbarriers. False if there are no dots.
    pub(super) fn waits_cover_block(&self, dots: &[Op]) -> bool {
        let covers = |dot: &Op| self.dot_plan(*dot).is_some_and(|planned| planned.plan.is_in_tensor_memory());
        !dots.is_empty() && dots.iter().all(covers)
    }

    pub(super) fn layout(&self, value: Value) -> Option<LinearLayout> {
        self.layouts.resolve_distributed(self.body.value_type(value)).ok()
    }

    /// Plans the prefetch of a load: by a copy to shared memory if one is possible, else through registers. A value
    /// that stays in registers is copied only if `copies` is true, or if the copy replaces several stores to shared
    /// memory.
    ///
    /// # Errors
    /// The reason why the load cannot be prefetched.
    pub fn plan_prefetch(&self, load: &PrefetchableLoad, copies: bool) -> PlannedLoad {
        let key = (load.op, copies);
        if let Some(known) = self.prefetch_plans.borrow().get(&key) {
            return known.clone();
        }
        let planned = self.plan_new_prefetch(load, copies);
        self.prefetch_plans.borrow_mut().insert(key, planned.clone());
        planned
    }

    fn plan_new_prefetch(&self, load: &PrefetchableLoad, copies: bool) -> PlannedLoad {
        let shared = self.with_shared_reads(load).filter(|load| copies || load.is_stored_once());
        let by_copy = shared.and_then(|load| Some((self.plan_load(&load, copies).ok()?, load)));
        match by_copy.filter(|(plan, _)| plan.is_asynchronous_copy()) {
            Some((plan, load)) => Ok((load, plan)),
            None => Ok((load.clone(), self.plan_load(load, copies)?)),
        }
    }

    fn plan_load(&self, load: &PrefetchableLoad, copies: bool) -> Result<PrefetchPlan, String> {
        let register_layout = self.layout(load.stored).ok_or("its value has no layout")?;
        let bits = element_bits_while_moved(self.body.value_type(load.stored).element());
        let registers = (u64::from(bits) << register_layout.in_bits(Dim::REGISTER)).div_ceil(32);
        let carried = PrefetchPlan { path: PrefetchPath::Carried, solution: None, bytes: 0, registers, block: None };
        if load.stays_in_registers() && !copies {
            return Ok(carried);
        }
        let read = self.buffer(load.stored, &load.reads).ok_or("its reader has no known access")?;
        if let Some(plan) = self.plan_tensor_copy(load, &read) {
            return Ok(plan);
        }
        let in_buffer = |path, registers, (solution, bytes)| {
            Ok(PrefetchPlan { path, solution: Some(solution), bytes, registers, block: None })
        };
        if let Some(copied) = self.plan_copy(load, &register_layout, &read) {
            return in_buffer(PrefetchPath::Copy, 0, copied);
        }
        if load.stays_in_registers() {
            return Ok(carried);
        }
        let store = TensorAccess::store("the store", register_layout, &self.config.context).with_weight(LOOP_WEIGHT);
        let solution =
            self.solved.solve(&read.with_first_access(store), self.config).map_err(|error| error.to_string())?;
        let bytes = bytes_of(&solution, bits);
        in_buffer(PrefetchPath::Registers, registers, (solution, bytes))
    }

    /// Plans the shared-memory buffer of a value that is stored before the loop. Returns its memory layout with the
    /// accesses, and the size of the buffer in bytes. `None` if no layout serves the store and all reads.
    pub(super) fn plan_stored_operand(&self, operand: &InvariantDotOperand) -> Option<(SharedLayoutSolution, u64)> {
        if !self.config.context.enables(Optimization::HoistedOperands) {
            return None;
        }
        let read = self.buffer(operand.value, &operand.reads)?;
        let store = TensorAccess::store("the store", self.layout(operand.value)?, &self.config.context);
        let solution = self.solved.solve(&read.with_first_access(store), self.config).ok()?;
        let bytes = bytes_of(&solution, read.tensor.bits);
        Some((solution, bytes))
    }

    /// Plans an asynchronous copy of a load's value, in `register_layout`, to shared memory, by an instruction as wide
    /// as the load; `read` is the buffer with its reader. Returns the memory layout of a buffer with its accesses, and
    /// the size of one buffer in bytes.
    ///
    /// `None` if no such instruction exists, if stores from registers are cheaper, or if the copy would fetch elements
    /// that the load does not.
    fn plan_copy(
        &self,
        load: &PrefetchableLoad,
        register_layout: &LinearLayout,
        read: &SharedBuffer<'m>,
    ) -> Option<(SharedLayoutSolution, u64)> {
        let (body, context, bits) = (self.body, &self.config.context, read.tensor.bits);
        let operation = body.op(load.op);
        let only_transposes = load.chain.iter().all(|op| body.op(*op).name() == tt::TRANS);
        if operation.name() != tt::LOAD || !only_transposes || !context.enables(Optimization::AsyncCopies) {
            return None;
        }
        let (pointers, mask) = (body.operand(load.op, "ptr")?, body.operand(load.op, "mask"));
        let zeros = body.operand(load.op, "other").is_none_or(|other| body.is_known_zero(other));
        if mask.is_some() && !zeros {
            return None;
        }
        // Transpositions between load and store keep register indices, so the number of bytes follows from the layout
        // of the load.
        let together = self.together(pointers, mask, &self.layout(operation.results[0])?, bits);
        let widest = context.target.global.access_bits.iter().map(|bits| u64::from(bits / 8)).max()?;
        let copy = prefetching_access(register_layout, together.min(widest), self.config)?.with_weight(LOOP_WEIGHT);
        let solution =
            self.solved.solve(&read.with_first_access(copy), self.config).ok().filter(is_filled_asynchronously)?;
        let idle: usize = (register_layout.columns_of(Dim::REGISTER).iter().enumerate())
            .map(|(bit, column)| if *column == 0 { 1usize << bit } else { 0 })
            .sum();
        let groups = |elements: u32| -> Vec<Vec<usize>> {
            let fits = u64::from(elements) * u64::from(bits / 8) <= together;
            let count = if fits { elements as usize } else { 1 };
            let firsts = (0..1usize << register_layout.in_bits(Dim::REGISTER)).step_by(count);
            firsts.filter(|first| first & idle == 0).map(|first| (first..first + count).collect()).collect()
        };
        let problem = PointerToSharedCopySpec {
            layout: register_layout,
            memory: &solution.memory,
            start: 0,
            element_bits: bits,
            masked: mask.is_some(),
            groups: &groups,
        };
        let copy_plan = plan_pointer_to_shared_copy(&problem, context).ok()?;
        let bytes = bytes_of(&solution, bits);
        let is_async = copy_plan.completion_queue() == Queue::Copies && bytes.is_multiple_of(copy_plan.alignment());
        is_async.then_some((solution, bytes))
    }

    /// Returns the number of bytes, from a lane's first register on, that are contiguous in both registers and global
    /// memory and have one mask value.
    fn together(&self, pointers: Value, mask: Option<Value>, register_layout: &LinearLayout, bits: u32) -> u64 {
        let bytes = u64::from(bits / 8).max(1);
        let Some(info) = self.axis_info.get(pointers) else { return bytes };
        let mask = mask.map(|mask| self.axis_info.get(mask));
        let is_shared =
            |at: IndexBitPosition| mask.is_none_or(|mask| mask.is_some_and(|mask| mask.is_constant_across_bit(at)));
        let columns = register_layout.columns_of(Dim::REGISTER);
        let unit = |at: IndexBitPosition| {
            register_layout.outs().shift_of(Dim::tensor(at.axis)).map(|shift| 1u64 << (shift + at.bit))
        };
        let run = info.aligned_vector_bits();
        let steps = run.iter().zip(columns).take_while(|&(&at, &column)| is_shared(at) && unit(at) == Some(column));
        bytes << steps.count()
    }
}

pub(super) fn bytes_of(solution: &SharedLayoutSolution, bits: u32) -> u64 {
    solution.memory.allocated_bytes(bits)
}

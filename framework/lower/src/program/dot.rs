//! Lowers `tt.dot` and `tt.dot_scaled` by the same MMA plan of [`tilewright_plan::mma`] that layout assignment used;
//! operands in other layouts are converted.

use std::sync::Arc;

use crate::shared_memory::{Access, Slice};
use tilewright_assign::batches::{MatrixBatch, extend_over_batches};
use tilewright_assign::dot_plan::{self, DotTensor};
use tilewright_assign::layouts::{ClusterPartition, tensor_shape_from_layout};
use tilewright_kernel::{Builder, Cast, CollectiveScope, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::mma::{MmaPlan, OperandStore};
use tilewright_target::{ElementType, Queue};
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{self as tile, Attribute, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers};
use super::lowering::Lowering;
use super::pending;
use super::shared::{self, SmemOperand};
use super::tensor_coordinates::map_coordinates;
use super::tensor_memory::DotSpace;
use super::types::integer;

/// Lowers a dot, `d = a * b + c`, of matrices, or of batches of matrices along the first axis; operands may have
/// scales.
pub(super) fn lower_dot(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    if pending::lower_async_mma(lowering, op)? {
        return Ok(());
    }
    for (kind, pack) in [("a_elem_type", "lhs_k_pack"), ("b_elem_type", "rhs_k_pack")] {
        let across = lowering.attribute(op, pack).is_some_and(|pack| *pack == Attribute::Bool(false));
        if across && lowering.keyword(op, kind) == Some("e2m1") {
            return Err(LowerErrorReason::unsupported("elements that share a byte across K instead of along K"));
        }
    }
    let planned = dot_plan::plan_dot(lowering.body, op, lowering.config)?;
    let issues = planned.plan.cost.issues.saturating_mul(planned.batches.map_or(1, MatrixBatch::matrices_per_warp));
    lowering.check_size(issues)?;
    let (plan, smem_operands) = with_smem_operands(lowering, op, planned.plan)?;
    let of = Matrices { plan: &plan, batches: planned.batches, blocks: &planned.blocks, smem_operands };
    let sides = [of.lower_operand(lowering, op, 0)?, of.lower_operand(lowering, op, 1)?];
    let scales = [of.scales(lowering, op, 0)?, of.scales(lowering, op, 1)?];
    let accumulator = Arc::new(planned.accumulator.clone());
    let initial =
        lowering.optional(op, "c").ok_or_else(|| LowerErrorReason::malformed("the accumulator is missing"))?;
    let result = lowering.result(op, 0)?;
    if lowering.pending.is_resident(op) {
        lowering.as_pending(initial, result)?;
        of.emit(lowering, op, (sides, scales), None);
        let lowered = lowering.pending.lowered(result, &mut std::iter::empty());
        return lowering
            .set_result(op, lowered.ok_or_else(|| LowerErrorReason::malformed("its accumulator has no columns"))?);
    }
    let element = lowering.carrier(result)?;
    let starts_in_memory = of.plan.is_in_tensor_memory() && lowering.body.is_known_zero(initial);
    let initial = match starts_in_memory {
        true => None,
        false => {
            let initial = lowering.tensor(initial)?;
            let initial = lowering.convert(&initial, &accumulator)?;
            Some(initial.iter().map(|&value| lowering.emit_integer_bits(value)).collect::<Vec<Value>>())
        }
    };
    let values = of.emit(lowering, op, (sides, scales), initial.as_deref());
    let values: Vec<Value> = values.into_iter().map(|value| lowering.emit_from_integer_bits(value, element)).collect();
    let required = lowering.result_layout(op)?;
    let values = lowering.convert(&Registers::new(accumulator, values), &required)?;
    lowering.set_result(op, LoweredValue::Tensor(Registers::new(required, values)))
}

/// Returns the plan changed so that its MMA reads the operands with the attribute [`OPERAND_STAYS_IN_SMEM`] in place
/// from shared memory. Also returns each such operand; `None` for other operands.
fn with_smem_operands(lowering: &Lowering<'_>, op: Op, plan: MmaPlan) -> Lowered<(MmaPlan, [Option<SmemOperand>; 2])> {
    let (mut plan, mut smem_operands) = (plan, [None, None]);
    for (side, group) in ["a", "b"].into_iter().enumerate() {
        let Some(tile::ValueOrigin::Result(load, _)) =
            lowering.optional(op, group).map(|value| lowering.body.value_origin(value))
        else {
            continue;
        };
        if lowering.attribute(load, OPERAND_STAYS_IN_SMEM).is_some() {
            let smem_operand = shared::smem_operand(lowering, lowering.operand(load, 0)?)?;
            plan = plan.with_operand_memory(side, &smem_operand.memory, &smem_operand.first)?;
            smem_operands[side] = Some(smem_operand);
        }
    }
    Ok((plan, smem_operands))
}

/// The MMA plan of one matrix of a batch, or of the only matrix, and the operands that are in shared memory.
struct Matrices<'a> {
    plan: &'a MmaPlan,
    batches: Option<MatrixBatch>,
    /// For each bit of a block's index in the cluster, the matrix axis that it divides; `None` if it divides none.
    blocks: &'a [Option<usize>],
    /// The operands that the MMA reads in place from shared memory; `None` for other operands.
    smem_operands: [Option<SmemOperand>; 2],
}

/// An operand of a dot in the form that the MMA plan requires. For a batch, the values of its matrices follow each
/// other.
enum Side {
    Registers(Vec<Value>),
    /// Integers that are stored to shared memory before the MMA, and the plan of the stores.
    Stored(Vec<Value>, Box<OperandStore>),
    /// The addresses in shared memory from which the matrix unit reads the chunks of K of the operand.
    SharedMemory(Vec<Value>),
}

impl Matrices<'_> {
    /// Extends the layout of one matrix of one block to all matrices of a batch and all blocks of a cluster. `tensor`
    /// is the tensor of the dot that has the layout.
    fn of_all(&self, layout: &LinearLayout, tensor: DotTensor) -> Lowered<Arc<LinearLayout>> {
        let all = extend_over_batches(layout, self.batches)?;
        Ok(Arc::new(dot_plan::extend_over_blocks(&all, self.blocks, tensor)?))
    }

    /// Lowers operand A (`side` 0) or B (1) to integers in the plan's operand layout, or to an address in shared
    /// memory.
    fn lower_operand(&self, lowering: &mut Lowering<'_>, op: Op, side: usize) -> Lowered<Side> {
        if let Some(smem_operand) = &self.smem_operands[side] {
            let address = smem_operand.address;
            return Ok(Side::SharedMemory(self.plan.emit_operand_chunks(&mut lowering.builder, side, address)));
        }
        let tensor = operand(lowering, op, ["a", "b"][side])?;
        let element_type = [self.plan.problem.a, self.plan.problem.b][side];
        let context = lowering.config.context;
        let Some(of_one) = self.plan.resident_operand_layout(side, context)? else {
            let tensor = self.share_of_block(lowering, side, tensor)?;
            return self.stored(lowering, side, &tensor, element_type);
        };
        let layout = self.of_all(&of_one, DotTensor::Operand(side))?;
        let values = lowering.convert(&tensor, &layout)?;
        let words = values.iter().map(|&value| word(lowering, value, element_type)).collect();
        Ok(match self.plan.plan_operand_store(side, &of_one, context)? {
            Some(store) => Side::Stored(words, Box::new(store)),
            None => Side::Registers(words),
        })
    }

    /// Lowers an operand in registers that the MMA reads from shared memory. If it is a batch, it is converted to a
    /// layout whose highest register bits select the matrix.
    fn stored(
        &self,
        lowering: &mut Lowering<'_>,
        side: usize,
        tensor: &Registers,
        element_type: ElementType,
    ) -> Lowered<Side> {
        let mut tensor = tensor.clone();
        let mut of_one = (*tensor.layout).clone();
        if self.batches.is_some() {
            let [rows, columns] = [1, 2].map(|axis| 1u64 << tensor.layout.out_bits(Dim::tensor(axis)));
            of_one = map_coordinates(&tensor.layout, &[rows, columns], |coordinates| coordinates[1..].to_vec())?;
            of_one = of_one.remove_zero_bases(Dim::REGISTER);
            let required = Arc::new(extend_over_batches(&of_one, self.batches)?);
            let values = lowering.convert(&tensor, &required)?;
            tensor = Registers::new(required, values);
        }
        let store = self.plan.plan_operand_store(side, &of_one, lowering.config.context)?;
        let store =
            store.ok_or_else(|| LowerErrorReason::malformed("the MMA does not read this operand from memory"))?;
        let words = tensor.values.iter().map(|&value| word(lowering, value, element_type)).collect();
        Ok(Side::Stored(words, Box::new(store)))
    }

    /// Converts operand A (`side` 0) or B (1) of the whole cluster to the part that the current block multiplies.
    /// Returns the part as a tensor of the part's shape.
    fn share_of_block(&self, lowering: &mut Lowering<'_>, side: usize, tensor: Registers) -> Lowered<Registers> {
        if self.blocks.is_empty() {
            return Ok(tensor);
        }
        if self.batches.is_some() {
            return Err(LowerErrorReason::unsupported(
                "a batched MMA of several blocks that reads its operands from memory",
            ));
        }
        let mut share = tensor_shape_from_layout(&tensor.layout);
        let divided = self.blocks.iter().filter(|axis| **axis == Some(side)).count();
        share[side] >>= divided;
        let full = ClusterPartition::from_axes(&share, &[]).coalesced_layout(&share, lowering.config)?;
        let required = self.of_all(&full, DotTensor::Operand(side))?;
        let values = lowering.convert(&tensor, &required)?;
        Ok(Registers::new(Arc::new(full), values))
    }

    fn scales(&self, lowering: &mut Lowering<'_>, op: Op, side: usize) -> Lowered<Vec<Value>> {
        let Some(layout) = self.plan.resident_scale_layout(side)? else { return Ok(Vec::new()) };
        let layout = self.of_all(&layout, DotTensor::Scale(side))?;
        let tensor = operand(lowering, op, ["a_scale", "b_scale"][side])?;
        let values = lowering.convert(&tensor, &layout)?;
        Ok(values.iter().map(|&value| lowering.emit_integer_bits(value)).collect())
    }

    /// Emits the MMAs of all matrices that a warp multiplies; returns their accumulators, one after the other. Without
    /// `initial`, an accumulator in tensor memory begins with zeros or, if it is resident (stays there between dots),
    /// with its present value; a resident accumulator is not returned.
    fn emit(
        &self,
        lowering: &mut Lowering<'_>,
        op: Op,
        (sides, scales): ([Side; 2], [Vec<Value>; 2]),
        initial: Option<&[Value]>,
    ) -> Vec<Value> {
        let batches = self.batches.map_or(1, MatrixBatch::matrices_per_warp) as usize;
        let of = |values: &[Value], batch: usize| -> Vec<Value> {
            let count = values.len() / batches;
            values[batch * count..(batch + 1) * count].to_vec()
        };
        let mut results = Vec::with_capacity(initial.map_or(0, <[Value]>::len));
        for batch in 0..batches {
            let mut stores = false;
            let slices: Vec<Slice> = self.smem_operands.iter().flatten().map(|operand| operand.slice.clone()).collect();
            if !slices.is_empty() {
                // One marker covers both operands.
                lowering.record_access(Access::Load, slices);
            }
            let builder = &mut lowering.builder;
            let operands = [0, 1].map(|side| match &sides[side] {
                Side::Registers(values) => of(values, batch),
                Side::SharedMemory(chunks) => chunks.clone(),
                Side::Stored(values, store) => {
                    stores = true;
                    self.plan.emit_operand_store(builder, store, &of(values, batch), &of(&scales[side], batch))
                }
            });
            let own = [of(&scales[0], batch), of(&scales[1], batch)];
            let (operands, own) = ([&operands[0][..], &operands[1][..]], [&own[0][..], &own[1][..]]);
            let initial = initial.map(|initial| of(initial, batch));
            match lowering.space_of_dot(op, self.plan) {
                Some(space) => {
                    results.extend(self.in_tensor_memory(lowering, op, &space, (operands, own), initial, stores))
                }
                None => results.extend(self.in_own_memory(lowering, (operands, own), initial, stores)),
            }
        }
        results
    }

    /// Emits the block barrier between the stores of operands to shared memory and the MMAs that read them.
    fn emit_operand_barrier(&self, builder: &mut Builder, stores: bool) {
        if stores && self.plan.completion_queue().is_some_and(Queue::uses_async_proxy) {
            builder.proxy_fence();
        }
        builder.barrier(CollectiveScope::Block);
    }

    /// Emits the MMAs of one matrix, which accumulate in registers, or in tensor memory that is allocated for them. If
    /// operands were just stored to shared memory (`stores`), a barrier precedes the MMAs.
    fn in_own_memory(
        &self,
        lowering: &mut Lowering<'_>,
        (operands, scales): ([&[Value]; 2], [&[Value]; 2]),
        initial: Option<Vec<Value>>,
        stores: bool,
    ) -> Vec<Value> {
        let builder = &mut lowering.builder;
        if stores {
            self.emit_operand_barrier(builder, stores);
        }
        let accumulator = self.plan.emit_prologue(builder, initial.as_deref());
        let accumulator = self.plan.emit_all_chunks(builder, operands, scales, accumulator);
        self.plan.emit_epilogue(builder, accumulator)
    }

    /// Emits the MMAs of one matrix, which accumulate in the kernel's tensor memory. If needed, one block barrier makes
    /// them wait for the stores of operands (if `stores`) and of the initial accumulator, and for earlier loads from
    /// the columns.
    fn in_tensor_memory(
        &self,
        lowering: &mut Lowering<'_>,
        op: Op,
        space: &DotSpace,
        (operands, scales): ([&[Value]; 2], [&[Value]; 2]),
        initial: Option<Vec<Value>>,
        stores: bool,
    ) -> Vec<Value> {
        let is_resident = lowering.pending.is_resident(op);
        let needs_barrier = stores || !is_resident || !lowering.follows_barrier(op);
        let builder = &mut lowering.builder;
        let accumulator = match is_resident {
            true => self.plan.resume_accumulator(builder, space.space, space.group),
            false => self.plan.emit_tensor_memory_start(builder, space.space, initial.as_deref(), space.group),
        };
        if needs_barrier {
            self.emit_operand_barrier(builder, stores);
        }
        let accumulator = self.plan.emit_all_chunks(builder, operands, scales, accumulator);
        let next_group = accumulator.next_group_index();
        let values = if is_resident { Vec::new() } else { self.plan.emit_epilogue(builder, accumulator) };
        match space.has_own_barriers {
            true => space.space.barriers.emit_invalidate_after_barrier(builder),
            false => lowering.set_next_mma_group(next_group),
        }
        values
    }
}

fn operand(lowering: &Lowering<'_>, op: Op, group: &str) -> Lowered<Registers> {
    let value: tile::Value = lowering
        .optional(op, group)
        .ok_or_else(|| LowerErrorReason::malformed(format!("its operand `{group}` is missing")))?;
    lowering.tensor(value)
}

/// Emits the conversion of an element to an integer of the width that the element has in memory.
fn word(lowering: &mut Lowering<'_>, value: Value, element_type: ElementType) -> Value {
    let word = lowering.emit_integer_bits(value);
    let required: Type = integer(element_type.stored_bits().max(8));
    let have = lowering.builder.type_of(word);
    if have.bits() == required.bits() {
        return word;
    }
    lowering.builder.cast(if have.bits() < required.bits() { Cast::ExtendU } else { Cast::Truncate }, word, required)
}

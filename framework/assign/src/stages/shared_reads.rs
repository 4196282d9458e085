//! The reads of a prefetched load's buffer in shared memory: by conversions, in several layouts, and by MMAs.

use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::memory_synthesis::{SharedTensor, TensorAccess};
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::transform::loads::{PrefetchConsumer, PrefetchRead, PrefetchableLoad};
use tilewright_tile::{LayoutAttribute, Op, Value};

use super::how::PipelinePlanner;
use crate::LOOP_WEIGHT;
use crate::layouts::{LayoutTransfer, shape_transfers};
use crate::memory::element_bits_while_moved;
use crate::shared_buffer::{MmaRead, SharedBuffer, memory_name, mma_operand_access};

impl<'m> PipelinePlanner<'_, 'm> {
    /// Returns the load of a value that lanes read with more reads of its buffer in shared memory: those of layout
    /// conversions in the same iteration that go through shared memory or are the only use, and those of MMAs. Other
    /// uses get the value, or that of the conversion before them, in registers.
    ///
    /// `None` if the load has no such read, or if a value is needed both in registers and by an MMA in shared memory.
    pub(super) fn with_shared_reads(&self, load: &PrefetchableLoad) -> Option<PrefetchableLoad> {
        let body = self.body;
        let is_lanes = load.reads.iter().all(|read| read.reader == PrefetchConsumer::Lanes);
        if !load.chain.is_empty() || !is_lanes {
            return None;
        }
        let ops = body.walk_region(body.root());
        let mut blocks = ops.iter().flat_map(|op| &body.op(*op).regions).flat_map(|region| body.blocks(*region));
        let iteration = body.ops(*blocks.find(|block| body.ops(**block).contains(&load.op))?);
        let mut found = FoundReads { ops: &ops, iteration, reads: Vec::new() };
        if self.find_reads(load.stored, &[], &mut found)? {
            let (value, views, reader) = (load.stored, Vec::new(), PrefetchConsumer::Lanes);
            found.reads.push(PrefetchRead { value, views, reader });
        }
        (found.reads != load.reads).then(|| PrefetchableLoad { reads: found.reads, ..load.clone() })
    }

    /// Adds the reads that replace uses of `value`, which the transpositions `views` derive from the buffer. Returns
    /// whether the value has other uses; `None` if it has while an MMA reads it in shared memory.
    fn find_reads(&self, value: Value, views: &[Op], found: &mut FoundReads<'_>) -> Option<bool> {
        let body = self.body;
        let users: Vec<Op> = found.ops.iter().copied().filter(|op| body.op(*op).operands.contains(&value)).collect();
        let (mut has_others, mut has_mma) = (false, false);
        for &user in &users {
            let operation = body.op(user);
            let read = |value, reader| PrefetchRead { value, views: views.to_vec(), reader };
            match operation.name() {
                _ if !found.iteration.contains(&user) => has_others = true,
                ttg::CONVERT_LAYOUT if users.len() == 1 || self.conversion_uses_shared(user) => {
                    let converted = operation.results[0];
                    if self.find_reads(converted, views, found)? {
                        found.reads.push(read(converted, PrefetchConsumer::Lanes));
                    }
                }
                tt::TRANS => {
                    has_others |= self.find_reads(operation.results[0], &[views, &[user]].concat(), found)?;
                }
                tt::DOT => {
                    let sides = (0..operation.operands.len()).filter(|&side| operation.operands[side] == value);
                    let is_read = |side: usize| side < 2 && self.reads_operand_from_shared(user, side);
                    let (in_memory, others): (Vec<usize>, Vec<usize>) = sides.partition(|&side| is_read(side));
                    has_others |= !others.is_empty();
                    has_mma |= !in_memory.is_empty();
                    let by_mma = |side| read(value, PrefetchConsumer::MmaOperand(user, side));
                    found.reads.extend(in_memory.into_iter().map(by_mma));
                }
                _ => has_others = true,
            }
        }
        (!has_others || !has_mma).then_some(has_others)
    }

    /// Returns the buffer of `value` with its reads; `None` if one has no known access.
    pub(super) fn buffer(&self, value: Value, reads: &[PrefetchRead]) -> Option<SharedBuffer<'m>> {
        let ty = self.body.value_type(value);
        let tensor = SharedTensor::new(ty.shape().unwrap_or_default(), element_bits_while_moved(ty.element()));
        let (mut accesses, mut mma_reads) = (Vec::new(), Vec::new());
        for read in reads {
            let access = match read.reader {
                PrefetchConsumer::Lanes => {
                    let layout = self.layout(read.value)?;
                    let transfers = self.transfers(&read.views)?.into_iter().rev().map(|[to_operand, _]| to_operand);
                    let layout = transfers.into_iter().try_fold(layout, |layout, to| to.apply(&layout).ok())?;
                    TensorAccess::load("the reader", layout, &self.config.context)
                }
                PrefetchConsumer::MmaOperand(op, side) => {
                    let dot = self.dot_plan(op)?;
                    let access = mma_operand_access(&dot.plan, side, "the MMA", self.config)?;
                    let view = self.transfers(&read.views)?.into_iter().map(|[_, to_result]| to_result).collect();
                    mma_reads.push(MmaRead { dot, side, view, first: Vec::new() });
                    if read.views.len() % 2 == 0 { access } else { access.of_transposed_tensor() }
                }
            };
            accesses.push(access.with_weight(LOOP_WEIGHT));
        }
        Some(SharedBuffer::new(tensor, accesses, mma_reads).with_limits(self.limits.clone()))
    }

    /// Returns the layout of a buffer, with this memory layout, in the axes of a read; `None` if these are those of the
    /// buffer.
    pub(super) fn view_of(&self, memory: &MemoryLayout, read: &PrefetchRead) -> Option<LayoutAttribute> {
        let transfers = self.transfers(&read.views).filter(|transfers| !transfers.is_empty())?;
        let to_result = |layout: LinearLayout, [_, to]: &[LayoutTransfer; 2]| to.apply(&layout).ok();
        let linear = transfers.iter().try_fold(memory.linear.clone(), to_result)?;
        Some(memory_name(&MemoryLayout { linear, ..memory.clone() }))
    }

    /// Returns the layout transfers of these transpositions: from result to operand, and from operand to result. `None`
    /// if one has no known transfers.
    fn transfers(&self, views: &[Op]) -> Option<Vec<[LayoutTransfer; 2]>> {
        views.iter().map(|op| shape_transfers(self.body, *op)).collect()
    }
}

/// The search for the reads of one buffer.
struct FoundReads<'a> {
    /// The operations of the function.
    ops: &'a [Op],
    /// The operations of the iteration.
    iteration: &'a [Op],
    reads: Vec<PrefetchRead>,
}

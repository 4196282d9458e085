//! Plans the prefetch of a load through a tensor descriptor as a bulk tensor copy (TMA).

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{AsyncCopySpec, plan_tensor_copy_to_shared};
use tilewright_target::{Direction, Optimization};
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::transform::loads::{PrefetchPath, PrefetchableLoad};
use tilewright_tile::{FunctionBody, Op};

use super::how::{PipelinePlanner, PrefetchPlan, bytes_of};
use crate::launch_tensor::find_descriptor_tensor;
use crate::layouts::{LayoutTransfer, shape_transfers, transferred_axis};
use crate::memory::describe_descriptor_global_tensor;
use crate::shared_buffer::{SharedBuffer, bulk_copy_access, memory_name};

impl<'m> PipelinePlanner<'_, 'm> {
    /// Plans the prefetch of a load as a bulk tensor copy; `read` is the buffer with its readers.
    ///
    /// `None` if the load has no descriptor that a launch can turn into a tensor map, if the loaded value is changed
    /// before its use, or if bulk copies fill no memory layout that the reader can read.
    pub(super) fn plan_tensor_copy(&self, load: &PrefetchableLoad, read: &SharedBuffer<'m>) -> Option<PrefetchPlan> {
        let (body, context) = (self.body, &self.config.context);
        let descriptor = body.operand(load.op, "desc")?;
        let is_enabled = context.enables(Optimization::TensorCopies);
        if body.op(load.op).name() != tt::DESCRIPTOR_LOAD || context.blocks > 1 || !is_enabled {
            return None;
        }
        find_descriptor_tensor(body, descriptor)?;
        let views = Views::of(body, load)?;
        let access =
            bulk_copy_access("the copy", (views.block.len(), Direction::Store), views.contiguous_axis()?, self.config);
        let solution = self.solved.solve(&read.with_first_access(access), self.config).ok()?;
        let block = MemoryLayout { linear: views.to_block(&solution.memory.linear)?, ..solution.memory.clone() };
        let global = describe_descriptor_global_tensor(body.value_type(descriptor), u64::MAX)?.tensor;
        let problem = AsyncCopySpec::new(&global, &block, read.tensor.bits, self.config.lanes, self.config.warps);
        let copy = plan_tensor_copy_to_shared(&problem.with_tensor_map(true), *context).ok()?;
        let bytes = bytes_of(&solution, read.tensor.bits);
        let block = Some(memory_name(&block));
        let solution = Some(solution);
        let plan = PrefetchPlan { path: PrefetchPath::TensorCopy, solution, bytes, registers: 0, block };
        bytes.is_multiple_of(copy.alignment).then_some(plan)
    }
}

/// The two views of a load's buffer: as a block of the tensor descriptor, which the bulk copy fills, and as the value
/// that the reader reads.
struct Views {
    /// The shape of a block of the descriptor.
    block: Vec<u64>,
    /// The layout transfers from the block to the stored value, in order.
    forward: Vec<LayoutTransfer>,
    /// The layout transfers in the other direction, from the stored value to the block, in order.
    backward: Vec<LayoutTransfer>,
}

impl Views {
    /// Returns the two views of a load's buffer; `None` if operations between the load and the store change values.
    fn of(body: &FunctionBody, load: &PrefetchableLoad) -> Option<Self> {
        let block = body.value_type(body.operand(load.op, "desc")?).shape()?.to_vec();
        let loaded = body.value_type(*body.op(load.op).results.first()?).shape()?.to_vec();
        let mut forward = vec![LayoutTransfer::Reshaped(loaded)];
        let mut backward = vec![LayoutTransfer::Reshaped(block.clone())];
        let reorders = |op: Op| body.op(op).attributes.get("allow_reorder").is_some();
        for &op in load.chain.iter().filter(|op| body.op(**op).name() != ttg::CONVERT_LAYOUT) {
            let [to_operand, to_result] = shape_transfers(body, op).filter(|_| !reorders(op))?;
            forward.push(to_result);
            backward.insert(0, to_operand);
        }
        Some(Self { block, forward, backward })
    }

    /// Returns the axis of the value that the reader reads along which elements are contiguous in global memory.
    fn contiguous_axis(&self) -> Option<Dim> {
        let last = self.block.len().checked_sub(1)?;
        transferred_axis(&self.block, last, &self.forward).map(Dim::tensor)
    }

    /// Derives the memory layout of the block from the layout `stored` of the stored value; `None` if a transfer does
    /// not apply.
    fn to_block(&self, stored: &LinearLayout) -> Option<LinearLayout> {
        self.backward.iter().try_fold(stored.clone(), |layout, transfer| transfer.apply(&layout).ok())
    }
}

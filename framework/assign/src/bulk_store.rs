//! Stores and reductions of a tensor descriptor's block by a bulk tensor copy (TMA): lanes store the block to a buffer in shared memory,
//! and one lane issues the copy from there to global memory.

use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::cost::GlobalWork;
use tilewright_plan::memory_synthesis::{SharedLayoutSearchLimits, SharedLayoutSolution, SharedTensor, TensorAccess};
use tilewright_plan::movement::{
    AsyncCopySpec, BulkReduction, CACHE_LINE_BYTES, TensorCopy, plan_tensor_copy_to_global,
};
use tilewright_target::{BankTableEntry, Direction, ElementType, MemoryReduction, Optimization};
use tilewright_tile::op::name::{tt, tw};
use tilewright_tile::transform::loads::PointerBases;
use tilewright_tile::{Attribute, FunctionBody, Op, Operation, Signedness, TileType, Value};

use crate::LaunchConfig;
use crate::graph::Access;
use crate::launch_tensor::find_descriptor_tensor;
use crate::layouts::{LayoutTransfer, tensor_shape_from_layout};
use crate::memory::{describe_rows, element_bits_while_moved};
use crate::op_costs::OpCosts;
use crate::shared_buffer::{SharedBuffer, bulk_copy_access, limits_for_prices};

/// Number of plain instructions of a warp for a bulk store: a proxy fence, the choice of the warp and the lane that
/// issue the copy, the commit and the wait.
const ISSUE_INSTRUCTIONS: f64 = 6.0;

/// A store of a descriptor's block by a bulk tensor copy.
#[derive(Debug, Clone)]
pub(crate) struct BulkStore {
    /// The layout of the buffer, in the axes of the stored tensor, and its accesses: the store and the copy.
    pub solution: SharedLayoutSolution,
    /// Bytes of the buffer.
    pub bytes: u64,
    /// The layout of the buffer, in the axes of the descriptor's block.
    pub block: MemoryLayout,
    /// The operations of a warp.
    pub costs: OpCosts,
}

/// The block of a tensor descriptor that a bulk tensor copy may store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BulkBlock {
    /// Number of elements along each axis.
    pub shape: Vec<u64>,
    /// The reduction that combines elements with those in global memory; `None` if the copy overwrites them.
    pub reduction: Option<BulkReduction>,
}

/// Returns the reduction of a `tt.descriptor_reduce` or a `tw.bulk_tensor_store` that writes through a descriptor of
/// type `descriptor`; `None` if the operation only stores.
///
/// # Errors
/// The keyword of the operation, if no bulk tensor copy combines elements of this type by it.
pub fn find_bulk_reduction(operation: &Operation, descriptor: &TileType) -> Result<Option<BulkReduction>, String> {
    let Some(word) = operation.attributes.get("kind").and_then(Attribute::as_text) else { return Ok(None) };
    let operation = MemoryReduction::from_name(word).ok_or_else(|| word.to_owned())?;
    let element = match descriptor.element() {
        TileType::Float(float) => ElementType::Float(float.format()),
        // The sign matters to extrema alone; targets may lack the signed type in other operations.
        TileType::Integer(bits, signedness) => {
            let is_extremum = matches!(operation, MemoryReduction::Min | MemoryReduction::Max);
            ElementType::Integer { bits: *bits, signed: is_extremum && *signedness != Signedness::Unsigned }
        }
        _ => return Err(word.to_owned()),
    };
    Ok(Some(BulkReduction { operation, element }))
}

/// Returns the descriptor's block if `op` is a store or a reduction that may be a bulk tensor copy; `None` otherwise.
///
/// A launch must be able to encode the descriptor's tensor map. The copy is complete when the kernel ends, so the
/// program must not signal other blocks that it has stored, and must not load the stored memory afterwards.
pub(crate) fn find_bulk_store(body: &FunctionBody, op: Op, config: &LaunchConfig<'_>) -> Option<BulkBlock> {
    let context = &config.context;
    let enabled = [Optimization::TensorCopies, Optimization::BulkStores].iter().all(|name| context.enables(*name));
    if !matches!(body.op(op).name(), tt::DESCRIPTOR_STORE | tt::DESCRIPTOR_REDUCE) || context.blocks > 1 || !enabled {
        return None;
    }
    let descriptor = body.operand(op, "desc")?;
    let base = find_descriptor_tensor(body, descriptor)?.base.argument;
    let (block, stored) = (body.value_type(descriptor), body.value_type(body.operand(op, "src")?));
    let (shape, stored_shape) = (block.shape()?, stored.shape()?);
    let is_full_block = shape.last() == stored_shape.last()
        && shape.iter().product::<u64>() == stored_shape.iter().product::<u64>()
        && stored.element_bits() == Some(element_bits_while_moved(stored.element()));
    let reduction = find_bulk_reduction(body.op(op), block).ok()?;
    (is_full_block && !is_observed(body, op, base)).then(|| BulkBlock { shape: shape.to_vec(), reduction })
}

/// Whether the program may observe that the store `op` to the memory of `base` is complete: it has atomic operations,
/// or loads from that memory that may follow the store.
pub(crate) fn is_observed(body: &FunctionBody, op: Op, base: Value) -> bool {
    let ops = body.walk_region(body.root());
    let bases = PointerBases::of(body);
    let after: Vec<Op> = ops.iter().copied().skip_while(|other| *other != op).collect();
    let in_common_loop = |load: Op| {
        let loops = ops.iter().filter(|other| !body.op(**other).regions.is_empty());
        loops.into_iter().any(|of| {
            let inside = body.op_and_nested_ops(*of);
            inside.contains(&op) && inside.contains(&load)
        })
    };
    ops.iter().any(|&other| {
        let operation = body.op(other);
        let loaded = match operation.name() {
            tt::LOAD => bases.find(operation.operands[0]),
            tw::COPY if matches!(body.value_type(operation.operands[0]), TileType::View(_)) => {
                bases.find(operation.operands[0])
            }
            tt::DESCRIPTOR_LOAD | tt::DESCRIPTOR_GATHER => {
                find_descriptor_tensor(body, operation.operands[0]).map(|tensor| tensor.base.argument)
            }
            name => return name.starts_with("tt.atomic") || name == tw::CLUSTER_BARRIER,
        };
        loaded.is_none_or(|loaded| loaded == base) && (after.contains(&other) || in_common_loop(other))
    })
}

impl Access {
    /// Returns the bulk store that this access may be in a register layout, if it takes less time than direct stores;
    /// `None` otherwise.
    pub(crate) fn bulk_store(&self, layout: &LinearLayout, config: &LaunchConfig<'_>) -> Option<BulkStore> {
        let direct = OpCosts::of_direct_access(self, layout, config).ok();
        let cycles =
            |costs: &OpCosts| costs.work().predict_time(config.warps.into(), config.context.target).total_cycles();
        let bulk = self.plan_bulk_store(layout, config, limits_for_prices())?;
        direct.is_none_or(|direct| cycles(&bulk.costs) < cycles(&direct)).then_some(bulk)
    }

    /// Plans the bulk store with these limits of the search for the layout of its buffer.
    pub(crate) fn plan_bulk_store(
        &self,
        layout: &LinearLayout,
        config: &LaunchConfig<'_>,
        limits: SharedLayoutSearchLimits,
    ) -> Option<BulkStore> {
        let (block, bits) = (self.bulk_block.as_ref()?, self.named.bits);
        let tensor = SharedTensor::new(&tensor_shape_from_layout(layout), bits);
        let last = Dim::tensor(tensor_shape_from_layout(layout).len().checked_sub(1)?);
        let store = TensorAccess::store("the store", layout.clone(), &config.context);
        let copy = bulk_copy_access("the copy", (block.shape.len(), Direction::Load), last, config);
        let buffer = SharedBuffer::new(tensor, vec![store, copy], Vec::new()).with_limits(limits);
        let solution = buffer.solve(config).ok()?;
        let (block, copy) = plan_block_copy(block, bits, &solution.memory, config)?;
        let bytes = solution.memory.allocated_bytes(bits);
        let costs = count_ops(&solution, &copy, bytes, config);
        (bytes <= u64::from(config.context.target.shared.bytes)).then_some(BulkStore { solution, bytes, block, costs })
    }
}

/// Plans the bulk tensor copy of a descriptor's block from shared memory. `memory` is the layout there,
/// in the axes of the stored tensor. Also returns the layout in the axes of the block; `None` if no copy reads it.
pub(crate) fn plan_block_copy(
    block: &BulkBlock,
    bits: u32,
    memory: &MemoryLayout,
    config: &LaunchConfig<'_>,
) -> Option<(MemoryLayout, TensorCopy)> {
    let linear = LayoutTransfer::Reshaped(block.shape.clone()).apply(&memory.linear).ok()?;
    let block_memory = MemoryLayout { linear, ..memory.clone() };
    let global = describe_rows(&block.shape, bits, u64::MAX)?.tensor;
    let problem = AsyncCopySpec::new(&global, &block_memory, bits, config.lanes, config.warps);
    let problem = problem.with_tensor_map(true).with_reduction(block.reduction);
    let copy = plan_tensor_copy_to_global(&problem, config.context).ok()?;
    memory.allocated_bytes(bits).is_multiple_of(copy.alignment).then_some((block_memory, copy))
}

/// Counts the operations of a bulk store: the stores to the buffer, the barrier behind them, and the copy, which reads
/// the buffer in full wavefronts and writes whole sectors.
fn count_ops(solution: &SharedLayoutSolution, copy: &TensorCopy, bytes: u64, config: &LaunchConfig<'_>) -> OpCosts {
    let target = config.context.target;
    let warps = u64::from(config.warps.max(1));
    let wavefront = target.shared.banks.iter().map(BankTableEntry::wavefront_bytes).max().unwrap_or(1).max(1);
    let mut counts = Counts { barriers: 1, ..Counts::default() };
    if let Some(store) = solution.served.first() {
        let issued = if store.instruction.is_none() { &mut counts.shared_stores } else { &mut counts.matrix_stores };
        *issued = store.issued;
        (counts.wavefronts_stored, counts.permutes) = (store.wavefronts, store.permutes);
    }
    counts.wavefronts_loaded = bytes.div_ceil(wavefront * warps);
    let of_warp = |all: u64| all as f64 / warps as f64;
    let global = GlobalWork {
        accesses: of_warp(copy.box_count() as u64),
        lines: of_warp(bytes.div_ceil(CACHE_LINE_BYTES)),
        stored_sectors: of_warp(copy.transactions),
        ..GlobalWork::default()
    };
    OpCosts { plain: ISSUE_INSTRUCTIONS, counts, accesses: copy.box_count() as u64, bytes, global }
}

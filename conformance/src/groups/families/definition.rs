//! Checks that a family builds the requested layout: for the tensor's shape and the block's lanes and warps, and valid
//! by the definition of its kind (distributed or memory layout).

use tilewright_layout::families::cluster::tensor_dims_of_rank;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, SampleLayout};

use super::super::law::{LawResult, law_failure, require, resolve};
use super::super::walk::{columns, covers_evenly};
use crate::Context;
use crate::groups::KernelConfig;

/// Checks that a sample's layout is valid, has the requested warps and lanes, and is the same when requested again.
pub(super) fn definition(context: &Context, sample: &SampleLayout, shape: &[u64], setting: KernelConfig) -> LawResult {
    let layout = resolve(context, &sample.spec, shape)?;
    check_definition(&layout, shape)?;
    if let Layout::Distributed(linear) = &layout {
        of_block(linear, setting)?;
    }
    let second = resolve(context, &sample.spec, shape)?;
    require(second == layout, || format!("a second request returns\n{}\nnot\n{}", second.linear(), layout.linear()))
}

/// Checks that a layout has the tensor's shape and is valid for its kind: distributed (Linear Layouts
/// paper, Definition 4.10), memory (Definition 4.14), or tensor memory.
fn check_definition(layout: &Layout, shape: &[u64]) -> LawResult {
    of_shape(layout.linear(), shape)?;
    match layout {
        Layout::Distributed(linear) => is_distributed(linear),
        Layout::Memory(memory) => is_memory(memory),
        Layout::TensorMemory(linear) => {
            require(dims(linear) == [Dim::ROW, Dim::COL], || format!("its inputs are {:?}", dims(linear)))?;
            covers_evenly(linear).map(drop).map_err(law_failure)
        }
    }
}

fn dims(layout: &LinearLayout) -> Vec<Dim> {
    layout.ins().dims().collect()
}

pub(super) fn of_shape(layout: &LinearLayout, shape: &[u64]) -> LawResult {
    let expected: Vec<_> =
        tensor_dims_of_rank(shape.len()).into_iter().zip(shape.iter().map(|size| size.ilog2())).collect();
    let found: Vec<_> = layout.outs().iter().collect();
    require(found == expected, || format!("it covers (dim, bits) {found:?}, the tensor has {expected:?}"))
}

fn of_block(layout: &LinearLayout, setting: KernelConfig) -> LawResult {
    for (dim, size) in [(Dim::LANE, setting.lanes), (Dim::WARP, setting.warps), (Dim::BLOCK, 1)] {
        let found = 1u64 << layout.in_bits(dim);
        require(found == u64::from(size), || format!("{dim} has {found} positions, the block has {size}"))?;
    }
    Ok(())
}

/// Checks that each column of the layout's matrix has at most one bit set, that no bit is set in two columns, that
/// every element is held, and that only zero columns replicate.
pub(super) fn is_distributed(layout: &LinearLayout) -> LawResult {
    let expected = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    require(dims(layout) == expected, || format!("its inputs are {:?}, not {expected:?}", dims(layout)))?;
    let columns = columns(layout).map_err(law_failure)?;
    let mut seen = 0u64;
    for &column in columns.iter().filter(|&&column| column != 0) {
        require(column.is_power_of_two(), || format!("column {column:#x} has several bits\n{layout}"))?;
        require(seen & column == 0, || format!("two columns are {column:#x}\n{layout}"))?;
        seen |= column;
    }
    let zeros = columns.iter().filter(|&&column| column == 0).count();
    let copies = covers_evenly(layout).map_err(law_failure)?;
    require(u64::from(copies) == 1 << zeros, || {
        format!("each element has {copies} replicas, but {zeros} columns are zero\n{layout}")
    })
}

/// Checks that every element has one offset, that columns of the layout's matrix have one or two bits set, and that
/// padding keeps elements disjoint and inside the allocation.
fn is_memory(memory: &MemoryLayout) -> LawResult {
    let layout = &memory.linear;
    require(dims(layout) == [Dim::OFFSET, Dim::BLOCK], || format!("its inputs are {:?}", dims(layout)))?;
    for column in columns(layout).map_err(law_failure)? {
        let bits = column.count_ones();
        require(bits == 1 || bits == 2, || format!("column {column:#x} has {bits} bits\n{layout}"))?;
    }
    let copies = covers_evenly(layout).map_err(law_failure)?;
    require(copies == 1, || format!("each element has {copies} replicas\n{layout}"))?;
    let intervals = memory.padding.iter().map(|padding| padding.interval);
    require(intervals.clone().all(u64::is_power_of_two), || "an interval is not a power of two".to_owned())?;
    require(intervals.is_sorted(), || "intervals do not ascend".to_owned())?;
    let mut last = None;
    for offset in 0..1u64 << layout.in_bits(Dim::OFFSET) {
        let memory_offset = memory.physical_offset(offset);
        let gaps: u64 = memory.padding.iter().map(|p| offset / p.interval * p.padding).sum();
        require(memory_offset == offset + gaps, || {
            format!("offset {offset} is at {memory_offset}, not {}", offset + gaps)
        })?;
        require(last.is_none_or(|last| last < memory_offset), || format!("offset {offset} overlaps the one before"))?;
        last = Some(memory_offset);
    }
    let allocated = memory.allocated_elements();
    require(last < Some(allocated), || format!("{allocated} elements allocated, the last is at {last:?}"))
}

//! What a family builds is what it was asked for: of the tensor's shape, of the block's lanes and warps,
//! and of the kind that the definitions say.

use tilewright_layout::families::cluster::tensor_dims;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, Sample};

use super::super::law::{Checked, broken, require, resolve};
use super::super::walk::{columns, covers_evenly};
use crate::Context;
use crate::groups::Setting;

/// The sample's layout is sound, of the setting's block, and the same when it is asked again.
pub(super) fn definition(context: &Context, sample: &Sample, shape: &[u64], setting: Setting) -> Checked {
    let layout = resolve(context, &sample.spec, shape)?;
    sound(&layout, shape)?;
    if let Layout::Distributed(linear) = &layout {
        of_block(linear, setting)?;
    }
    let again = resolve(context, &sample.spec, shape)?;
    require(again == layout, || format!("asked again it is\n{}\nnot\n{}", again.linear(), layout.linear()))
}

/// The layout is of the tensor's shape and of the kind that the definitions say: distributed (seed
/// 000, Definition 4.10), memory (Definition 4.14), or tensor memory.
fn sound(layout: &Layout, shape: &[u64]) -> Checked {
    of_shape(layout.linear(), shape)?;
    match layout {
        Layout::Distributed(linear) => is_distributed(linear),
        Layout::Memory(memory) => is_memory(memory),
        Layout::TensorMemory(linear) => {
            require(dims(linear) == [Dim::ROW, Dim::COL], || format!("its inputs are {:?}", dims(linear)))?;
            covers_evenly(linear).map(drop).map_err(broken)
        }
    }
}

fn dims(layout: &LinearLayout) -> Vec<Dim> {
    layout.ins().dims().collect()
}

pub(super) fn of_shape(layout: &LinearLayout, shape: &[u64]) -> Checked {
    let expected: Vec<_> = tensor_dims(shape.len()).into_iter().zip(shape.iter().map(|size| size.ilog2())).collect();
    let found: Vec<_> = layout.outs().iter().collect();
    require(found == expected, || format!("it covers (dim, bits) {found:?}, the tensor has {expected:?}"))
}

fn of_block(layout: &LinearLayout, setting: Setting) -> Checked {
    for (dim, size) in [(Dim::LANE, setting.lanes), (Dim::WARP, setting.warps), (Dim::BLOCK, 1)] {
        let found = 1u64 << layout.in_bits(dim);
        require(found == u64::from(size), || format!("{dim} has {found} positions, the block has {size}"))?;
    }
    Ok(())
}

/// Each column has at most one bit, no bit is in two columns, every element is held; what is held
/// more than once is so by the zero columns alone.
pub(super) fn is_distributed(layout: &LinearLayout) -> Checked {
    let expected = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    require(dims(layout) == expected, || format!("its inputs are {:?}, not {expected:?}", dims(layout)))?;
    let columns = columns(layout).map_err(broken)?;
    let mut seen = 0u64;
    for &column in columns.iter().filter(|&&column| column != 0) {
        require(column.is_power_of_two(), || format!("column {column:#x} has several bits\n{layout}"))?;
        require(seen & column == 0, || format!("two columns are {column:#x}\n{layout}"))?;
        seen |= column;
    }
    let zeros = columns.iter().filter(|&&column| column == 0).count();
    let copies = covers_evenly(layout).map_err(broken)?;
    require(u64::from(copies) == 1 << zeros, || {
        format!("each element is held {copies} times, but {zeros} columns are zero\n{layout}")
    })
}

/// Every element has one offset, columns have one or two bits, and padding keeps elements apart
/// and inside the allocation.
fn is_memory(memory: &MemoryLayout) -> Checked {
    let layout = &memory.linear;
    require(dims(layout) == [Dim::OFFSET, Dim::BLOCK], || format!("its inputs are {:?}", dims(layout)))?;
    for column in columns(layout).map_err(broken)? {
        let bits = column.count_ones();
        require(bits == 1 || bits == 2, || format!("column {column:#x} has {bits} bits\n{layout}"))?;
    }
    let copies = covers_evenly(layout).map_err(broken)?;
    require(copies == 1, || format!("each element is held {copies} times\n{layout}"))?;
    let intervals = memory.padding.iter().map(|padding| padding.interval);
    require(intervals.clone().all(u64::is_power_of_two), || "an interval is no power of two".to_owned())?;
    require(intervals.is_sorted(), || "intervals do not ascend".to_owned())?;
    let mut last = None;
    for offset in 0..1u64 << layout.in_bits(Dim::OFFSET) {
        let place = memory.physical_offset(offset);
        let gaps: u64 = memory.padding.iter().map(|p| offset / p.interval * p.padding).sum();
        require(place == offset + gaps, || format!("offset {offset} lies at {place}, not {}", offset + gaps))?;
        require(last.is_none_or(|last| last < place), || format!("offset {offset} overlaps the one before"))?;
        last = Some(place);
    }
    let allocated = memory.allocated_elements();
    require(last < Some(allocated), || format!("{allocated} elements allocated, the last lies at {last:?}"))
}

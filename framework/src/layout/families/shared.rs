//! Memory layouts: `swizzled_shared`, `padded_shared`, `shared_linear` (seed 002).

use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout, MemoryLayout, Padding};

use super::blocked::permutation;
use super::cluster::{cluster_layout, no_larger_than, no_smaller_than, tensor_dims};

/// Rows of the fastest axis, row `r` xor-swizzled by `vec * ((r / per_phase) % max_phase)`.
pub(super) fn swizzled(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameters();
    let vec = read.number(&["vec"])?;
    let per_phase = read.number(&["per_phase"])?;
    let max_phase = read.number(&["max_phase"])?;
    let order = read.numbers(&["order"])?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.finish()?;
    for (name, value) in [("vec", vec), ("per_phase", per_phase), ("max_phase", max_phase)] {
        if !value.is_power_of_two() {
            return Err(read.wrong(name, &format!("{value} is no power of two")));
        }
    }
    let order = permutation(&order, shape.len()).ok_or_else(|| read.wrong("order", "is no permutation of the axes"))?;
    let cluster = cluster_layout(spec, &cluster, shape.len())?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let cluster = no_larger_than(&cluster, shape)?;
        let share: Vec<_> =
            (0..shape.len()).map(|axis| (shape[axis] >> cluster.out_bits(Dim::tensor(axis))).max(1)).collect();
        let block = swizzled_block(&share, &order, vec, per_phase, max_phase)?;
        block.transpose_outs(&tensor_dims(shape.len()))?.direct_sum(&cluster)
    };
    let linear = build().map_err(|error| FamilyError::of_layout(&spec.name, &error))?;
    Ok(MemoryLayout { alignment: Some(16), ..MemoryLayout::linear(linear) })
}

fn swizzled_block(
    share: &[u64],
    order: &[usize],
    vec: u64,
    per_phase: u64,
    max_phase: u64,
) -> Result<LinearLayout, LayoutError> {
    let col_dim = Dim::tensor(order[0]);
    let cols = share[order[0]];
    let mut layout = LinearLayout::identity(cols, Dim::OFFSET, col_dim)?;
    if let Some(&row_axis) = order.get(1) {
        let rows = share[row_axis];
        let mut bases: Vec<Vec<u64>> = (0..cols.trailing_zeros()).map(|bit| vec![1 << bit, 0]).collect();
        for bit in 0..rows.trailing_zeros() {
            let row = 1u64 << bit;
            let phase = (row / per_phase) % max_phase;
            bases.push(vec![vec.wrapping_mul(phase) % cols, row]);
        }
        layout = LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &[(col_dim, cols), (Dim::tensor(row_axis), rows)])?;
    }
    order.iter().skip(2).try_fold(layout, |sum, &axis| {
        sum.direct_sum(&LinearLayout::identity(share[axis], Dim::OFFSET, Dim::tensor(axis))?)
    })
}

/// A linear part with gaps after every so many elements.
pub(super) fn padded(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameters();
    let pairs = read.bases(&["interval_padding_pairs", "0"])?;
    let offsets = read.optional(&["offset_bases", "offset"]).is_some();
    let linear = if offsets {
        let bases = [
            (Dim::OFFSET, read.bases(&["offset_bases", "offset"])?),
            (Dim::BLOCK, read.bases_or_none(&["block_bases", "cga_layout", "block"])?),
        ];
        let own = read.optional(&["shape"]).map(|_| read.numbers(&["shape"])).transpose()?;
        read.finish()?;
        explicit(spec, &bases, own.as_deref().unwrap_or(shape), shape)?
    } else {
        let order = read.numbers(&["order"])?;
        let _ = read.optional(&["shape"]);
        read.finish()?;
        let order =
            permutation(&order, shape.len()).ok_or_else(|| read.wrong("order", "is no permutation of the axes"))?;
        swizzled_block(shape, &order, 1, 1, 1)
            .and_then(|block| block.transpose_outs(&tensor_dims(shape.len())))
            .and_then(|block| block.direct_sum(&LinearLayout::identity(1, Dim::BLOCK, Dim::tensor(0))?))
            .map_err(|error| FamilyError::of_layout(&spec.name, &error))?
    };
    let mut padding = Vec::new();
    for pair in &pairs {
        let [interval, gap] = pair[..] else {
            return Err(read.wrong("interval_padding_pairs", "each entry must be [interval, padding]"));
        };
        if !interval.is_power_of_two() {
            let message = format!("interval {interval} is no power of two");
            return Err(read.wrong("interval_padding_pairs", &message));
        }
        padding.push(Padding { interval, padding: gap });
    }
    padding.sort_by_key(|p| p.interval);
    Ok(MemoryLayout { linear, padding, alignment: None })
}

/// Bases given one by one.
pub(super) fn linear(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameters();
    let bases = [
        (Dim::OFFSET, read.bases(&["offset_bases", "offset"])?),
        (Dim::BLOCK, read.bases_or_none(&["block_bases", "block"])?),
    ];
    let alignment = read.optional(&["alignment"]).map(|_| read.number(&["alignment"])).transpose()?;
    read.finish()?;
    let alignment = alignment
        .map(|bytes| u32::try_from(bytes).ok().filter(|b| b.is_power_of_two()))
        .map(|bytes| bytes.ok_or_else(|| read.wrong("alignment", "must be a power of two of bytes")))
        .transpose()?;
    let linear = explicit(spec, &bases, shape, shape)?;
    Ok(MemoryLayout { alignment, ..MemoryLayout::linear(linear) })
}

fn explicit(
    spec: &FamilySpec,
    bases: &[(Dim, Vec<Vec<u64>>)],
    own: &[u64],
    shape: &[u64],
) -> Result<LinearLayout, FamilyError> {
    let failed = |error: LayoutError| FamilyError::of_layout(&spec.name, &error);
    let outs: Vec<_> = tensor_dims(own.len()).into_iter().zip(own.iter().copied()).collect();
    let layout = LinearLayout::from_bases(bases, &outs).map_err(failed)?;
    no_smaller_than(&layout, shape, Dim::OFFSET).and_then(|l| no_larger_than(&l, shape)).map_err(failed)
}

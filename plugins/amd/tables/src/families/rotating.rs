//! The family `amd_rotating_shared`: a swizzled layout of shared memory whose pattern changes between blocks of rows.
//!
//! The family `swizzled_shared` repeats its pattern after a block of `per_phase * max_phase` rows. In this family,
//! block b starts at phase b, and the pattern repeats after `max_phase` blocks, so that both rows and columns can be
//! read without bank conflicts (Triton, `AMDRotatingSharedEncodingAttr`).

use tilewright_layout::families::cluster::{
    block_share_shape, cluster_layout, ensure_layout_not_larger_than, tensor_dims_of_rank,
};
use tilewright_layout::{Dim, DimBases, FamilyError, FamilySpec, LayoutError, LinearLayout, MemoryLayout};

/// Parameters of the swizzle over the two fastest axes, named as in Triton; all are powers of two.
struct Pattern {
    /// Number of adjacent elements of a row that the swizzle keeps together.
    vec: u64,
    /// Number of adjacent rows with the same xor value.
    per_phase: u64,
    /// Number of different xor values, after which the swizzle repeats.
    max_phase: u64,
}

impl Pattern {
    /// Returns the value with which the swizzle xors the column index in row `row`.
    fn of_row(&self, row: u64) -> u64 {
        let iteration = row / self.per_phase;
        let (phase, block) = (iteration % self.max_phase, iteration / self.max_phase % self.max_phase);
        self.vec.wrapping_mul(phase ^ block)
    }
}

/// Returns the shared-memory layout of a tensor of this shape.
pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameter_reader();
    let pattern = Pattern {
        vec: read.power_of_two(&["vec"])?,
        per_phase: read.power_of_two(&["per_phase"])?,
        max_phase: read.power_of_two(&["max_phase"])?,
    };
    let order = read.axis_order(&["order"], shape.len())?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    let cluster = cluster_layout(spec, &cluster, shape.len())?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let cluster = ensure_layout_not_larger_than(&cluster, shape)?;
        let block = block(&block_share_shape(shape, &cluster), &order, &pattern)?;
        block.transpose_outs(&tensor_dims_of_rank(shape.len()))?.direct_sum(&cluster)
    };
    let linear = build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))?;
    Ok(MemoryLayout { alignment: Some(16), ..MemoryLayout::from_linear(linear) })
}

/// Returns the layout of one thread block's part of a tensor: swizzled rows along the fastest axis, then the other axes
/// in order. `share` has the sizes of the part; `order` lists the axes, the fastest first.
fn block(share: &[u64], order: &[usize], pattern: &Pattern) -> Result<LinearLayout, LayoutError> {
    let (column, columns) = (Dim::tensor(order[0]), share[order[0]]);
    let Some(&second) = order.get(1) else { return LinearLayout::identity(columns, Dim::OFFSET, column) };
    let along_row = (0..columns.trailing_zeros()).map(|bit| vec![1 << bit, 0]);
    let rows = (0..share[second].trailing_zeros()).map(|bit| 1u64 << bit);
    let bases: DimBases = along_row.chain(rows.map(|row| vec![pattern.of_row(row) % columns, row])).collect();
    let sizes = [(column, columns), (Dim::tensor(second), share[second])];
    let matrix = LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &sizes)?;
    order[2..].iter().try_fold(matrix, |sum, &axis| {
        sum.direct_sum(&LinearLayout::identity(share[axis], Dim::OFFSET, Dim::tensor(axis))?)
    })
}

//! The families `tensor_memory` and `tensor_memory_scales`: layouts in tensor memory of accumulators, operands and
//! scales of `tcgen05.mma`.
//!
//! A block's tensor memory has 128 rows; each warp accesses 32 of them. If the basis of row bit 32 or 64 is zero, warps
//! hold replicas; any other zero basis means locations without an element.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::{
    block_share_shape, cluster_layout, ensure_layout_not_larger_than, identity_nd,
};
use tilewright_layout::{Dim, FamilyError, FamilyParameterValue, FamilySpec, LayoutError, LinearLayout, Space};

/// Number of rows of tensor memory.
const ROWS: u64 = 128;
/// Number of rows of tensor memory that hold different scales; the 32 rows of each warp hold a replica.
const SCALE_ROWS: u64 = 32;
/// Number of scales of one row of A or column of B that are packed in a 32-bit column.
const SCALES_PACKED: u64 = 4;
/// Number of 32-bit columns of tensor memory.
const COLUMNS: u64 = 512;

/// The tile of one matrix instruction in tensor memory: its numbers of rows and columns, and the stride of its columns.
struct Tiling {
    rows: u64,
    columns: u64,
    /// Distance from one column of the tile to the next, in elements; 1, 2 or 4.
    stride: u64,
    /// Whether two blocks of the cluster execute one instruction together (`cta_group::2`).
    paired: bool,
}

impl Tiling {
    fn read(spec: &FamilySpec) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        let (rows, columns) = if read.optional(&["block"]).is_some() {
            let block = read.powers_of_two(&["block"], 2)?;
            (block[0], block[1])
        } else {
            (read.power_of_two(&["block_m"])?, read.power_of_two(&["block_n"])?)
        };
        let stride = read.power_of_two(&["col_stride"])?;
        let paired = read.flag_or(&["two_ctas"], false)?;
        let padded = read.flag_or(&["fp4_padded", "fp4padded"], false)?;
        let blocks = read.bases_or_none(&["cga_layout"])?;
        read.check_all_read()?;
        if rows != 64 && rows != ROWS {
            return Err(read.invalid_value_error("block", &format!("has {rows} rows, which is neither 64 nor 128")));
        }
        if columns > COLUMNS {
            return Err(read.invalid_value_error(
                "block",
                &format!("has {columns} columns, more than the {COLUMNS} that there are"),
            ));
        }
        if stride > 4 {
            return Err(read.invalid_value_error("col_stride", &format!("{stride} is none of 1, 2 and 4")));
        }
        if padded && stride != 1 {
            return Err(
                read.invalid_value_error("fp4_padded", "padded elements follow each other: `col_stride` must be 1")
            );
        }
        if paired && blocks.first().is_none_or(|first| first[..] != [1, 0]) {
            let message = "pairs are blocks that follow each other down the rows: `cga_layout` must begin with [1, 0]";
            return Err(read.invalid_value_error("two_ctas", message));
        }
        // With padded elements, every second column of the tile holds nothing.
        Ok(Self { rows, columns, stride: if padded { 2 } else { stride }, paired })
    }

    /// Returns the layout of one block's part of a tensor; `share` has the sizes of the part. The tile is repeated down
    /// the rows, then along the columns.
    fn over(&self, share: [u64; 2]) -> Result<LinearLayout, LayoutError> {
        let columns = self.columns.min(share[1]);
        let mut covered = [self.rows, columns];
        // A 64-row tile uses rows 0 to 15 of each warp; rows 16 to 31 hold the next tile, if the tensor has one.
        let next = (self.rows < ROWS && !self.paired).then(|| next_tile(&mut covered, share));
        let mut rows: Columns = (0..self.rows.trailing_zeros()).map(|bit| 1 << bit).collect();
        let mut along: Columns = (0..self.stride.trailing_zeros()).map(|_| 0).collect();
        along.extend((0..columns.trailing_zeros()).map(|bit| covered[0] << bit));
        match next {
            Some(next) => rows.insert(4, next),
            // Rows 64 to 127 of tensor memory hold the upper half of the tile's columns.
            None if self.rows < ROWS => rows.extend(along.pop()),
            None => {}
        }
        let ins = Space::from_sizes(&[(Dim::ROW, 1 << rows.len()), (Dim::COL, 1 << along.len())])?;
        let outs = Space::from_sizes(&[(Dim::tensor(0), covered[0]), (Dim::tensor(1), covered[1])])?;
        rows.extend(along);
        let tile = LinearLayout::from_columns(ins, outs, &rows)?;
        tile.direct_sum(&identity_nd(Dim::COL, &[share[0] / covered[0], share[1] / covered[1]], &[0, 1])?)
    }
}

/// Returns the element at which a second tile starts, in the rows of tensor memory that a 64-row tile leaves free. The
/// second tile follows the first down the rows, or along the columns if the tensor has no further rows. The element is
/// row + `rows` * column; zero if there is no second tile. `covered` becomes the size of both tiles together.
fn next_tile(covered: &mut [u64; 2], share: [u64; 2]) -> u64 {
    let [rows, columns] = *covered;
    if share[0] > rows {
        covered[0] *= 2;
        rows
    } else if share[1] > columns {
        covered[1] *= 2;
        rows * columns
    } else {
        0
    }
}

fn wrong_shape(spec: &FamilySpec, shape: &[u64], message: String) -> FamilyError {
    FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message }
}

/// Returns the layout of the cluster's blocks, and the sizes of the part of a tensor of `shape` that each block holds.
fn blocks(spec: &FamilySpec, shape: &[u64]) -> Result<(LinearLayout, [u64; 2]), FamilyError> {
    if shape.len() != 2 {
        return Err(wrong_shape(spec, shape, "tensor memory has tensors of two axes only".to_owned()));
    }
    let cluster = cluster_layout(spec, &spec.parameter_reader().bases_or_none(&["cga_layout"])?, 2)?;
    let cluster = ensure_layout_not_larger_than(&cluster, shape)
        .map_err(|error| FamilyError::from_layout_error(&spec.name, &error))?;
    let share = block_share_shape(shape, &cluster);
    Ok((cluster, [share[0], share[1]]))
}

/// Returns the layout of a whole tensor: one block's layout, repeated for the blocks of the cluster. A single block has
/// no block index.
fn of_cluster(block: &LinearLayout, cluster: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    if cluster.in_bits(Dim::BLOCK) == 0 { Ok(block.clone()) } else { block.direct_sum(cluster) }
}

/// Returns the tensor-memory layout of an accumulator or operand for a tensor of this shape.
pub(super) fn values(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let tiling = Tiling::read(spec)?;
    let (cluster, share) = blocks(spec, shape)?;
    let halved = tiling.paired && tiling.rows < ROWS;
    if share[0] < tiling.rows {
        return Err(wrong_shape(spec, shape, format!("a block must have {} rows at least", tiling.rows)));
    }
    if halved && tiling.columns.min(share[1]) < 2 {
        return Err(wrong_shape(spec, shape, "a tile of 64 rows of a pair has two columns at least".to_owned()));
    }
    let clustered = tiling.over(share).and_then(|block| of_cluster(&block, &cluster));
    clustered.map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

/// Returns the tensor-memory layout of an operand's scales, for a tensor with one row for each row of A or column of B,
/// and one column for each scale block along K.
pub(super) fn scales(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let along_first = match read.optional(&["block_rep_order"]) {
        None => false,
        Some(FamilyParameterValue::Text(order)) if order == "mnThenK" => false,
        Some(FamilyParameterValue::Text(order)) if order == "kThenMn" => true,
        Some(_) => return Err(read.invalid_value_error("block_rep_order", "is neither mnThenK nor kThenMn")),
    };
    let _ = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    let (cluster, share) = blocks(spec, shape)?;
    let (down, along) = (Dim::tensor(0), Dim::tensor(1));
    // One block of scales has 64 rows and 4 columns; if there are more rows, two blocks stay together.
    let together = if share[0] > 2 * SCALE_ROWS { 4 } else { 2 };
    let further = LinearLayout::identity((share[0] / SCALE_ROWS / together).max(1), Dim::COL, down);
    let beside = LinearLayout::identity((share[1] / SCALES_PACKED).max(1), Dim::COL, along);
    let (first, second) = if along_first { (beside, further) } else { (further, beside) };
    let modes = [
        LinearLayout::identity(SCALE_ROWS, Dim::ROW, down),
        LinearLayout::zeros(ROWS / SCALE_ROWS, Dim::ROW, down, 1),
        LinearLayout::identity(SCALES_PACKED, Dim::COL, along),
        LinearLayout::identity(together, Dim::COL, down),
        first,
        second,
    ];
    let sum = modes.into_iter().try_fold(LinearLayout::empty(), |sum, mode| sum.direct_sum(&mode?));
    let clustered = sum.and_then(|sum| of_cluster(&ensure_layout_not_larger_than(&sum, &share)?, &cluster));
    clustered.map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

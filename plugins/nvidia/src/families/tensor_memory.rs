//! `tensor_memory` and `tensor_memory_scales`: where the matrix instructions of compute capability
//! 10 keep accumulators, operands and scales.
//!
//! Tensor memory of a block has 128 rows, of which each warp reaches 32. A zero basis of rows 32 or
//! 64 means that warps hold the same; any other zero basis is a place that holds nothing.

use tilewright::f2::Columns;
use tilewright::layout::families::cluster::identity_nd;
use tilewright::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout, Space};

/// Rows of tensor memory.
const ROWS: u64 = 128;
/// Rows of scales, which every warp holds again.
const SCALE_ROWS: u64 = 32;
/// Scales of one row that share 32 bits.
const SCALES_PACKED: u64 = 4;

/// The block that one matrix instruction writes, and how its columns lie.
struct Tiling {
    rows: u64,
    columns: u64,
    /// Places from one column to the next.
    stride: u64,
}

impl Tiling {
    fn read(spec: &FamilySpec) -> Result<Self, FamilyError> {
        let read = spec.parameters();
        let (rows, columns) = if read.optional(&["block"]).is_some() {
            let block = read.powers(&["block"], 2)?;
            (block[0], block[1])
        } else {
            (read.power(&["block_m"])?, read.power(&["block_n"])?)
        };
        let stride = read.power(&["col_stride"])?;
        let paired = read.flag_or(&["two_ctas"], false)?;
        let padded = read.flag_or(&["fp4_padded"], false)?;
        one_block(spec, &read.bases_or_none(&["cga_layout"])?)?;
        read.finish()?;
        if paired {
            return Err(read.wrong("two_ctas", "needs pairs of blocks; layouts over several blocks are not served"));
        }
        if rows != 64 && rows != ROWS {
            return Err(read.wrong("block", &format!("has {rows} rows, which is neither 64 nor 128")));
        }
        // Of padded elements every second place holds nothing.
        let stride = stride.checked_mul(if padded { 2 } else { 1 });
        let stride = stride.ok_or_else(|| read.wrong("col_stride", "is too large"))?;
        Ok(Self { rows, columns, stride })
    }

    /// Rows and columns of `shape`: first the block, then blocks down the rows, then along them.
    fn over(&self, shape: [u64; 2]) -> Result<LinearLayout, LayoutError> {
        let columns = self.columns.min(shape[1]);
        let mut covered = [self.rows, columns];
        // Rows 16 to 31 of a warp take the next block, where there is one.
        let next = if self.rows == ROWS {
            None
        } else if shape[0] > self.rows {
            covered[0] *= 2;
            Some(self.rows)
        } else if shape[1] > columns {
            covered[1] *= 2;
            Some(columns * self.rows)
        } else {
            Some(0)
        };
        let outs = Space::of_sizes(&[(Dim::tensor(0), covered[0]), (Dim::tensor(1), covered[1])])?;
        let ins = Space::of_sizes(&[(Dim::ROW, ROWS), (Dim::COL, self.stride.saturating_mul(columns))])?;
        let mut places: Columns = (0..self.rows.trailing_zeros()).map(|bit| 1 << bit).collect();
        if let Some(next) = next {
            places.insert(4, next);
        }
        places.extend((0..self.stride.trailing_zeros()).map(|_| 0));
        places.extend((0..columns.trailing_zeros()).map(|bit| covered[0] << bit));
        let tile = LinearLayout::from_columns(ins, outs, &places)?;
        tile.direct_sum(&identity_nd(Dim::COL, &[shape[0] / covered[0], shape[1] / covered[1]], &[0, 1])?)
    }
}

fn one_block(spec: &FamilySpec, bases: &[Vec<u64>]) -> Result<(), FamilyError> {
    if bases.is_empty() {
        return Ok(());
    }
    Err(spec.parameters().wrong("cga_layout", "layouts of tensor memory over several blocks are not served"))
}

fn matrix(spec: &FamilySpec, shape: &[u64], least_rows: u64) -> Result<[u64; 2], FamilyError> {
    let wrong = |message: String| FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message };
    let &[rows, columns] = shape else {
        return Err(wrong("tensor memory holds tensors of two axes".to_owned()));
    };
    if rows < least_rows {
        return Err(wrong(format!("there must be {least_rows} rows at least")));
    }
    Ok([rows, columns])
}

/// The layout of accumulators and operands.
pub(super) fn values(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let tiling = Tiling::read(spec)?;
    let shape = matrix(spec, shape, tiling.rows)?;
    tiling.over(shape).map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

/// The layout of the scales of an operand: rows of the operand by groups along K.
pub(super) fn scales(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    one_block(spec, &read.bases_or_none(&["cga_layout"])?)?;
    read.finish()?;
    let [rows, groups] = matrix(spec, shape, SCALE_ROWS)?;
    let packed = groups.min(SCALES_PACKED);
    let build = || -> Result<LinearLayout, LayoutError> {
        let outs = Space::of_sizes(&[(Dim::tensor(0), rows), (Dim::tensor(1), groups)])?;
        let units = |from: u64, to: u64| (from.trailing_zeros()..to.trailing_zeros()).map(|bit| 1u64 << bit);
        let along = |unit: u64| rows << unit.trailing_zeros();
        let mut places = Columns::new();
        places.extend(units(1, SCALE_ROWS));
        places.extend(units(SCALE_ROWS, ROWS).map(|_| 0));
        let row_bits = places.len() as u32;
        places.extend(units(1, packed).map(along));
        places.extend(units(packed, SCALES_PACKED).map(|_| 0));
        places.extend(units(SCALE_ROWS, rows));
        // An instruction reads the scales of 64 rows at least.
        places.extend((rows == SCALE_ROWS).then_some(0));
        places.extend(units(packed, groups).map(along));
        let mut ins = Space::default();
        ins.push(Dim::ROW, row_bits)?;
        ins.push(Dim::COL, places.len() as u32 - row_bits)?;
        LinearLayout::from_columns(ins, outs, &places)
    };
    build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

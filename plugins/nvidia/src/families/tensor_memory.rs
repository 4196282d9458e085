//! `tensor_memory` and `tensor_memory_scales`: where the matrix instructions of compute capability
//! 10 keep accumulators, operands and scales.
//!
//! Tensor memory of a block has 128 rows, of which each warp reaches 32. A zero basis of rows 32 or
//! 64 means that warps hold the same; any other zero basis is a place that holds nothing.

use tilewright::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

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
        let spaced = LinearLayout::zeros(self.stride, Dim::COL, Dim::tensor(1), 1)?;
        let along = spaced.direct_sum(&LinearLayout::identity(columns, Dim::COL, Dim::tensor(1))?)?;
        let (mut rows, mut covered) = (powers(self.rows, 0), [self.rows, columns]);
        if self.rows < ROWS {
            // Rows 16 to 31 of a warp take the next block, where there is one.
            let next = if shape[0] > self.rows {
                covered[0] *= 2;
                vec![self.rows, 0]
            } else if shape[1] > columns {
                covered[1] *= 2;
                vec![0, columns]
            } else {
                vec![0, 0]
            };
            rows.insert(4, next);
        }
        let sizes = [(Dim::tensor(0), covered[0]), (Dim::tensor(1), covered[1])];
        let tile = LinearLayout::from_bases(&[(Dim::ROW, rows), (Dim::COL, along_columns(&along))], &sizes)?;
        let down = LinearLayout::identity(shape[0] / covered[0], Dim::COL, Dim::tensor(0))?;
        tile.direct_sum(&down)?.direct_sum(&LinearLayout::identity(shape[1] / covered[1], Dim::COL, Dim::tensor(1))?)
    }
}

/// The units of one of two axes, up to `size`.
fn powers(size: u64, axis: usize) -> Vec<Vec<u64>> {
    let unit = |bit: u32| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] };
    (0..size.trailing_zeros()).map(unit).collect()
}

fn along_columns(along: &LinearLayout) -> Vec<Vec<u64>> {
    along.bases_of(Dim::COL).into_iter().map(|basis| vec![0, basis[0]]).collect()
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
    let (down, along) = (Dim::tensor(0), Dim::tensor(1));
    let parts = [
        LinearLayout::identity(SCALE_ROWS, Dim::ROW, down),
        LinearLayout::zeros(ROWS / SCALE_ROWS, Dim::ROW, down, 1),
        LinearLayout::identity(packed, Dim::COL, along),
        LinearLayout::zeros(SCALES_PACKED / packed, Dim::COL, along, 1),
        LinearLayout::identity(rows / SCALE_ROWS, Dim::COL, down),
        // An instruction reads the scales of 64 rows at least.
        LinearLayout::zeros(if rows == SCALE_ROWS { 2 } else { 1 }, Dim::COL, down, 1),
        LinearLayout::identity(groups / packed, Dim::COL, along),
    ];
    let sum = parts.into_iter().try_fold(LinearLayout::empty(), |sum, part| sum.direct_sum(&part?));
    sum.map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

//! The family `nvmma_shared`: layouts of shared memory that `wgmma` reads and bulk tensor copies (TMA) write.
//!
//! The core of a layout is eight rows as wide as the swizzle; in each row, the row number permutes the 16-byte units.
//! Cores fill the box of one bulk tensor copy, and boxes fill the part of the tensor that a block has.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::{
    ensure_layout_not_smaller_than, extend_to_blocks, fit_layout_to_shape, identity_nd, row_major_axis_order,
    tensor_dims_of_rank,
};
use tilewright_layout::{
    AxisNumbers, Dim, FamilyError, FamilyParameterValue, FamilySpec, IntVec, LayoutError, LinearLayout, MemoryLayout,
    ParameterReader, Space,
};

/// Max elements along one axis of one bulk tensor copy.
const LARGEST_BOX: u64 = 256;

/// Parameters of an `nvmma_shared` layout: its swizzle, elements and cluster.
struct Swizzle {
    /// Bytes of a row of the core, the swizzle width; zero without a swizzle.
    bytes: u64,
    element_bits: u64,
    transposed: bool,
    /// Whether 4-bit elements are padded (`fp4Padded`): of sixteen consecutive offsets, the upper eight repeat the
    /// lower eight.
    padded: bool,
    cluster: Vec<Vec<u64>>,
}

impl Swizzle {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        let mut swizzle = Self {
            bytes: 0,
            element_bits: 0,
            transposed: read.flag_or(&["transposed"], false)?,
            padded: read.flag_or(&["fp4_padded", "fp4padded"], false)?,
            cluster: read.bases_or_none(&["cga_layout"])?,
        };
        let own_rank = if read.optional(&["block_shape"]).is_some() {
            let block = read.numbers(&["block_shape"])?;
            swizzle.element_bits = element_bits(&read)?;
            swizzle.bytes = swizzle.widest_swizzle(&block);
            block.len() as u64
        } else {
            swizzle.bytes = read.number(&["swizzle_byte_width", "swizzling_byte_width"])?;
            swizzle.element_bits = read.number(&["element_bitwidth", "element_bit_width"])?;
            read.number_or(&["rank"], rank as u64)?
        };
        read.check_all_read()?;
        if ![0, 32, 64, 128].contains(&swizzle.bytes) {
            let message = format!("{} is none of 0, 32, 64 and 128", swizzle.bytes);
            return Err(read.invalid_value_error("swizzle_byte_width", &message));
        }
        if ![8, 16, 32, 64].contains(&swizzle.element_bits) {
            let message = format!("{} is none of 8, 16, 32 and 64", swizzle.element_bits);
            return Err(read.invalid_value_error("element_bitwidth", &message));
        }
        if swizzle.padded && swizzle.element_bits != 8 {
            return Err(read.invalid_value_error("fp4_padded", "is for elements of 8 bits, each two of four"));
        }
        if own_rank != rank as u64 {
            return Err(read.invalid_value_error("rank", &format!("{own_rank}, yet the tensor has {rank} axes")));
        }
        Ok(swizzle)
    }

    /// Returns the widest swizzle, in bytes, whose rows a tensor of shape `block` fills, as Gluon's `get_default_for`
    /// chooses it. Returns zero if the block has fewer than eight rows or narrow rows.
    fn widest_swizzle(&self, block: &[u64]) -> u64 {
        let mut share = block.to_vec();
        for basis in &self.cluster {
            for (size, by) in share.iter_mut().zip(basis) {
                *size >>= u32::from(*by != 0);
            }
        }
        if self.transposed && !share.is_empty() {
            share.rotate_left(1);
        }
        let Some((contiguous, outer)) = share.split_last() else { return 0 };
        let rows: u64 = outer.iter().product();
        let bytes = contiguous * if self.padded { 2 } else { 1 } * self.element_bits / 8;
        let fits = |width: &u64| bytes >= *width && bytes.is_multiple_of(*width) && block.len() >= 2 && rows >= 8;
        [128, 64, 32].into_iter().find(fits).unwrap_or(0)
    }

    /// Returns the number of elements along a row of the core (the eight rows that a swizzle permutes).
    fn columns(&self) -> u64 {
        let columns = 8 * self.bytes.max(16) / self.element_bits;
        if self.padded { columns / 2 } else { columns }
    }

    /// Returns the number of different permutations that the swizzle applies to the 16-byte chunks of a row.
    fn phases(&self) -> u64 {
        (self.bytes / 16).max(1)
    }

    /// Returns the layout of the core, the smallest swizzled tile: eight rows of [`Self::columns`] elements.
    fn core(&self) -> Result<LinearLayout, LayoutError> {
        let stored = 8 * self.bytes.max(16) / self.element_bits;
        // Offsets 8 to 15 of each sixteen repeat the elements of offsets 0 to 7 if elements are padded.
        let padded_column = |column: u64| if self.padded { column / 16 * 8 + column % 8 } else { column };
        let along = (0..stored.trailing_zeros()).map(|bit| padded_column(1 << bit) << 3);
        let rows_per_phase = 8 / self.phases();
        let unit = 128 / self.element_bits;
        let down = [1, 2, 4].map(|row| row | padded_column(unit * (row / rows_per_phase % self.phases())) << 3);
        let columns: Columns = along.chain(down).collect();
        let ins = Space::from_sizes(&[(Dim::OFFSET, stored * 8)])?;
        let outs = Space::from_sizes(&[(Dim::tensor(0), 8), (Dim::tensor(1), self.columns())])?;
        LinearLayout::from_columns(ins, outs, &columns)
    }
}

/// Returns the bits of the element type that the parameter `dtype` names: the first number in it, such as 16 for
/// `float16` and 8 for `float8e5`.
fn element_bits(read: &ParameterReader<'_>) -> Result<u64, FamilyError> {
    let Some(FamilyParameterValue::Text(name)) = read.optional(&["dtype"]) else {
        return Err(read.invalid_value_error("dtype", "must be an element type, such as `float16`"));
    };
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(|_| {
        read.invalid_value_error("dtype", &format!("`{name}` is no element type: expected one as `float16`"))
    })
}

/// Returns the shared-memory layout of a tensor of `shape`.
pub(super) fn swizzled(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let rank = shape.len();
    let swizzle = Swizzle::read(spec, rank)?;
    let linear = extend_to_blocks(spec, &swizzle.cluster, shape, |share| block(spec, &swizzle, share, shape))?;
    Ok(MemoryLayout { linear, padding: Vec::new(), alignment: Some(128 * swizzle.phases() as u32) })
}

/// Returns the layout of one block's part of a tensor of `shape`; `share` has the sizes of this part.
fn block(spec: &FamilySpec, swizzle: &Swizzle, share: &[u64], shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let failed = |error: LayoutError| FamilyError::from_layout_error(&spec.name, &error);
    let contiguous = if swizzle.transposed { 0 } else { share.len() - 1 };
    // A padded 4-bit element takes twice the space, so a copy's box holds half as many.
    let largest = |axis| if swizzle.padded && axis == contiguous { LARGEST_BOX / 2 } else { LARGEST_BOX };
    let copied: IntVec = share.iter().enumerate().map(|(axis, &size)| size.min(largest(axis))).collect();
    let tile = if swizzle.bytes == 0 {
        plain(&copied, swizzle.transposed)
    } else {
        let copied = box_shape(spec, swizzle, copied, shape)?;
        // Boxes of a 2-D tensor follow each other along the rows, so the core alone determines the layout, whatever the
        // height of a box.
        if copied.len() == 2 && !swizzle.transposed { swizzle.core() } else { swizzled_box(swizzle, &copied) }
    };
    tile.and_then(|tile| fit_layout_to_shape(&tile, share, Dim::OFFSET)).map_err(failed)
}

/// Returns the shape of the box of one bulk tensor copy. `copied` has the largest box size along each axis; along the
/// contiguous axis, the result is as wide as the core. Fails if a block's part of the tensor is smaller than the core.
fn box_shape(spec: &FamilySpec, swizzle: &Swizzle, mut copied: IntVec, shape: &[u64]) -> Result<IntVec, FamilyError> {
    let rank = copied.len();
    let too_small = |message: String| FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message };
    if rank < 2 {
        return Err(too_small("a swizzled tensor has at least two axes".to_owned()));
    }
    let contiguous = if swizzle.transposed { 0 } else { rank - 1 };
    // Triton counts only the last axis of a transposed tensor as rows, and bulk tensor copies need eight rows for the
    // core.
    let rows: u64 = if swizzle.transposed { copied[rank - 1] } else { copied[..rank - 1].iter().product() };
    if copied[contiguous] < swizzle.columns() || rows < 8 {
        let along = if swizzle.transposed { " along the last axis" } else { "" };
        let message = format!("a block's share must have 8 rows{along} of {} elements at least", swizzle.columns());
        return Err(too_small(message));
    }
    copied[contiguous] = swizzle.columns();
    Ok(copied)
}

/// Returns the layout without a swizzle: row-major, or with the first axis as the fastest if `transposed`.
///
/// With more than two transposed axes, each axis gets its neighbour's extent, as in Triton. The caller fits the result
/// to the shape, which makes it a valid layout.
fn plain(copied: &[u64], transposed: bool) -> Result<LinearLayout, LayoutError> {
    let rank = copied.len();
    let row_major = row_major_axis_order(rank);
    let (extents, axes): (AxisNumbers, AxisNumbers) = if transposed && rank > 1 {
        (std::iter::once(0).chain((1..rank).rev()).collect(), (0..rank - 1).rev().chain([rank - 1]).collect())
    } else {
        (row_major.clone(), row_major.clone())
    };
    let listed = identity_nd(Dim::OFFSET, &IntVec::from_elem(1, rank), &row_major)?;
    axes.into_iter().zip(extents).try_fold(listed, |sum, (axis, extent)| {
        sum.direct_sum(&LinearLayout::identity(copied[extent], Dim::OFFSET, Dim::tensor(axis))?)
    })
}

/// Returns the layout of the box, of shape `copied`, of one bulk tensor copy: the core, repeated along all axes except
/// the contiguous one.
fn swizzled_box(swizzle: &Swizzle, copied: &[u64]) -> Result<LinearLayout, LayoutError> {
    let rank = copied.len();
    let contiguous = if swizzle.transposed { 0 } else { rank - 1 };
    let others: AxisNumbers = (0..rank).rev().filter(|&axis| axis != contiguous).collect();
    let rows = others.iter().map(|&axis| copied[axis]).product();
    let filled = ensure_layout_not_smaller_than(&swizzle.core()?, &[rows, swizzle.columns()], Dim::OFFSET)?;
    let sized = |axes: &[usize]| -> Vec<(Dim, u64)> {
        std::iter::once(&contiguous).chain(axes).map(|&axis| (Dim::tensor(axis), copied[axis])).collect()
    };
    let row_minor = filled.transpose_outs(&[Dim::tensor(1), Dim::tensor(0)])?;
    let mut split = row_minor.reshape_outs(&sized(&others))?;
    if swizzle.transposed {
        // Triton numbers the rows with the last axis as the slowest, but then treats the numbers as row-major.
        let counted: Vec<_> = others[1..].iter().chain(&others[..1]).copied().collect();
        let dims: Vec<_> = sized(&counted).into_iter().map(|(dim, _)| dim).collect();
        split = split.transpose_outs(&dims)?.reshape_outs(&sized(&others))?;
    }
    split.transpose_outs(&tensor_dims_of_rank(rank))
}

//! The layout families `dpas`, its operands, and `dpas_scale`: layouts of the result, operands and scales of the
//! systolic MMA instruction.
//!
//! One instruction multiplies A of `repeat_count` x K by B of K x `execution_size`, where K = `systolic_depth` *
//! `ops_per_channel`. A sub-group repeats the instruction `rep_cluster` times along each axis of the result;
//! consecutive sub-groups go along N, then along M.

use tilewright_layout::families::cluster::{
    TileMode, cluster_layout, extend_tile_to_tensor, identity_modes, row_major_axis_order,
    tensor_layout_from_block_tile, tile_from_identities,
};
use tilewright_layout::{Dim, FamilyError, FamilySpec, IntVec, LayoutError, LinearLayout};

use super::operand_axes::operand_axes;

/// One mode of a layout: an input dim (register or lane), its size, and the tensor axis along which it goes.
type Along = (Dim, u64, usize);

/// Parameters of a `dpas` layout: the instruction, and how registers and the sub-groups of a work-group repeat it.
struct Dpas {
    /// Number of rows of one instruction's result (`repeat_count`).
    repeat: u64,
    depth: u64,
    /// Number of columns of one instruction's result (`execution_size`).
    execution: u64,
    /// Number of elements along K in 32 bits (`ops_per_channel`).
    packed: u64,
    lanes: u64,
    warps: IntVec,
    /// Number of instructions that a sub-group executes along each axis of the result (`rep_cluster`).
    repetition: IntVec,
    /// Number of scales along K in one block-scaled instruction; `None` if there is none for elements of this width.
    scales: Option<u64>,
    cluster: Vec<Vec<u64>>,
}

impl Dpas {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        let packed = read.power_of_two(&["ops_per_channel", "ops_per_chan"])?;
        let in_a_byte = match read.optional(&["fp4_k_pack", "fp4k_pack"]) {
            Some(_) => read.power_of_two(&["fp4_k_pack", "fp4k_pack"])?,
            None => 1,
        };
        let dpas = Self {
            repeat: read.power_of_two(&["repeat_count"])?,
            depth: read.power_of_two(&["systolic_depth"])?,
            execution: read.power_of_two(&["execution_size"])?,
            packed,
            lanes: read.power_of_two(&["threads_per_warp"])?,
            warps: read.powers_of_two(&["warps_per_cta"], rank)?,
            repetition: read.powers_of_two(&["rep_cluster"], rank)?,
            scales: scales_along_k(packed, in_a_byte),
            cluster: read.bases_or_none(&["cga_layout"])?,
        };
        // The attribute's text has the shapes of A, B and C, though they are determined by the other parameters.
        let _ = (read.optional(&["a"]), read.optional(&["b"]), read.optional(&["c"]));
        read.check_all_read()?;
        let largest = [("repeat_count", dpas.repeat, 8), ("systolic_depth", dpas.depth, 8)];
        let others = [("execution_size", dpas.execution, 16), ("ops_per_channel", dpas.packed, 8)];
        for (name, value, most) in largest.into_iter().chain(others).chain([("threads_per_warp", dpas.lanes, 64)]) {
            if value > most {
                return Err(
                    read.invalid_value_error(name, &format!("{value} is more than the {most} that there can be"))
                );
            }
        }
        if dpas.lanes < dpas.execution || dpas.lanes / dpas.execution > dpas.repeat.max(dpas.depth) {
            let message = format!("{} lanes do not fit an instruction {} columns wide", dpas.lanes, dpas.execution);
            return Err(read.invalid_value_error("threads_per_warp", &message));
        }
        Ok(dpas)
    }

    /// Returns the number of rows that the lanes of a sub-group cover together: rows of the result, or for operand B
    /// rows of 32-bit words along K.
    fn rows(&self) -> u64 {
        self.lanes / self.execution
    }

    fn result_modes(&self, m: usize, n: usize) -> Option<[Along; 3]> {
        let above = self.repeat.checked_div(self.rows()).filter(|&above| above > 0)?;
        Some([(Dim::LANE, self.execution, n), (Dim::LANE, self.rows(), m), (Dim::REGISTER, above, m)])
    }

    /// Returns the modes (input, size, axis) of operand A, with K on axis `k` and M on axis `m`. A lane holds adjacent
    /// elements of a row; lanes go along K, then along M; further registers go along M. Returns `None` if the sub-group
    /// has fewer lanes than a row needs, or lanes for more rows than A has.
    fn left_modes(&self, k: usize, m: usize) -> Option<[Along; 4]> {
        let together = neighbours(self.depth, self.packed, self.lanes);
        let along_k = self.depth * self.packed / together;
        let rows = self.lanes.checked_div(along_k).filter(|&rows| rows > 0)?;
        let above = self.repeat.checked_div(rows).filter(|&above| above > 0)?;
        Some([(Dim::REGISTER, together, k), (Dim::LANE, along_k, k), (Dim::LANE, rows, m), (Dim::REGISTER, above, m)])
    }

    /// Returns the modes (input, size, axis) of operand B, with K on axis `k` and N on axis `n`. A lane holds a 32-bit
    /// word of elements along K; lanes go along N, then along K; further registers go along K. Returns `None` if the
    /// sub-group has fewer lanes than columns, or lanes for more of K than a column has.
    fn right_modes(&self, k: usize, n: usize) -> Option<[Along; 4]> {
        let above = self.depth.checked_div(self.rows()).filter(|&above| above > 0)?;
        Some([
            (Dim::REGISTER, self.packed, k),
            (Dim::LANE, self.execution, n),
            (Dim::LANE, self.rows(), k),
            (Dim::REGISTER, above, k),
        ])
    }
}

/// Returns the number of adjacent elements of a row of A that one lane holds. They have at least 16 bits, or more if
/// `lanes` lanes would not cover the row, which has `depth` 32-bit words of `packed` elements each.
pub(crate) fn neighbours(depth: u64, packed: u64, lanes: u64) -> u64 {
    let in_16_bits = if packed >= 4 { packed / 2 } else { 1 };
    in_16_bits.max(depth * packed / lanes)
}

/// Returns the number of scales along K in one block-scaled instruction, which has one scale for each 32 numbers;
/// `None` if there is no such instruction. A 32-bit word has `packed` elements of `in_a_byte` numbers each (two for
/// fp4).
fn scales_along_k(packed: u64, in_a_byte: u64) -> Option<u64> {
    match packed.checked_mul(in_a_byte)? {
        2 | 4 => Some(1),
        8 => Some(2),
        _ => None,
    }
}

fn unfit(spec: &FamilySpec) -> FamilyError {
    spec.parameter_reader()
        .invalid_value_error("threads_per_warp", "the lanes of a sub-group are too few or too many for one instruction")
}

/// Returns the register layout of the MMA result for a tensor of this shape.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let dpas = Dpas::read(spec, rank)?;
    let (m, n) = (rank - 2, rank - 1);
    let [columns, rows, above] = dpas.result_modes(m, n).ok_or_else(|| unfit(spec))?;
    let (along, down) = ((Dim::REGISTER, dpas.repetition[n], n), (Dim::REGISTER, dpas.repetition[m], m));
    let modes = [columns, rows, above, along, down];
    let order = row_major_axis_order(rank);
    let warps = identity_modes(Dim::WARP, &dpas.warps, &order, None);
    tensor_layout_from_block_tile(
        spec,
        modes.map(TileMode::from).into_iter().chain(warps),
        &order,
        &dpas.cluster,
        shape,
    )
}

/// Returns the register layout of operand A (`is_left`) or B for a tensor of this shape.
pub(super) fn operand(spec: &FamilySpec, is_left: bool, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let dpas = Dpas::read(spec, rank)?;
    let (k, other) = operand_axes(is_left, rank);
    let modes = if is_left { dpas.left_modes(k, other) } else { dpas.right_modes(k, other) };
    let [a, b, c, d] = modes.ok_or_else(|| unfit(spec))?;
    let modes = [a, b, c, d, (Dim::REGISTER, dpas.repetition[other], other)];
    let mut order = row_major_axis_order(rank);
    if !is_left {
        order.swap(0, 1);
    }
    let mut bases = dpas.cluster.clone();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k] = 0;
    }
    let warp_order = row_major_axis_order(rank);
    let warps = identity_modes(Dim::WARP, &dpas.warps, &warp_order, Some(k));
    tensor_layout_from_block_tile(spec, modes.map(TileMode::from).into_iter().chain(warps), &order, &bases, shape)
}

/// Returns the register layout of the scales of operand A or B, for a tensor with one row for each row of A or column
/// of B, and one column for each scale block along K.
pub(super) fn scale(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let index = read.number(&["operand_index", "op_idx"])?;
    let parent = read.parent()?;
    read.check_all_read()?;
    if parent.name != "dpas" || index > 1 {
        let wrong = if index > 1 { "operand_index" } else { "parent" };
        return Err(read.invalid_value_error(wrong, "must be operand 0 or 1 of a `dpas`"));
    }
    let rank = shape.len();
    let dpas = Dpas::read(parent, rank)?;
    let wrong = |name: &str, message: &str| Err(parent.parameter_reader().invalid_value_error(name, message));
    if (dpas.repeat, dpas.execution) != (8, 16) {
        let name = if dpas.repeat == 8 { "execution_size" } else { "repeat_count" };
        return wrong(name, "block-scaled instructions have 8 rows and 16 columns");
    }
    let Some(scales) = dpas.scales else {
        return wrong("ops_per_channel", "block-scaled instructions have 2, 4 or 8 elements in 32 bits of K");
    };
    // Tensors of scales have K as their last axis for both operands; the other axis of B's scales is N of the result.
    let (other, k) = (rank - 2, rank - 1);
    let (rows, of_result) = if index == 0 { (dpas.repeat, rank - 2) } else { (dpas.execution, rank - 1) };
    let replicas = dpas.lanes.checked_div(rows).filter(|&replicas| replicas > 0).ok_or_else(|| unfit(parent))?;
    let cluster = cluster_layout(parent, &of_scales(&dpas.cluster, rank, of_result), rank)?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let own = [(Dim::REGISTER, scales, k), (Dim::LANE, rows, other)];
        let replicated = LinearLayout::zeros(replicas, Dim::LANE, Dim::tensor(other), 1)?;
        let repetitions = [(Dim::REGISTER, dpas.repetition[of_result], other)];
        let order = row_major_axis_order(rank);
        let tile = tile_from_identities(&order, &own)?
            .direct_sum(&replicated)?
            .direct_sum(&tile_from_identities(&order, &repetitions)?)?;
        let mut warps = LinearLayout::empty();
        for axis in row_major_axis_order(rank) {
            let size = dpas.warps[axis];
            let mode = if axis == of_result {
                LinearLayout::identity(size, Dim::WARP, Dim::tensor(other))?
            } else if axis < rank - 2 {
                LinearLayout::identity(size, Dim::WARP, Dim::tensor(axis))?
            } else {
                LinearLayout::zeros(size, Dim::WARP, Dim::tensor(other), 1)?
            };
            warps = warps.direct_sum(&mode)?;
        }
        extend_tile_to_tensor(&tile.direct_sum(&warps)?, &cluster, shape)
    };
    build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

/// Converts the bases of a cluster (parameter `cga_layout`) from axes of the result to axes of a tensor of scales.
/// Blocks along axis `of_result` go along the last axis but one of the scales; blocks along the other axis hold
/// replicas.
fn of_scales(cluster: &[Vec<u64>], rank: usize, of_result: usize) -> Vec<Vec<u64>> {
    let mut bases = cluster.to_vec();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        (basis[rank - 2], basis[rank - 1]) = (basis[of_result], 0);
    }
    bases
}

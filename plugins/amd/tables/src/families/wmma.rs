//! The family `amd_wmma`: layouts of accumulators and register operands of the matrix instructions of RDNA and gfx1250
//! (`wmma`).
//!
//! Sixteen lanes of a wave of 32 go along a row of the result. The parameters `reg_bases` and `warp_bases` have, for
//! each bit of the register and warp index beyond one tile, the step along each axis in tiles.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::{
    TileMode, cluster_layout, direct_sum_of_modes, extend_tile_to_tensor, row_major_axis_order,
    tensor_layout_from_block_tile,
};
use tilewright_layout::{
    BasesParameter, BasisCoordinates, Dim, DimBases, FamilyError, FamilySpec, IntVec, LayoutError, LinearLayout, Space,
};

/// Maximum number of bases of a tile grid for the fast path of [`Wmma::grid_modes`]; few grids have more.
const MAX_MODES: usize = 8;

/// Parameters of an `amd_wmma` layout: the instruction's shape, and how registers, warps and blocks repeat it.
struct Wmma<'a> {
    version: u64,
    transposed: bool,
    m: u64,
    n: u64,
    k: u64,
    registers: BasesParameter<'a>,
    warps: BasesParameter<'a>,
    cluster: DimBases,
    rank: usize,
}

impl<'a> Wmma<'a> {
    fn read(spec: &'a FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameter_reader();
        let version = read.number(&["version"])?;
        let transposed = read.flag_or(&["transposed", "is_transposed", "is_transpose"], false)?;
        let instruction = match read.optional(&["instr_shape"]) {
            Some(_) => read.numbers(&["instr_shape"])?,
            None => IntVec::from_slice(&[16, 16, 16]),
        };
        let (mut registers, mut warps) = (read.borrow_bases(&["reg_bases"])?, read.borrow_bases(&["warp_bases"])?);
        if read.optional(&["cta_layout"]).is_some() {
            if !registers.is_empty() || !warps.is_empty() {
                return Err(read.invalid_value_error("cta_layout", "duplicates `reg_bases` and `warp_bases`"));
            }
            (registers, warps) = tiles(spec)?;
        }
        let cluster = read.bases_or_none(&["cga_layout"])?;
        let own_rank = read.number_or(&["rank"], rank as u64)?;
        read.check_all_read()?;
        if own_rank != rank as u64 {
            return Err(read.invalid_value_error("rank", &format!("{own_rank}, yet the tensor has {rank} axes")));
        }
        if !(1..=3).contains(&version) {
            let message = format!("{version} is not one of 1 (RDNA3), 2 (RDNA4) and 3 (gfx1250)");
            return Err(read.invalid_value_error("version", &message));
        }
        let depths: &[u64] = match (version, instruction.first()) {
            (1, Some(16)) => &[16],
            (2, Some(16)) => &[16, 32],
            (3, Some(16)) => &[4, 32, 64, 128],
            (3, Some(32)) => &[64, 128],
            _ => &[],
        };
        let (m, n, k) = match instruction[..] {
            [m, 16, k] if depths.contains(&k) => (m, 16, k),
            _ => {
                let message = format!(
                    "{instruction:?} must be [M, N, K] of an instruction of version {version}: \
                     1 has 16x16x16, 2 also 16x16x32, 3 has 16x16 with K of 4, 32, 64, 128 and 32x16 with 64, 128"
                );
                return Err(read.invalid_value_error("instr_shape", &message));
            }
        };
        for (name, bases) in [("reg_bases", registers), ("warp_bases", warps)] {
            if bases.iter().any(|basis| basis.len() != rank) {
                return Err(read.invalid_value_error(name, &format!("each basis must have {rank} coordinates")));
            }
        }
        Ok(Self { version, transposed, m, n, k, registers, warps, cluster, rank })
    }

    /// Returns the layout of a tensor of this shape: one instruction's `tile`, repeated over the grid of tiles, then
    /// over the cluster. Along the axis `replicated`, if any, tiles are replicas. `order` lists the tensor's axes, the
    /// fastest first.
    fn spread<const N: usize>(
        &self,
        spec: &FamilySpec,
        tile: [TileMode; N],
        order: &[usize],
        replicated: Option<usize>,
        cluster: &[Vec<u64>],
        shape: &[u64],
    ) -> Result<LinearLayout, FamilyError> {
        if let Some(grid) = self.grid_modes(replicated) {
            return tensor_layout_from_block_tile(spec, tile.into_iter().chain(grid), order, cluster, shape);
        }
        let grid = self.tiles(spec, self.rank, replicated)?;
        let cluster = cluster_layout(spec, cluster, self.rank)?;
        let build = || extend_tile_to_tensor(&direct_sum_of_modes(order, &tile)?.direct_sum(&grid)?, &cluster, shape);
        build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
    }

    /// Returns the grid of tiles: the map from register and warp bits to tile indices along `rank` axes. Along the axis
    /// `replicated`, if any, bits have no effect; such register bits are removed, such warp bits are kept.
    fn tiles(&self, spec: &FamilySpec, rank: usize, replicated: Option<usize>) -> Result<LinearLayout, FamilyError> {
        let wrong = |message: String| spec.parameter_reader().invalid_value_error("warp_bases", &message);
        let full_grid = self.tile_grid(rank).map_err(|error| wrong(error.to_string()))?;
        let Some(axis) = replicated else { return Ok(full_grid) };
        // Replicated registers are removed, replicated warps are kept.
        let cut = full_grid.resize_out(Dim::tensor(axis), 1).map_err(|error| wrong(error.to_string()))?;
        Ok(cut.remove_zero_bases(Dim::REGISTER))
    }

    /// Returns the grid of tiles as one mode for each basis, which is faster to extend than a layout. Returns `None`
    /// unless each basis moves along a single axis, in steps 1, 2, 4, ... of each axis, or if there are more than
    /// [`MAX_MODES`] bases.
    fn grid_modes(&self, replicated: Option<usize>) -> Option<[TileMode; MAX_MODES]> {
        let mut modes = [TileMode::replicated(Dim::REGISTER, 1); MAX_MODES];
        let mut next = IntVec::from_elem(1, self.rank);
        let registers = self.registers.iter().map(|basis| (Dim::REGISTER, basis));
        let bases = registers.chain(self.warps.iter().map(|basis| (Dim::WARP, basis)));
        for (at, (input, basis)) in bases.enumerate() {
            let mut moved = basis.enumerate().filter(|&(_, by)| by != 0);
            // In operands, replicated registers are removed; replicated warps are kept.
            let is_left_out = replicated.is_some() && input == Dim::REGISTER;
            let same = TileMode::replicated(input, if is_left_out { 1 } else { 2 });
            let mode = match (moved.next(), moved.next()) {
                (None, _) => same,
                (Some((axis, by)), None) if by == next[axis] => {
                    next[axis] = by.checked_mul(2)?;
                    if replicated == Some(axis) { same } else { TileMode::from((input, 2, axis)) }
                }
                _ => return None,
            };
            *modes.get_mut(at)? = mode;
        }
        Some(modes)
    }

    /// Returns the map from register and warp bits to tile indices along each axis, the last axis as the fastest.
    fn tile_grid(&self, rank: usize) -> Result<LinearLayout, LayoutError> {
        let mut extents = IntVec::from_elem(0, rank);
        for basis in self.registers.iter().chain(self.warps.iter()) {
            for (extent, coordinate) in extents.iter_mut().zip(basis) {
                *extent |= coordinate;
            }
        }
        let (mut ins, mut outs) = (Space::default(), Space::default());
        ins.push(Dim::REGISTER, self.registers.iter().len() as u32)?;
        ins.push(Dim::WARP, self.warps.iter().len() as u32)?;
        let mut shifts = IntVec::from_elem(0, rank);
        for axis in row_major_axis_order(rank) {
            shifts[axis] = u64::from(outs.total_bits());
            outs.push(Dim::tensor(axis), 64 - extents[axis].leading_zeros())?;
        }
        let packed = |basis: BasisCoordinates<'_>| {
            basis.zip(&shifts).fold(0, |all, (by, &shift)| all | by.checked_shl(shift as u32).unwrap_or(0))
        };
        let columns: Columns = self.registers.iter().chain(self.warps.iter()).map(packed).collect();
        LinearLayout::from_columns(ins, outs, &columns)?.require_surjective()
    }
}

/// Reads the parameter `cta_layout` of Triton's attribute text: the bases of registers and of warps, in tiles.
fn tiles(spec: &FamilySpec) -> Result<(BasesParameter<'_>, BasesParameter<'_>), FamilyError> {
    let read = spec.parameter_reader();
    let tilewright_layout::FamilyParameterValue::Spec(group) = read.required(&["cta_layout"])? else {
        return Err(read.invalid_value_error("cta_layout", "must be a group of bases of `register` and `warp`"));
    };
    let inner = group.parameter_reader();
    let bases = (inner.borrow_bases(&["register"])?, inner.borrow_bases(&["warp"])?);
    inner.check_all_read()?;
    Ok(bases)
}

/// Returns the register layout of the accumulator for a tensor of this shape.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let wmma = Wmma::read(spec, rank)?;
    // In a transposed result, A and B are swapped, so rows and columns trade places.
    let (row, column) = if wmma.transposed { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    // On RDNA 3, consecutive rows alternate between the halves of a wave; later generations alternate every eight rows.
    let rows = if wmma.version == 1 {
        [(Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, 8, row), (Dim::REGISTER, 1, row)]
    } else {
        [(Dim::REGISTER, 8, row), (Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, wmma.m / 16, row)]
    };
    wmma.spread(spec, rows.map(TileMode::from), &row_major_axis_order(rank), None, &wmma.cluster, shape)
}

/// Returns the register layout of operand A (`index` 0) or B (1) for a tensor of this shape. A lane holds `k_width`
/// adjacent elements along K.
pub(super) fn operand(spec: &FamilySpec, index: u64, k_width: u64, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let wmma = Wmma::read(spec, rank)?;
    let widths: &[u64] = match wmma.version {
        1 => &[8, 16],
        2 => &[4, 8, 16],
        _ => &[],
    };
    if wmma.version < 3 && !widths.contains(&k_width) {
        let message = format!("{k_width} is none of {widths:?}, the widths of version {}", wmma.version);
        return Err(FamilySpec::new("dot_operand").parameter_reader().invalid_value_error("k_width", &message));
    }
    let (k_axis, other_axis) = if index == 0 { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    let other = if (index == 0) == wmma.transposed { wmma.n } else { wmma.m };
    let mut bases = wmma.cluster.clone();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k_axis] = 0;
    }
    let mut order = row_major_axis_order(rank);
    if index == 1 {
        order.swap(0, 1);
    }
    // On RDNA3 both halves of a wave hold replicas.
    let half_wave =
        if wmma.version == 1 { TileMode::replicated(Dim::LANE, 2) } else { TileMode::from((Dim::LANE, 2, k_axis)) };
    // The number of elements along K that both halves of a wave cover, counted twice if the halves hold replicas.
    let covered = k_width.saturating_mul(2);
    let tile = [
        TileMode::from((Dim::REGISTER, k_width, k_axis)),
        TileMode::from((Dim::LANE, 16, other_axis)),
        half_wave,
        TileMode::from((Dim::REGISTER, (wmma.k / covered).max(1), k_axis)),
        TileMode::from((Dim::REGISTER, other / 16, other_axis)),
    ];
    wmma.spread(spec, tile, &order, Some(k_axis), &bases, shape)
}

//! `amd_wmma`: results and operands of the matrix instructions of RDNA and gfx1250.
//!
//! A wave of 32 lanes spreads sixteen lanes over the columns of a result; where the tiles of the
//! warps lie, and how often a warp repeats its tile, is given by bases in units of tiles.

use tilewright::layout::families::cluster::{cluster_layout, over_tensor, row_major, tile_of};
use tilewright::layout::{Bases, Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

/// The instruction that a layout belongs to, spread over warps and blocks.
struct Wmma {
    version: u64,
    transposed: bool,
    m: u64,
    n: u64,
    k: u64,
    registers: Bases,
    warps: Bases,
    cluster: Bases,
}

impl Wmma {
    fn read(spec: &FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameters();
        let version = read.number(&["version"])?;
        let transposed = read.flag_or(&["transposed", "is_transposed", "is_transpose"], false)?;
        let instruction = match read.optional(&["instr_shape"]) {
            Some(_) => read.numbers(&["instr_shape"])?,
            None => vec![16, 16, 16],
        };
        let given = read.optional(&["cta_layout"]).is_some();
        let (registers, warps) = if given { tiles(spec)? } else { (Vec::new(), Vec::new()) };
        let registers = [registers, read.bases_or_none(&["reg_bases"])?].concat();
        let warps = [warps, read.bases_or_none(&["warp_bases"])?].concat();
        let cluster = read.bases_or_none(&["cga_layout"])?;
        let own_rank = read.number_or(&["rank"], rank as u64)?;
        read.finish()?;
        if own_rank != rank as u64 {
            return Err(read.wrong("rank", &format!("{own_rank}, yet the tensor has {rank} axes")));
        }
        if !(1..=3).contains(&version) {
            let message = format!("{version} is none of 1 (RDNA3), 2 (RDNA4) and 3 (gfx1250)");
            return Err(read.wrong("version", &message));
        }
        let (m, n, k) = match instruction[..] {
            [m @ (16 | 32), 16, k] if k.is_power_of_two() => (m, 16, k),
            _ => {
                let message = format!("{instruction:?} must be [M, N, K], M and N being 16x16 or 32x16");
                return Err(read.wrong("instr_shape", &message));
            }
        };
        for (name, bases) in [("reg_bases", &registers), ("warp_bases", &warps)] {
            if bases.iter().any(|basis| basis.len() != rank) {
                return Err(read.wrong(name, &format!("each basis must have {rank} coordinates")));
            }
        }
        Ok(Self { version, transposed, m, n, k, registers, warps, cluster })
    }

    /// Where the tiles of the warps lie, those along `replicated` being the same one.
    fn tiles(&self, spec: &FamilySpec, rank: usize, replicated: Option<usize>) -> Result<LinearLayout, FamilyError> {
        let all = self.registers.iter().chain(&self.warps);
        let extent = |axis: usize| all.clone().fold(0, |sum, basis| sum | basis[axis]);
        let wrong = |message: String| spec.parameters().wrong("warp_bases", &message);
        let dims: Vec<_> = row_major(rank).into_iter().map(|axis| (axis, Dim::tensor(axis))).collect();
        let sizes: Option<Vec<_>> = dims
            .iter()
            .map(|&(axis, dim)| Some((dim, extent(axis).checked_add(1)?.checked_next_power_of_two()?)))
            .collect();
        let sizes = sizes.ok_or_else(|| wrong("a coordinate is too large".to_owned()))?;
        let in_order = |bases: &Bases| -> Bases {
            bases.iter().map(|basis| dims.iter().map(|&(axis, _)| basis[axis]).collect()).collect()
        };
        let bases = [(Dim::REGISTER, in_order(&self.registers)), (Dim::WARP, in_order(&self.warps))];
        let whole = LinearLayout::from_bases(&bases, &sizes).and_then(LinearLayout::require_surjective);
        let whole = whole.map_err(|error| wrong(error.to_string()))?;
        let Some(axis) = replicated else { return Ok(whole) };
        // Repetitions that hold the same are left out, warps that hold the same are not.
        let cut = whole.resize_out(Dim::tensor(axis), 1).map_err(|error| wrong(error.to_string()))?;
        Ok(cut.remove_zero_bases(Dim::REGISTER))
    }
}

/// The attribute text's group of bases.
fn tiles(spec: &FamilySpec) -> Result<(Bases, Bases), FamilyError> {
    let read = spec.parameters();
    let tilewright::layout::Attribute::Spec(group) = read.required(&["cta_layout"])? else {
        return Err(read.wrong("cta_layout", "must be a group of bases of `register` and `warp`"));
    };
    let inner = group.parameters();
    let bases = (inner.bases_or_none(&["register"])?, inner.bases_or_none(&["warp"])?);
    inner.finish()?;
    Ok(bases)
}

/// The layout of the result.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let wmma = Wmma::read(spec, rank)?;
    let cluster = cluster_layout(spec, &wmma.cluster, rank)?;
    let tiles = wmma.tiles(spec, rank, None)?;
    // A transposed result is that of the instruction with A and B exchanged.
    let (row, column) = if wmma.transposed { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    // RDNA3 deals the rows out to both halves of a wave in turn, later ones eight by eight.
    let rows = if wmma.version == 1 {
        vec![(Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, 8, row)]
    } else {
        vec![(Dim::REGISTER, 8, row), (Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, wmma.m / 16, row)]
    };
    let build = || over_tensor(&tile_of(&row_major(rank), &rows)?.direct_sum(&tiles)?, &cluster, shape);
    build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

/// The layout of an operand in registers.
pub(super) fn operand(spec: &FamilySpec, index: u64, k_width: u64, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let wmma = Wmma::read(spec, rank)?;
    let (k_axis, other_axis) = if index == 0 { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    let other = if (index == 0) == wmma.transposed { wmma.n } else { wmma.m };
    let mut bases = wmma.cluster.clone();
    for basis in bases.iter_mut().filter(|basis| basis.len() == rank) {
        basis[k_axis] = 0;
    }
    let cluster = cluster_layout(spec, &bases, rank)?;
    let tiles = wmma.tiles(spec, rank, Some(k_axis))?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let mut order = row_major(rank);
        if index == 1 {
            order.swap(0, 1);
        }
        let own = tile_of(&order, &[(Dim::REGISTER, k_width, k_axis), (Dim::LANE, 16, other_axis)])?;
        // On RDNA3 both halves of a wave hold the same.
        let halves = if wmma.version == 1 {
            LinearLayout::zeros(2, Dim::LANE, Dim::tensor(k_axis), 1)?
        } else {
            LinearLayout::identity(2, Dim::LANE, Dim::tensor(k_axis))?
        };
        let own = own.direct_sum(&halves)?;
        // Counted for both halves, even where they hold the same.
        let covered = k_width.saturating_mul(2);
        let repeated = [(Dim::REGISTER, (wmma.k / covered).max(1), k_axis), (Dim::REGISTER, other / 16, other_axis)];
        let tile = own.direct_sum(&tile_of(&order, &repeated)?)?;
        over_tensor(&tile.direct_sum(&tiles)?, &cluster, shape)
    };
    build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

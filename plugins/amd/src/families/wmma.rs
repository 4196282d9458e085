//! `amd_wmma`: results and operands of the matrix instructions of RDNA and gfx1250.
//!
//! A wave of 32 lanes spreads sixteen lanes over the columns of a result; where the tiles of the
//! warps lie, and how often a warp repeats its tile, is given by bases in units of tiles.

use tilewright_layout::f2::Columns;
use tilewright_layout::families::cluster::{Part, cluster_layout, layout_of, over_tensor, row_major, tile_of_parts};
use tilewright_layout::{
    Bases, Basis, Dim, FamilyError, FamilySpec, GivenBases, LayoutError, LinearLayout, Numbers, Space,
};

/// Bases of a grid of tiles that are taken apart; few grids have as many.
const MOST_PARTS: usize = 8;

/// The instruction that a layout belongs to, spread over warps and blocks.
struct Wmma<'a> {
    version: u64,
    transposed: bool,
    m: u64,
    n: u64,
    k: u64,
    registers: GivenBases<'a>,
    warps: GivenBases<'a>,
    cluster: Bases,
    rank: usize,
}

impl<'a> Wmma<'a> {
    fn read(spec: &'a FamilySpec, rank: usize) -> Result<Self, FamilyError> {
        let read = spec.parameters();
        let version = read.number(&["version"])?;
        let transposed = read.flag_or(&["transposed", "is_transposed", "is_transpose"], false)?;
        let instruction = match read.optional(&["instr_shape"]) {
            Some(_) => read.numbers(&["instr_shape"])?,
            None => Numbers::from_slice(&[16, 16, 16]),
        };
        let (mut registers, mut warps) = (read.listed_bases(&["reg_bases"])?, read.listed_bases(&["warp_bases"])?);
        if read.optional(&["cta_layout"]).is_some() {
            if !registers.is_empty() || !warps.is_empty() {
                return Err(read.wrong("cta_layout", "says again what `reg_bases` and `warp_bases` say"));
            }
            (registers, warps) = tiles(spec)?;
        }
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
        for (name, bases) in [("reg_bases", registers), ("warp_bases", warps)] {
            if bases.iter().any(|basis| basis.len() != rank) {
                return Err(read.wrong(name, &format!("each basis must have {rank} coordinates")));
            }
        }
        Ok(Self { version, transposed, m, n, k, registers, warps, cluster, rank })
    }

    /// The layout of a tensor from one tile and the grid of tiles.
    fn spread<const N: usize>(
        &self,
        spec: &FamilySpec,
        tile: [Part; N],
        order: &[usize],
        replicated: Option<usize>,
        cluster: &[Vec<u64>],
        shape: &[u64],
    ) -> Result<LinearLayout, FamilyError> {
        if let Some(grid) = self.parts(replicated) {
            return layout_of(spec, tile.into_iter().chain(grid), order, cluster, shape);
        }
        let grid = self.tiles(spec, self.rank, replicated)?;
        let cluster = cluster_layout(spec, cluster, self.rank)?;
        let build = || over_tensor(&tile_of_parts(order, &tile)?.direct_sum(&grid)?, &cluster, shape);
        build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
    }

    /// Where the tiles of the warps lie, those along `replicated` being the same one.
    fn tiles(&self, spec: &FamilySpec, rank: usize, replicated: Option<usize>) -> Result<LinearLayout, FamilyError> {
        let wrong = |message: String| spec.parameters().wrong("warp_bases", &message);
        let whole = self.tile_grid(rank).map_err(|error| wrong(error.to_string()))?;
        let Some(axis) = replicated else { return Ok(whole) };
        // Repetitions that hold the same are left out, warps that hold the same are not.
        let cut = whole.resize_out(Dim::tensor(axis), 1).map_err(|error| wrong(error.to_string()))?;
        Ok(cut.remove_zero_bases(Dim::REGISTER))
    }

    /// The grid as parts of a tile, where each of its bases moves by one unit of one axis, in order.
    fn parts(&self, replicated: Option<usize>) -> Option<[Part; MOST_PARTS]> {
        let mut parts = [Part::replicated(Dim::REGISTER, 1); MOST_PARTS];
        let mut next = Numbers::from_elem(1, self.rank);
        let registers = self.registers.iter().map(|basis| (Dim::REGISTER, basis));
        let bases = registers.chain(self.warps.iter().map(|basis| (Dim::WARP, basis)));
        for (at, (input, basis)) in bases.enumerate() {
            let mut moved = basis.enumerate().filter(|&(_, by)| by != 0);
            // In operands, repetitions that hold the same are left out; warps that hold the same are not.
            let is_left_out = replicated.is_some() && input == Dim::REGISTER;
            let same = Part::replicated(input, if is_left_out { 1 } else { 2 });
            let part = match (moved.next(), moved.next()) {
                (None, _) => same,
                (Some((axis, by)), None) if by == next[axis] => {
                    next[axis] = by.checked_mul(2)?;
                    if replicated == Some(axis) { same } else { Part::from((input, 2, axis)) }
                }
                _ => return None,
            };
            *parts.get_mut(at)? = part;
        }
        Some(parts)
    }

    /// From registers and warps to units of tiles, the last axis the most minor.
    fn tile_grid(&self, rank: usize) -> Result<LinearLayout, LayoutError> {
        let mut extents = Numbers::from_elem(0, rank);
        for basis in self.registers.iter().chain(self.warps.iter()) {
            for (extent, coordinate) in extents.iter_mut().zip(basis) {
                *extent |= coordinate;
            }
        }
        let (mut ins, mut outs) = (Space::default(), Space::default());
        ins.push(Dim::REGISTER, self.registers.iter().len() as u32)?;
        ins.push(Dim::WARP, self.warps.iter().len() as u32)?;
        let mut shifts = Numbers::from_elem(0, rank);
        for axis in row_major(rank) {
            shifts[axis] = u64::from(outs.bits());
            outs.push(Dim::tensor(axis), 64 - extents[axis].leading_zeros())?;
        }
        let packed = |basis: Basis<'_>| {
            basis.zip(&shifts).fold(0, |all, (by, &shift)| all | by.checked_shl(shift as u32).unwrap_or(0))
        };
        let columns: Columns = self.registers.iter().chain(self.warps.iter()).map(packed).collect();
        LinearLayout::from_columns(ins, outs, &columns)?.require_surjective()
    }
}

/// The attribute text's group of bases.
fn tiles(spec: &FamilySpec) -> Result<(GivenBases<'_>, GivenBases<'_>), FamilyError> {
    let read = spec.parameters();
    let tilewright_layout::FamilyAttribute::Spec(group) = read.required(&["cta_layout"])? else {
        return Err(read.wrong("cta_layout", "must be a group of bases of `register` and `warp`"));
    };
    let inner = group.parameters();
    let bases = (inner.listed_bases(&["register"])?, inner.listed_bases(&["warp"])?);
    inner.finish()?;
    Ok(bases)
}

/// The layout of the result.
pub(super) fn result(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let rank = shape.len();
    let wmma = Wmma::read(spec, rank)?;
    // A transposed result is that of the instruction with A and B exchanged.
    let (row, column) = if wmma.transposed { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) };
    // RDNA3 deals the rows out to both halves of a wave in turn, later ones eight by eight.
    let rows = if wmma.version == 1 {
        [(Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, 8, row), (Dim::REGISTER, 1, row)]
    } else {
        [(Dim::REGISTER, 8, row), (Dim::LANE, 16, column), (Dim::LANE, 2, row), (Dim::REGISTER, wmma.m / 16, row)]
    };
    wmma.spread(spec, rows.map(Part::from), &row_major(rank), None, &wmma.cluster, shape)
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
    let mut order = row_major(rank);
    if index == 1 {
        order.swap(0, 1);
    }
    // On RDNA3 both halves of a wave hold the same.
    let halves = if wmma.version == 1 { Part::replicated(Dim::LANE, 2) } else { Part::from((Dim::LANE, 2, k_axis)) };
    // Counted for both halves, even where they hold the same.
    let covered = k_width.saturating_mul(2);
    let tile = [
        Part::from((Dim::REGISTER, k_width, k_axis)),
        Part::from((Dim::LANE, 16, other_axis)),
        halves,
        Part::from((Dim::REGISTER, (wmma.k / covered).max(1), k_axis)),
        Part::from((Dim::REGISTER, other / 16, other_axis)),
    ];
    wmma.spread(spec, tile, &order, Some(k_axis), &bases, shape)
}

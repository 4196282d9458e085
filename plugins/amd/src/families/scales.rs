//! `mfma_scale` and `wmma_scale`: the scales of one operand of a block-scaled matrix instruction.
//!
//! A tensor of scales has a row for each row of A or column of B, and its second axis goes along K.
//! Rows lie where those of the operand do; the lanes that the operand spreads along K differ.

use tilewright::layout::families::cluster::{cluster_layout, identity_nd, over_tensor, row_major, tile_of};
use tilewright::layout::{Bases, Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

const LANES: u64 = 64;
/// Elements of K that one instruction of gfx1250 contracts.
const WMMA_K: u64 = 128;

/// What both families say: the operand, and rows of the result of one instruction.
fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<(usize, u64), FamilyError> {
    let read = spec.parameters();
    let index = match read.number(&["operand_index", "op_idx"])? {
        index @ (0 | 1) => index as usize,
        index => return Err(read.wrong("operand_index", &format!("{index} is neither 0 nor 1"))),
    };
    let rows = read.number(&["mdim"])?;
    if rows != 16 && rows != 32 {
        return Err(read.wrong("mdim", &format!("{rows} is neither 16 nor 32")));
    }
    if shape.len() != 2 {
        let message = "scales have two axes".to_owned();
        return Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message });
    }
    let given = read.optional(&["shape"]).map(|_| read.numbers(&["shape"])).transpose()?;
    if given.is_some_and(|given| given != shape) {
        return Err(read.wrong("shape", "is not that of the tensor"));
    }
    Ok((index, rows))
}

/// The scales of an operand of `mfma` on gfx950.
pub(super) fn mfma(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let (index, rows) = operand(spec, shape)?;
    let read = spec.parameters();
    let _ = (read.optional(&["operand_index", "op_idx"]), read.optional(&["mdim"]), read.optional(&["shape"]));
    let tiles = read.powers(&["tiles_per_warp"], 2)?;
    let warps = read.powers(&["warps_per_cta"], 2)?;
    read.finish()?;
    let cluster = cluster_layout(spec, &[], 2)?;
    let along_k = LANES / rows;
    let parts = [
        (Dim::LANE, rows, 0),
        (Dim::LANE, along_k, 1),
        (Dim::REGISTER, (shape[1] / along_k).max(1), 1),
        (Dim::REGISTER, tiles[index], 0),
    ];
    let build = || -> Result<LinearLayout, LayoutError> {
        // Warps along the other operand's axis hold the same.
        let spread = row_major(2).into_iter().try_fold(LinearLayout::empty(), |sum, axis| {
            let sizes = [warps[axis]];
            if axis == index {
                sum.direct_sum(&identity_nd(Dim::WARP, &sizes, &[0])?)
            } else {
                sum.direct_sum(&LinearLayout::zeros(warps[axis], Dim::WARP, Dim::tensor(0), 1)?)
            }
        })?;
        over_tensor(&tile_of(&row_major(2), &parts)?.direct_sum(&spread)?, &cluster, shape)
    };
    build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

/// The scales of an operand of `wmma` on gfx1250.
pub(super) fn wmma(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let (index, m) = operand(spec, shape)?;
    let read = spec.parameters();
    let _ = (read.optional(&["operand_index", "op_idx"]), read.optional(&["mdim"]), read.optional(&["shape"]));
    let n = read.number_or(&["ndim"], 16)?;
    let transposed = read.flag_or(&["transposed", "is_transposed"], false)?;
    let factor = read.number_or(&["scale_factor"], 32)?;
    let registers = read.bases_or_none(&["reg_bases"])?;
    let warps = read.bases_or_none(&["warp_bases"])?;
    read.finish()?;
    if n != 16 {
        return Err(read.wrong("ndim", &format!("{n} is not 16")));
    }
    if factor != 16 && factor != 32 {
        return Err(read.wrong("scale_factor", &format!("{factor} is neither 16 nor 32")));
    }
    let own = |name: &str, bases: &Bases| -> Result<Vec<u64>, FamilyError> {
        let along = |basis: &Vec<u64>| match basis[..] {
            [row, column] if row.max(column) < 1 << 32 => Ok([row, column][index]),
            _ => Err(read.wrong(name, "each basis must have two coordinates, below 2^32")),
        };
        bases.iter().map(along).collect()
    };
    let tiles = Tiles { m, of_operand: if (index == 0) == transposed { n } else { m }, k: WMMA_K / factor };
    let (registers, warps) = (own("reg_bases", &registers)?, own("warp_bases", &warps)?);
    let cluster = cluster_layout(spec, &[], 2)?;
    let build = || over_tensor(&tiles.spread(&registers, &warps, shape[1])?, &cluster, shape);
    build().map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

/// The scales of one instruction.
struct Tiles {
    /// Rows of the instruction's result.
    m: u64,
    /// Rows of this operand.
    of_operand: u64,
    /// Scales along K.
    k: u64,
}

impl Tiles {
    /// The tiles of one block, `registers` and `warps` moving by so many tiles.
    fn spread(&self, registers: &[u64], warps: &[u64], groups: u64) -> Result<LinearLayout, LayoutError> {
        let tile = self.of_operand;
        let mut own: Vec<u64> = registers.iter().filter(|&&by| by != 0).map(|by| by * tile).collect();
        let units = registers.iter().chain(warps).fold(0, |all, by| all | by) + 1;
        let mut rows = tile * units.next_power_of_two();
        // The upper lanes take the upper rows; of 16 they take the next tile, so that one register
        // feeds two instructions, unless those have 32 rows on the other side.
        let upper = if tile > 16 {
            16
        } else if self.m > 16 {
            0
        } else if own.is_empty() {
            rows *= 2;
            rows / 2
        } else {
            own.remove(0)
        };
        let along_k = groups.max(self.k);
        let mut register_bases: Bases = (0..along_k.trailing_zeros()).map(|bit| vec![1 << bit, 0]).collect();
        register_bases.extend(own.into_iter().map(|row| vec![0, row]));
        let lanes = [1, 2, 4, 8, upper].map(|row| vec![0, row]).to_vec();
        let warps = warps.iter().map(|by| vec![0, by * tile]).collect();
        let bases = [(Dim::REGISTER, register_bases), (Dim::LANE, lanes), (Dim::WARP, warps)];
        LinearLayout::from_bases(&bases, &[(Dim::tensor(1), along_k), (Dim::tensor(0), rows)])?.require_surjective()
    }
}

//! Products of matrices: `d = a * b + c`, for each block of the row's tiles; or of single bits, how many differ.
//!
//! Where several warps issue an instruction together, each computes what it holds of `d`, from the rows
//! of `a` that it holds, or reads from memory, and from all of `b`.
//!
//! Sums in tensor memory are changed in place by one warp, which begins them at zero where it is told so.
//!
//! Each element is an [`ElementSum`]. Where the numerics of floating point are assumed, a result that must
//! not depend on the order (small integers) is the same on hardware; others differ within the error of a sum of so
//! many terms.
//!
//! Where the product is no power of two, what lanes hold beyond it of `d` is made up too.
//!
//! Where a row takes scales, each factor is first multiplied by that of its block of K, exactly: then a product is
//! added as it is, rounded once.
//!
//! Elements narrower than what they lie in are in its low bits. What a result has above them is
//! unspecified, and made up here from a pattern.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::element_sum::{ElementSum, integer};
use super::factor::MmaOperand;
use super::held::Held;
use super::operand::position;
use super::register_tile::Tile;
use super::summation::Summed;
use super::tensor_tile::TensorTile;
use tilewright_target::{Direction, ElementType, Instruction, Operand, Summation};

/// One such instruction.
pub(super) struct Product {
    a: MmaOperand,
    b: MmaOperand,
    accumulator: Sums,
    /// The scales of `a` and of `b`, by rows and by columns, where the row takes them.
    scales: Option<[MmaOperand; 2]>,
    /// How one element comes about.
    sum: ElementSum,
    /// M, N and K of which there are elements.
    extent: [usize; 3],
}

/// Where the sums are, before and after.
enum Sums {
    /// In registers.
    Held { c: Tile, d: Tile },
    /// In tensor memory, in place; the operand that says whether they are added to.
    Tensor { tile: TensorTile, accumulate: usize },
}

impl Sums {
    fn of(row: &Instruction) -> Result<Self, String> {
        let Some(tile) = TensorTile::of(row, "d")? else {
            let (c, d) = (Tile::of(row, "c")?, Tile::of(row, "d")?);
            return match c.shape == d.shape {
                true => Ok(Self::Held { c, d }),
                false => Err("the tiles of its operands do not fit each other".to_owned()),
            };
        };
        let accumulate = row.operands.iter().find(|operand| matches!(operand, Operand::Accumulate));
        let accumulate = accumulate.ok_or("its row does not say whether the sums are added to")?;
        Ok(Self::Tensor { tile, accumulate: position(row, accumulate) })
    }

    fn shape(&self) -> [u32; 3] {
        match self {
            Self::Held { d, .. } => d.shape,
            Self::Tensor { tile, .. } => [tile.shape[0], tile.shape[1], 0],
        }
    }

    /// The types before and after.
    fn numbers(&self) -> [ElementType; 2] {
        match self {
            Self::Held { c, d } => [c.number, d.number],
            Self::Tensor { tile, .. } => [tile.number; 2],
        }
    }

    /// The elements that the running warp computes.
    fn own(&self, call: &Call<'_>) -> Vec<usize> {
        let all = 0..1usize << self.shape().iter().sum::<u32>();
        match self {
            Self::Held { d, .. } => all.filter(|&at| d.holds(d.warp(call), at)).collect(),
            Self::Tensor { .. } => all.collect(),
        }
    }
}

impl Product {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let (a, b) = (MmaOperand::of(row, "a")?, MmaOperand::of(row, "b")?);
        let accumulator = Sums::of(row)?;
        let [before, after] = accumulator.numbers();
        let [m, k, blocks] = a.shape();
        let n = b.shape()[1];
        if b.shape() != [k, n, blocks] || accumulator.shape() != [m, n, blocks] {
            return Err("the tiles of its operands do not fit each other".to_owned());
        }
        let sum = ElementSum::between(row, [a.number(), b.number()], [before, after])?;
        let scales = scales(row, [m, n, k, blocks], sum.float())?;
        let extent = row.extent().ok_or("it has no tiles of two factors")?.map(|size| size as usize);
        Ok(Self { a, b, accumulator, scales, sum, extent })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let [m, n, _] = self.accumulator.shape();
        let k = self.a.shape()[1];
        let is_within = |&at: &usize| at >> n & ((1 << m) - 1) < self.extent[0] && at & ((1 << n) - 1) < self.extent[1];
        let (own, beyond): (Vec<usize>, Vec<usize>) = self.accumulator.own(call).into_iter().partition(is_within);
        let terms = 0..self.extent[2];
        // An element of d is at (block, row, column); its factors at (block, row, k) and (block, k, column).
        let row_of = |at: usize| at >> n;
        let column_of = |at: usize| at >> (n + m) << n | at & ((1 << n) - 1);
        let mut is_needed = vec![false; 1 << (self.a.shape().iter().sum::<u32>())];
        own.iter().for_each(|&at| is_needed[row_of(at) << k..][terms.clone()].fill(true));
        let a = self.a.elements(call, &is_needed)?;
        let mut is_needed = vec![false; 1 << (self.b.shape().iter().sum::<u32>())];
        let at_b = |column: usize, k_at: usize| ((column >> n) << k | k_at) << n | column & ((1 << n) - 1);
        let mut columns: Vec<usize> = own.iter().map(|&at| column_of(at)).collect();
        columns.sort_unstable();
        columns.dedup();
        for column in columns {
            terms.clone().for_each(|k_at| is_needed[at_b(column, k_at)] = true);
        }
        let b = self.b.elements(call, &is_needed)?;
        let scales = match &self.scales {
            Some([of_a, of_b]) => Some([values(of_a, call)?, values(of_b, call)?]),
            None => None,
        };
        let total = |at: usize, c: u64| {
            let factors = terms.clone().map(|k_at| (a[row_of(at) << k | k_at], b[at_b(column_of(at), k_at)]));
            match &scales {
                Some(scales) => self.scaled(c, factors, [row_of(at), column_of(at)], scales),
                None => self.sum.total(c, factors),
            }
        };
        match &self.accumulator {
            Sums::Held { c, d } => in_registers([c, d], call, [&own, &beyond], total),
            Sums::Tensor { tile, accumulate } => in_tensor_memory(tile, *accumulate, call, total),
        }
    }

    /// The bits of one element of the result, of a row and a column with their scales.
    fn scaled(
        &self,
        c: u64,
        factors: impl Iterator<Item = (u64, u64)>,
        [row, column]: [usize; 2],
        [of_a, of_b]: &[Vec<f64>; 2],
    ) -> u64 {
        let Some((sum, tiles)) = self.sum.float().zip(self.scales.as_ref()) else {
            return self.sum.total(c, factors);
        };
        let blocks = tiles[0].shape()[1];
        let block = |k: usize| k >> (self.a.shape()[1] - blocks);
        let scaled = factors.enumerate().map(|(k, (a, b))| {
            let a = float(self.a.number(), a) * of_a[row << blocks | block(k)];
            a * (float(self.b.number(), b) * of_b[column << blocks | block(k)])
        });
        sum.total_of_products(c, scaled)
    }
}

/// Sums `own` elements of `c` into `d`; what lies `beyond` the product means nothing.
fn in_registers(
    [c, d]: [&Tile; 2],
    call: &mut Call<'_>,
    [own, beyond]: [&[usize]; 2],
    total: impl Fn(usize, u64) -> u64,
) -> Result<(), LaneFault> {
    let ty = call.result_types().next().ok_or_else(|| call.wrong("it has no result"))?.awaited();
    let warp = d.warp(call);
    if own.iter().any(|&at| !c.holds(warp, at)) {
        return Err(call.wrong("no lane holds some element of an operand"));
    }
    let before = c.elements(call)?;
    let mut held = Held::zeros(call.lanes(), ty);
    beyond.iter().for_each(|&at| d.leave(&mut held, warp, at));
    own.iter().for_each(|&at| d.put(&mut held, warp, at, total(at, before[at])));
    held.into_result(call, ty)
}

/// Sums all elements of a tile in its place.
fn in_tensor_memory(
    tile: &TensorTile,
    accumulate: usize,
    call: &mut Call<'_>,
    total: impl Fn(usize, u64) -> u64,
) -> Result<(), LaneFault> {
    let parts = tile.parts(call)?;
    call.send_tensor(Direction::Store, &parts)?;
    let before = match call.same_in_all(accumulate)? {
        0 => vec![0; parts.len()],
        _ => call.read_tensor(&parts)?.into_iter().map(|place| tile.element(place)).collect(),
    };
    for (at, &part) in parts.iter().enumerate() {
        call.write_tensor(part, tile.place(total(at, before[at])));
    }
    Ok(())
}

fn float(number: ElementType, bits: u64) -> f64 {
    match number {
        ElementType::Float(format) => format.decode(bits),
        ElementType::Integer { .. } => integer(number, bits) as f64,
    }
}

/// The values of a tile of scales, by row and then column.
fn values(tile: &MmaOperand, call: &mut Call<'_>) -> Result<Vec<f64>, LaneFault> {
    let all = vec![true; 1 << tile.shape().iter().sum::<u32>()];
    Ok(tile.elements(call, &all)?.into_iter().map(|bits| float(tile.number(), bits)).collect())
}

/// The scales of a row whose factors have M, N, K and blocks (log2), where it takes them.
fn scales(
    row: &Instruction,
    [m, n, k, blocks]: [u32; 4],
    sum: Option<&Summed>,
) -> Result<Option<[MmaOperand; 2]>, String> {
    if !row.takes_scales() {
        return Ok(None);
    }
    let (of_a, of_b) = (MmaOperand::of(row, "scale_a")?, MmaOperand::of(row, "scale_b")?);
    let ([rows_a, blocks_a, _], [rows_b, blocks_b, _]) = (of_a.shape(), of_b.shape());
    let fits = rows_a == m && rows_b == n && blocks_a == blocks_b;
    if !fits || blocks_a > k || blocks > 0 {
        return Err("the tiles of its scales do not fit those of its factors".to_owned());
    }
    if sum.is_none_or(|sum| sum.numerics.summation != Summation::Chain) {
        return Err("its products have scales, and so are added one after the other".to_owned());
    }
    Ok(Some([of_a, of_b]))
}

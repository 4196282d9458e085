//! MMAs: `d = a * b + c` for each block of the row's tiles, or, for elements of one bit, the number of differing
//! elements.
//!
//! If several warps issue an instruction together, each warp computes its elements of `d`, from its rows of `a` in
//! registers or from memory, and from all of `b`.
//!
//! One warp updates an accumulator in tensor memory in place; the accumulate operand selects whether it starts from
//! zero.
//!
//! Each element is computed by an [`MmaElement`]. If the row's numerics are assumed, hardware agrees on results that do
//! not depend on the order of summation (small integers); other results differ within the error bound of a summation of
//! that length.
//!
//! If the shape is not a power of two, elements of `d` beyond the shape are unspecified too.
//!
//! If a row takes scales, each operand element is first multiplied exactly by the scale of its block of K; then each
//! product is added with one rounding.
//!
//! Elements narrower than their container use its low bits. The upper bits of a result are unspecified and filled with
//! a pattern.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::element_sum::{MmaElement, integer};
use super::mma_operand::MmaOperand;
use super::operand::position;
use super::operand_bits::RegisterBits;
use super::register_tile::RegisterTile;
use super::summation::FloatSummation;
use super::tensor_tile::TensorTile;
use tilewright_target::{Direction, ElementType, Instruction, Operand, Summation};

/// The semantics of an MMA instruction: `d = a * b + c` on tiles, optionally with scales of `a` and `b`.
pub(super) struct Mma {
    a: MmaOperand,
    b: MmaOperand,
    accumulator: AccumulatorTile,
    /// The scales of `a`, by row and block of K, and of `b`, by column and block of K; `None` if the instruction takes
    /// no scales.
    scales: Option<[MmaOperand; 2]>,
    /// The computation of one element of the result.
    sum: MmaElement,
    /// Sizes M, N and K of the MMA shape, which need not be powers of two.
    extent: [usize; 3],
}

/// The tile of the accumulator, in registers or in tensor memory.
enum AccumulatorTile {
    /// Accumulator input and output in registers.
    Registers { c: RegisterTile, d: RegisterTile },
    /// Accumulator in tensor memory, updated in place; `accumulate` is the index of the predicate operand.
    Tensor { tile: TensorTile, accumulate: usize },
}

impl AccumulatorTile {
    fn of(row: &Instruction) -> Result<Self, String> {
        let Some(tile) = TensorTile::of(row, "d")? else {
            let (c, d) = (RegisterTile::of(row, "c")?, RegisterTile::of(row, "d")?);
            return match c.shape == d.shape {
                true => Ok(Self::Registers { c, d }),
                false => Err("the tiles of its operands do not fit each other".to_owned()),
            };
        };
        let accumulate = row.operands.iter().find(|operand| matches!(operand, Operand::Accumulate));
        let accumulate = accumulate.ok_or("its description has no accumulate operand")?;
        Ok(Self::Tensor { tile, accumulate: position(row, accumulate) })
    }

    fn shape(&self) -> [u32; 3] {
        match self {
            Self::Registers { d, .. } => d.shape,
            Self::Tensor { tile, .. } => [tile.shape[0], tile.shape[1], 0],
        }
    }

    /// Element types of accumulator input and output.
    fn element_types(&self) -> [ElementType; 2] {
        match self {
            Self::Registers { c, d } => [c.element_type, d.element_type],
            Self::Tensor { tile, .. } => [tile.element_type; 2],
        }
    }

    /// Returns the indices of the elements of the accumulator that the running warp computes, counted by block, then
    /// row, then column.
    fn tile_elements(&self, call: &InstructionCall<'_>) -> Vec<usize> {
        let all = 0..1usize << self.shape().iter().sum::<u32>();
        match self {
            Self::Registers { d, .. } => all.filter(|&at| d.holds(d.warp(call), at)).collect(),
            Self::Tensor { .. } => all.collect(),
        }
    }
}

impl Mma {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let (a, b) = (MmaOperand::of(row, "a")?, MmaOperand::of(row, "b")?);
        let accumulator = AccumulatorTile::of(row)?;
        let [before, after] = accumulator.element_types();
        let [m, k, blocks] = a.shape();
        let n = b.shape()[1];
        if b.shape() != [k, n, blocks] || accumulator.shape() != [m, n, blocks] {
            return Err("the tiles of its operands do not fit each other".to_owned());
        }
        let sum = MmaElement::between(row, [a.element_type(), b.element_type()], [before, after])?;
        let scales = scales(row, [m, n, k, blocks], sum.float())?;
        let extent = row.mma_shape().ok_or("it has no tiles of operands A and B")?.map(|size| size as usize);
        Ok(Self { a, b, accumulator, scales, sum, extent })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let [m, n, _] = self.accumulator.shape();
        let k = self.a.shape()[1];
        let is_within = |&at: &usize| at >> n & ((1 << m) - 1) < self.extent[0] && at & ((1 << n) - 1) < self.extent[1];
        let (tile_elements, beyond): (Vec<usize>, Vec<usize>) =
            self.accumulator.tile_elements(call).into_iter().partition(is_within);
        let terms = 0..self.extent[2];
        // An index of d is (block, row, column); the operand elements are (block, row, k) of a and (block, k, column)
        // of b.
        let row_of = |at: usize| at >> n;
        let column_of = |at: usize| at >> (n + m) << n | at & ((1 << n) - 1);
        let mut is_needed = vec![false; 1 << (self.a.shape().iter().sum::<u32>())];
        tile_elements.iter().for_each(|&at| is_needed[row_of(at) << k..][terms.clone()].fill(true));
        let a = self.a.elements(call, &is_needed)?;
        let mut is_needed = vec![false; 1 << (self.b.shape().iter().sum::<u32>())];
        let at_b = |column: usize, k_at: usize| ((column >> n) << k | k_at) << n | column & ((1 << n) - 1);
        let mut columns: Vec<usize> = tile_elements.iter().map(|&at| column_of(at)).collect();
        columns.sort_unstable();
        columns.dedup();
        for column in columns {
            terms.clone().for_each(|k_at| is_needed[at_b(column, k_at)] = true);
        }
        let b = self.b.elements(call, &is_needed)?;
        let terms_of = |at: usize| terms.clone().map(move |k_at| (row_of(at) << k | k_at, at_b(column_of(at), k_at)));
        let Some(sum) = self.sum.float() else {
            let total = |at: usize, c: u64| self.sum.total(c, terms_of(at).map(|(of_a, of_b)| (a[of_a], b[of_b])));
            return self.update(call, [&tile_elements, &beyond], total);
        };
        // Each operand element is multiplied many times, so all are decoded first.
        let a: Vec<f64> = a.into_iter().map(|bits| sum.a.decode(bits)).collect();
        let b: Vec<f64> = b.into_iter().map(|bits| sum.b.decode(bits)).collect();
        let Some([of_a, of_b]) = &self.scales else {
            let total = |at: usize, c: u64| sum.total_of_values(c, terms_of(at).map(|(of_a, of_b)| [a[of_a], b[of_b]]));
            return self.update(call, [&tile_elements, &beyond], total);
        };
        let scales = [values(of_a, call)?, values(of_b, call)?];
        let blocks = of_a.shape()[1];
        let total = |at: usize, c: u64| {
            let [row, column] = [row_of(at), column_of(at)].map(|line| line << blocks);
            let products = terms_of(at).zip(terms.clone()).map(|((of_a, of_b), k_at)| {
                let block = k_at >> (k - blocks);
                a[of_a] * scales[0][row | block] * (b[of_b] * scales[1][column | block])
            });
            sum.total_of_products(c, products)
        };
        self.update(call, [&tile_elements, &beyond], total)
    }

    /// Updates the elements of the accumulator. `indices` has the elements to compute, by `total(index, c)` with the
    /// old bits `c`, and then the elements in registers outside of the MMA shape, which become unspecified.
    fn update(
        &self,
        call: &mut InstructionCall<'_>,
        indices: [&[usize]; 2],
        total: impl Fn(usize, u64) -> u64,
    ) -> Result<(), LaneFault> {
        match &self.accumulator {
            AccumulatorTile::Registers { c, d } => in_registers([c, d], call, indices, total),
            AccumulatorTile::Tensor { tile, accumulate } => in_tensor_memory(tile, *accumulate, call, total),
        }
    }
}

/// Computes the elements of `d` at the indices `tile_elements` by `total(index, c)`, with the bits `c` of the
/// accumulator's element, and writes them to the result registers. Elements at the indices `beyond`, outside of the MMA
/// shape, get an unspecified value.
fn in_registers(
    [c, d]: [&RegisterTile; 2],
    call: &mut InstructionCall<'_>,
    [tile_elements, beyond]: [&[usize]; 2],
    total: impl Fn(usize, u64) -> u64,
) -> Result<(), LaneFault> {
    let ty = call.result_types().next().ok_or_else(|| call.invalid_use("it has no result"))?.after_wait();
    let warp = d.warp(call);
    if tile_elements.iter().any(|&at| !c.holds(warp, at)) {
        return Err(call.invalid_use("an element of an operand is in no lane"));
    }
    let before = c.elements(call)?;
    let mut operand_bits = RegisterBits::zeros(call.lanes(), ty);
    beyond.iter().for_each(|&at| d.fill_unspecified(&mut operand_bits, warp, at));
    tile_elements.iter().for_each(|&at| d.put(&mut operand_bits, warp, at, total(at, before[at])));
    operand_bits.into_result(call, ty)
}

/// Updates all elements of an accumulator tile in tensor memory by `total(index, c)`, with the old bits `c` of the
/// element. `c` is zero if the operand with the index `accumulate` is zero.
fn in_tensor_memory(
    tile: &TensorTile,
    accumulate: usize,
    call: &mut InstructionCall<'_>,
    total: impl Fn(usize, u64) -> u64,
) -> Result<(), LaneFault> {
    let bit_fields = tile.bit_fields(call)?;
    call.send_tensor(Direction::Store, &bit_fields)?;
    let before = match call.same_in_all(accumulate)? {
        0 => vec![0; bit_fields.len()],
        _ => call.read_tensor(&bit_fields)?.into_iter().map(|bits| tile.element(bits)).collect(),
    };
    for (at, &bit_field) in bit_fields.iter().enumerate() {
        call.write_tensor(bit_field, tile.encode(total(at, before[at])));
    }
    Ok(())
}

fn float(element_type: ElementType, bits: u64) -> f64 {
    match element_type {
        ElementType::Float(format) => format.decode(bits),
        ElementType::Integer { .. } => integer(element_type, bits) as f64,
    }
}

/// Decodes the values of a tile of scales, row by row.
fn values(tile: &MmaOperand, call: &mut InstructionCall<'_>) -> Result<Vec<f64>, LaneFault> {
    let all = vec![true; 1 << tile.shape().iter().sum::<u32>()];
    Ok(tile.elements(call, &all)?.into_iter().map(|bits| float(tile.element_type(), bits)).collect())
}

/// Returns the operands of an instruction that hold the scales of `a` and of `b`, after a check of their shapes; `None`
/// if the instruction takes no scales. `m`, `n`, `k` are log2 of the MMA shape, `blocks` is log2 of its number of
/// independent blocks, which must be one.
fn scales(
    row: &Instruction,
    [m, n, k, blocks]: [u32; 4],
    sum: Option<&FloatSummation>,
) -> Result<Option<[MmaOperand; 2]>, String> {
    if !row.takes_scales() {
        return Ok(None);
    }
    let (of_a, of_b) = (MmaOperand::of(row, "scale_a")?, MmaOperand::of(row, "scale_b")?);
    let ([rows_a, blocks_a, _], [rows_b, blocks_b, _]) = (of_a.shape(), of_b.shape());
    let fits = rows_a == m && rows_b == n && blocks_a == blocks_b;
    if !fits || blocks_a > k || blocks > 0 {
        return Err("the tiles of its scales do not fit those of its operands".to_owned());
    }
    if sum.is_none_or(|sum| sum.numerics.summation != Summation::Chain) {
        return Err("its operands have scales, so its products must be added sequentially".to_owned());
    }
    Ok(Some([of_a, of_b]))
}

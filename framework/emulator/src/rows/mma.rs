//! MMAs: `d = a * b + c` for each block of the row's tiles, or, for elements of one bit, the number of differing
//! elements.
//!
//! If several warps issue an instruction together, each warp computes its elements of `d`, from its rows of `a` in
//! registers or from memory, and from all of `b`.
//!
//! One warp updates an accumulator in tensor memory in place; the accumulate operand selects whether it starts from
//! zero.
//!
//! Each element is computed by an [`MmaElementEvaluator`]. If the row's numerics are assumed, hardware agrees on
//! results that do not depend on the order of summation (small integers); other results differ within the error bound
//! of a summation of that length.
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
use super::element_sum::{MmaElementEvaluator, integer};
use super::mma_operand::MmaOperand;
use super::operand::position;
use super::operand_bits::RegisterBits;
use super::register_tile::RegisterTile;
use super::summation::{FloatSummation, OperandValues};
use super::tensor_tile::TensorTile;
use std::sync::OnceLock;
use tilewright_target::{Direction, ElementType, Instruction, InstructionOperand, Summation};

/// The semantics of an MMA instruction: `d = a * b + c` on tiles, optionally with scales of `a` and `b`.
pub(super) struct Mma {
    a: MmaOperand,
    b: MmaOperand,
    accumulator: AccumulatorTile,
    /// The scales of `a`, by row and block of K, and of `b`, by column and block of K; `None` if the instruction takes
    /// no scales.
    scales: Option<[MmaOperand; 2]>,
    /// The computation of one element of the result.
    sum: MmaElementEvaluator,
    /// Sizes M, N and K of the MMA shape, which need not be powers of two.
    extent: [usize; 3],
    /// The elements of each of the warps that issue together, filled when the warp first issues the instruction.
    warps: Vec<OnceLock<WarpElements>>,
}

/// The elements that one warp computes, and those that it reads.
struct WarpElements {
    /// Indices of the accumulator's elements within the MMA shape, counted by block, then row, then column.
    computed: Vec<usize>,
    /// Indices of the accumulator's elements beyond the shape.
    beyond: Vec<usize>,
    /// For each element of `a` and of `b`, whether a computed element needs it.
    needed: [Vec<bool>; 2],
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
        let accumulate = row.operands.iter().find(|operand| matches!(operand, InstructionOperand::Accumulate));
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

    /// Number of warps among which the elements are distributed.
    fn warps(&self) -> usize {
        match self {
            Self::Registers { d, .. } => d.warps(),
            Self::Tensor { .. } => 1,
        }
    }

    /// Returns the indices of the elements of the accumulator that a warp computes, counted by block, then row, then
    /// column.
    fn elements_of(&self, warp: usize) -> Vec<usize> {
        let all = 0..1usize << self.shape().iter().sum::<u32>();
        match self {
            Self::Registers { d, .. } => all.filter(|&at| d.holds(warp, at)).collect(),
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
        let sum = MmaElementEvaluator::between(row, [a.element_type(), b.element_type()], [before, after])?;
        let scales = scales(row, [m, n, k, blocks], sum.float())?;
        let extent = row.mma_shape().ok_or("it has no tiles of operands A and B")?.map(|size| size as usize);
        let warps = (0..accumulator.warps()).map(|_| OnceLock::new()).collect();
        Ok(Self { a, b, accumulator, scales, sum, extent, warps })
    }

    // An index of d is (block, row, column); the operand elements are (block, row, k) of a and (block, k, column) of b.

    /// Returns the index of the row, counted by block, of the accumulator's element with the index `at`.
    fn row_of(&self, at: usize) -> usize {
        at >> self.accumulator.shape()[1]
    }

    /// Returns the index in `b`, for K index `k_at`, of the operand element of the accumulator's element `at`.
    fn at_b(&self, at: usize, k_at: usize) -> usize {
        let [m, n, _] = self.accumulator.shape();
        ((at >> (n + m)) << self.a.shape()[1] | k_at) << n | at & ((1 << n) - 1)
    }

    fn warp_elements(&self, warp: usize) -> WarpElements {
        let [m, n, _] = self.accumulator.shape();
        let k = self.a.shape()[1];
        let is_within = |&at: &usize| at >> n & ((1 << m) - 1) < self.extent[0] && at & ((1 << n) - 1) < self.extent[1];
        let (computed, beyond): (Vec<_>, Vec<_>) = self.accumulator.elements_of(warp).into_iter().partition(is_within);
        let mut needed = [&self.a, &self.b].map(|operand| vec![false; 1 << operand.shape().iter().sum::<u32>()]);
        for &at in &computed {
            needed[0][self.row_of(at) << k..][..self.extent[2]].fill(true);
            (0..self.extent[2]).for_each(|k_at| needed[1][self.at_b(at, k_at)] = true);
        }
        WarpElements { computed, beyond, needed }
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let k = self.a.shape()[1];
        let warp = call.warp() as usize % self.warps.len();
        let elements = self.warps[warp].get_or_init(|| self.warp_elements(warp));
        let a = self.a.elements(call, &elements.needed[0])?;
        let b = self.b.elements(call, &elements.needed[1])?;
        let terms = 0..self.extent[2];
        let terms_of = |at: usize| terms.clone().map(move |k_at| (self.row_of(at) << k | k_at, self.at_b(at, k_at)));
        let Some(sum) = self.sum.float() else {
            let total =
                |at: usize, c: u64| self.sum.compute_element(c, terms_of(at).map(|(of_a, of_b)| (a[of_a], b[of_b])));
            return self.update(call, elements, each(total));
        };
        // Each operand element is multiplied many times, so all are decoded first.
        let (a, b) = (OperandValues::new(a, sum.a), OperandValues::new(b, sum.b));
        let Some([of_a, of_b]) = &self.scales else {
            let total = |at: usize, c: u64| {
                sum.total_of_values(c, terms_of(at).map(|(of_a, of_b)| [a.values[of_a], b.values[of_b]]))
            };
            if !sum.adds_rows(&a, &b) {
                return self.update(call, elements, each(total));
            }
            return self.update(call, elements, |indices, before| self.rows(sum, [&a, &b], indices, before));
        };
        let scales = [values(of_a, call)?, values(of_b, call)?];
        let blocks = of_a.shape()[1];
        let [m, n, _] = self.accumulator.shape();
        let total = |at: usize, c: u64| {
            let column = at >> (n + m) << n | at & ((1 << n) - 1);
            let [row, column] = [self.row_of(at), column].map(|line| line << blocks);
            let products = terms_of(at).zip(terms.clone()).map(|((of_a, of_b), k_at)| {
                let block = k_at >> (k - blocks);
                a.values[of_a] * scales[0][row | block] * (b.values[of_b] * scales[1][column | block])
            });
            sum.total_of_products(c, products)
        };
        self.update(call, elements, each(total))
    }

    /// Returns the new bits of the accumulator's elements with these indices, from their old bits, row by row.
    fn rows(&self, sum: &FloatSummation, [a, b]: [&OperandValues; 2], indices: &[usize], before: &[u64]) -> Vec<u64> {
        let (n, k) = (self.accumulator.shape()[1], self.a.shape()[1]);
        let mut result = Vec::with_capacity(indices.len());
        let mut accumulators = vec![0.0; 1 << n];
        for row in indices.chunk_by(|&one, &next| self.row_of(one) == self.row_of(next)) {
            let column = |at: usize| at & ((1 << n) - 1);
            let old = &before[result.len()..][..row.len()];
            row.iter().zip(old).for_each(|(&at, &bits)| accumulators[column(at)] = sum.c.decode(bits));
            let (of_a, of_b) = (self.row_of(row[0]) << k, self.at_b(row[0], 0) >> n << n);
            sum.add_row(&mut accumulators, (a, of_a), (b, of_b), self.extent[2]);
            result.extend(row.iter().map(|&at| sum.encoded(accumulators[column(at)])));
        }
        result
    }

    /// Updates the accumulator's elements by `totals`, which returns the new bits of the elements with some indices
    /// from their old bits. Elements in registers beyond the MMA shape get an unspecified value.
    fn update(
        &self,
        call: &mut InstructionCall<'_>,
        elements: &WarpElements,
        totals: impl Fn(&[usize], &[u64]) -> Vec<u64>,
    ) -> Result<(), LaneFault> {
        match &self.accumulator {
            AccumulatorTile::Registers { c, d } => in_registers([c, d], call, elements, totals),
            AccumulatorTile::Tensor { tile, accumulate } => in_tensor_memory(tile, *accumulate, call, totals),
        }
    }
}

/// Returns a function that computes elements one by one by `total(index, c)`, with the old bits `c` of the element.
fn each(total: impl Fn(usize, u64) -> u64) -> impl Fn(&[usize], &[u64]) -> Vec<u64> {
    move |indices, before| indices.iter().zip(before).map(|(&at, &c)| total(at, c)).collect()
}

/// Computes the elements of `d` in registers by `totals`; see [`Mma::update`].
fn in_registers(
    [c, d]: [&RegisterTile; 2],
    call: &mut InstructionCall<'_>,
    WarpElements { computed, beyond, .. }: &WarpElements,
    totals: impl Fn(&[usize], &[u64]) -> Vec<u64>,
) -> Result<(), LaneFault> {
    let ty = call.result_types().next().ok_or_else(|| call.invalid_use_fault("it has no result"))?.after_wait();
    let warp = d.warp(call);
    if computed.iter().any(|&at| !c.holds(warp, at)) {
        return Err(call.invalid_use_fault("an element of an operand is in no lane"));
    }
    let all = c.elements(call)?;
    let before: Vec<u64> = computed.iter().map(|&at| all[at]).collect();
    let mut operand_bits = RegisterBits::zeros(call.lanes(), ty);
    beyond.iter().for_each(|&at| d.fill_unspecified(&mut operand_bits, warp, at));
    computed.iter().zip(totals(computed, &before)).for_each(|(&at, bits)| d.put(&mut operand_bits, warp, at, bits));
    operand_bits.into_result(call)
}

/// Updates all elements of an accumulator tile in tensor memory by `totals`; see [`Mma::update`]. The old bits are zero
/// if the operand with the index `accumulate` is zero.
fn in_tensor_memory(
    tile: &TensorTile,
    accumulate: usize,
    call: &mut InstructionCall<'_>,
    totals: impl Fn(&[usize], &[u64]) -> Vec<u64>,
) -> Result<(), LaneFault> {
    let bit_fields = tile.bit_fields(call)?;
    call.send_tensor(Direction::Store, &bit_fields)?;
    let before = match call.uniform_operand(accumulate)? {
        0 => vec![0; bit_fields.len()],
        _ => call.read_tensor(&bit_fields)?.into_iter().map(|bits| tile.element(bits)).collect(),
    };
    let indices: Vec<usize> = (0..bit_fields.len()).collect();
    for (&bit_field, bits) in bit_fields.iter().zip(totals(&indices, &before)) {
        call.write_tensor(bit_field, tile.encode(bits));
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

//! Loads of a tile of a matrix in global memory by instructions that address 2-D blocks, straight into a layout.
//!
//! An instruction fits if the layout is divisible by the layout of its result (left division): equal lanes, and the
//! block's registers among the layout's. All other registers, and the warps, must move by multiples of the block's
//! size. If the instruction's elements are wider than those of the matrix, each of them holds several neighbours along
//! a row.

use super::PlanContext;
use super::block_begins::BlockOrigins;
use tilewright_kernel::{Binary, Builder, Cast, Element, Op, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{
    BlockLoadMatrixParameter, BlockLoadOperand, BlockLoadSourceMatrix, Instruction, InstructionKind, InstructionOperand,
};

/// A matrix in global memory from which tiles are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLoadSource {
    /// Sizes of the matrix along dim0 and dim1, in elements.
    pub shape: [u64; 2],
    /// The axis (0 or 1) along which elements are contiguous in memory.
    pub minor: usize,
    /// Distance from one row to the next, in elements; a row runs along `minor`.
    pub pitch: u64,
    /// Alignment of the matrix's address, in bytes.
    pub alignment: u64,
}

/// The plan by which a block loads a tile of a matrix with instructions that address 2-D blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Block2dLoadPlan {
    /// The name of the instruction that loads a 2-D block.
    pub instruction: String,
    /// Number of instructions that each warp issues.
    pub accesses: u64,
    /// Global-memory transactions of all warps, each of `global.transaction_bytes`, for the tile at the origin of the
    /// matrix.
    pub transactions: u64,
    source: BlockLoadSource,
    element_bits: u32,
    block: BlockLoadOperand,
    operands: Vec<InstructionOperand>,
    /// For each bit of the element index within the instruction's result of one lane, the register-index bit (as a
    /// mask) of the layout that has the same element.
    block_registers: Vec<u64>,
    begins: BlockOrigins,
}

impl Block2dLoadPlan {
    /// Plans the loads of a tile in `layout`, which maps registers, lanes and warps to two axes. Takes the instruction
    /// that is issued least often, then the one with the fewest transactions, then with the fewest cycles, then the
    /// first of the table. `None` if no instruction loads tiles of this layout.
    #[must_use]
    pub fn new(
        layout: &LinearLayout,
        source: &BlockLoadSource,
        element_bits: u32,
        context: PlanContext<'_>,
    ) -> Option<Self> {
        let sector_bytes = u64::from(context.target.global.transaction_bytes.max(1));
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::GlobalMove);
        let candidates =
            rows.filter_map(|row| Some((Self::by(row, layout, *source, element_bits, sector_bytes)?, row.cycles)));
        let best = candidates.min_by(|(a, of_a), (b, of_b)| {
            let by_counts = (a.accesses, a.transactions).cmp(&(b.accesses, b.transactions));
            // Instructions that load the same blocks differ in their cycles only; an instruction of unknown cycles
            // ranks last.
            let cycles = |of: &Option<f64>| of.unwrap_or(f64::INFINITY);
            by_counts.then(cycles(of_a).total_cmp(&cycles(of_b)))
        });
        best.map(|(load, _)| load)
    }

    fn by(
        row: &Instruction,
        layout: &LinearLayout,
        source: BlockLoadSource,
        element_bits: u32,
        sector_bytes: u64,
    ) -> Option<Self> {
        let block = row.block_operand().cloned()?;
        let (_, _, result) = row.find_register_operand("d")?;
        block.check(source.stats(element_bits)).ok()?;
        let within = block.element_bits.checked_div(element_bits).filter(|within| within.is_power_of_two())?;
        let block_registers = own_registers(result, layout, u64::from(within), source.minor)?;
        let along = u64::from(block.columns) * u64::from(within);
        let size = source.along_axes([u64::from(block.rows), along]);
        let begins = BlockOrigins::new(
            &coordinate_columns(layout, Dim::REGISTER),
            &coordinate_columns(layout, Dim::WARP),
            &block_registers,
            size,
        )?;
        let block_registers = block_registers.into_iter().map(|register| 1 << register).collect();
        let (accesses, operands) = (begins.each_register().len() as u64, row.operands.clone());
        let instruction = row.name.clone();
        let mut loads = Self {
            instruction,
            accesses,
            transactions: 0,
            source,
            element_bits,
            block,
            operands,
            block_registers,
            begins,
        };
        loads.transactions = loads.sectors(sector_bytes);
        Some(loads)
    }

    /// Counts the global-memory transactions, each of `sector_bytes` bytes, of all issues of all warps for the tile at
    /// the origin of the matrix; a transaction is not shared between issues.
    fn sectors(&self, sector_bytes: u64) -> u64 {
        let pitch = self.source.stats(self.element_bits).pitch;
        let of_block = |begin: [u64; 2]| -> u64 {
            let (minor, major) = (begin[self.source.minor], begin[1 - self.source.minor]);
            let rows = (0..u64::from(self.block.rows)).map(|row| {
                let first = (major + row) * pitch + minor * u64::from(self.element_bits) / 8;
                (first / sector_bytes, (first + self.block.row_bytes()).div_ceil(sector_bytes))
            });
            // The rows of a block follow each other in memory, so a row shares at most one transaction with the row
            // before it.
            let mut last = 0;
            let touched = rows.map(|(first, end)| {
                let count = end.saturating_sub(first.max(last));
                last = last.max(end);
                count
            });
            touched.sum()
        };
        self.begins.all().map(of_block).sum()
    }

    /// Emits the loads of the tile with origin `begin` (dim0, dim1; uniform over the lanes) of the matrix at `base`.
    /// Returns one integer for each register of the layout.
    pub fn emit(&self, builder: &mut Builder, base: Value, begin: [Value; 2]) -> Vec<Value> {
        let element = Element::integer_of_width(self.element_bits).unwrap_or(Element::I32);
        let count = 1u32 << self.block_registers.len();
        let warp = self.begins.of_warp(builder);
        let mut values: Vec<Option<Value>> = vec![None; self.begins.registers()];
        for (registers, coordinates) in self.begins.each_register() {
            let mut at = begin;
            for (axis, at) in at.iter_mut().enumerate() {
                let offset = match warp[axis] {
                    Some(warp) => builder.binary_const(Binary::Xor, warp, coordinates[axis] as u32),
                    None => builder.i32(coordinates[axis] as u32),
                };
                *at = builder.binary(Binary::Add, *at, offset);
            }
            let (ty, op) = self.issue(builder, base, at);
            let all = builder.value(ty, op);
            let all = builder.cast(Cast::Bits, all, Type::vector_or_scalar(element, count));
            for index in 0..count {
                let block_register = tilewright_layout::f2::multiply_vector(&self.block_registers, u64::from(index));
                let value = if count == 1 { all } else { builder.extract(all, index) };
                for &register in &registers {
                    values[(register ^ block_register) as usize] = Some(value);
                }
            }
        }
        let zero = builder.constant(Type::Scalar(element), 0);
        debug_assert!(values.iter().all(Option::is_some), "blocks cover all registers");
        values.into_iter().map(|value| value.unwrap_or(zero)).collect()
    }

    fn issue(&self, builder: &mut Builder, base: Value, begin: [Value; 2]) -> (Type, Op) {
        let within = self.block.element_bits / self.element_bits;
        let column = builder.binary_const(Binary::ShrS, begin[self.source.minor], within.trailing_zeros());
        let (stats, mut begin) =
            (self.source.stats(self.element_bits), [column, begin[1 - self.source.minor]].into_iter());
        let mut operands = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            operands.push(match operand {
                InstructionOperand::Register { .. } => continue,
                InstructionOperand::Matrix(BlockLoadMatrixParameter::RowBytes) => builder.i32(stats.row_bytes as u32),
                InstructionOperand::Matrix(BlockLoadMatrixParameter::Rows) => builder.i32(stats.rows as u32),
                InstructionOperand::Matrix(BlockLoadMatrixParameter::Pitch) => builder.i32(stats.pitch as u32),
                InstructionOperand::Coordinate => begin.next().unwrap_or(column),
                _ => base,
            });
        }
        let words = Element::integer_of_width(self.block.element_bits).unwrap_or(Element::I32);
        let count = (1u32 << self.block_registers.len()) / within;
        (Type::vector_or_scalar(words, count), Op::Instruction { name: self.instruction.clone(), operands })
    }
}

/// Returns, for each bit of an input dim, the coordinates (dim0, dim1) that it adds.
fn coordinate_columns(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |&column: &u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(at).collect()
}

/// Returns the register bits of the layout `layout` that together form the instruction's result, in the order of the
/// result's register bits. Each element of the instruction is `within` elements of the layout along the axis `minor`.
/// `None` if the lanes differ, or the layout lacks a register bit.
fn own_registers(result: &LinearLayout, layout: &LinearLayout, within: u64, minor: usize) -> Option<Vec<usize>> {
    let in_axis_order = |[down, along]: [u64; 2]| if minor == 1 { [down, along] } else { [along, down] };
    let of_result = |dim| {
        coordinate_columns(result, dim).into_iter().map(move |[down, along]| in_axis_order([down, along * within]))
    };
    if !of_result(Dim::LANE).eq(coordinate_columns(layout, Dim::LANE)) {
        return None;
    }
    let registers = coordinate_columns(layout, Dim::REGISTER);
    let neighbours = (0..within.trailing_zeros()).map(|bit| in_axis_order([0, 1 << bit]));
    let required = neighbours.chain(of_result(Dim::REGISTER));
    required.map(|required| registers.iter().position(|register| *register == required)).collect()
}

impl BlockLoadSource {
    /// Converts a pair (index of a row, position within the row) to coordinates (dim0, dim1).
    fn along_axes(&self, [down, along]: [u64; 2]) -> [u64; 2] {
        if self.minor == 1 { [down, along] } else { [along, down] }
    }

    fn stats(&self, element_bits: u32) -> BlockLoadSourceMatrix {
        let bytes = |elements: u64| elements.saturating_mul(u64::from(element_bits / 8));
        let (columns, rows) = (self.shape[self.minor], self.shape[1 - self.minor]);
        BlockLoadSourceMatrix { address: self.alignment, row_bytes: bytes(columns), rows, pitch: bytes(self.pitch) }
    }
}

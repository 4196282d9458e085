//! Loads of a tile of a matrix in global memory by instructions that name blocks of it, straight into a layout.
//!
//! A row fits where the layout is, lane by lane, that of its result, and so many of the layout's registers too (left
//! division of the layout by the result's): all other registers, and the warps, are whole blocks apart. Where an
//! instruction's elements are wider than the matrix', each is as many neighbours along a row.

use super::PlanContext;
use super::block_begins::Begins;
use tilewright_kernel::{Binary, Builder, Cast, Element, Op, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{BlockMatrix, BlockOperand, Instruction, InstructionKind, MatrixFigure, Operand};

/// A matrix in global memory, of which tiles are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSource {
    /// Sizes along dim0 and dim1.
    pub shape: [u64; 2],
    /// The axis along which neighbours follow each other in memory.
    pub minor: usize,
    /// Elements between the begins of two rows, which are along the other axis.
    pub pitch: u64,
    /// What the address of the matrix is a multiple of, in bytes.
    pub alignment: u64,
}

/// How a tile is loaded by blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockLoads {
    /// The row of the instruction table.
    pub instruction: String,
    /// Issues of each warp.
    pub accesses: u64,
    /// Units of `global.transaction_bytes` of all issues of all warps, of a tile at the begin of the matrix.
    pub transactions: u64,
    source: BlockSource,
    element_bits: u32,
    block: BlockOperand,
    operands: Vec<Operand>,
    /// For each bit of a register's number in the instruction's result, in the matrix' elements, the register.
    own: Vec<u64>,
    begins: Begins,
}

impl BlockLoads {
    /// The loads of fewest issues, among equals of fewest transactions, then of the row with fewest cycles, where the table
    /// says them, then the first in the table; `None` where no row loads tiles of this layout of registers, lanes and warps
    /// with two axes.
    #[must_use]
    pub fn new(
        layout: &LinearLayout,
        source: &BlockSource,
        element_bits: u32,
        context: PlanContext<'_>,
    ) -> Option<Self> {
        let unit = u64::from(context.target.global.transaction_bytes.max(1));
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::GlobalMove);
        let ways = rows.filter_map(|row| Some((Self::by(row, layout, *source, element_bits, unit)?, row.cycles)));
        let best = ways.min_by(|(a, of_a), (b, of_b)| {
            let by_counts = (a.accesses, a.transactions).cmp(&(b.accesses, b.transactions));
            // Rows that load the same map differ by this alone; what the table does not say is no less than what it does.
            let cycles = |of: &Option<f64>| of.unwrap_or(f64::INFINITY);
            by_counts.then(cycles(of_a).total_cmp(&cycles(of_b)))
        });
        best.map(|(way, _)| way)
    }

    fn by(row: &Instruction, layout: &LinearLayout, source: BlockSource, element_bits: u32, unit: u64) -> Option<Self> {
        let block = row.operands.iter().find_map(|operand| match operand {
            Operand::Block(block) => Some(block.clone()),
            _ => None,
        })?;
        let result = row.operands.iter().find_map(|operand| match operand {
            Operand::Register { role, layout, .. } if role == "d" => Some(layout),
            _ => None,
        })?;
        block.check(source.stats(element_bits)).ok()?;
        let within = block.element_bits.checked_div(element_bits).filter(|within| within.is_power_of_two())?;
        let own = own_registers(result, layout, u64::from(within), source.minor)?;
        let along = u64::from(block.columns) * u64::from(within);
        let size = source.along_axes([u64::from(block.rows), along]);
        let begins = Begins::new(&places(layout, Dim::REGISTER), &places(layout, Dim::WARP), &own, size)?;
        let own = own.into_iter().map(|register| 1 << register).collect();
        let (accesses, operands) = (begins.each_register().len() as u64, row.operands.clone());
        let instruction = row.name.clone();
        let mut loads =
            Self { instruction, accesses, transactions: 0, source, element_bits, block, operands, own, begins };
        loads.transactions = loads.units(unit);
        Some(loads)
    }

    /// Units that all issues of all warps touch, each issue by itself.
    fn units(&self, unit: u64) -> u64 {
        let pitch = self.source.stats(self.element_bits).pitch;
        let of_block = |begin: [u64; 2]| -> u64 {
            let (minor, major) = (begin[self.source.minor], begin[1 - self.source.minor]);
            let rows = (0..u64::from(self.block.rows)).map(|row| {
                let first = (major + row) * pitch + minor * u64::from(self.element_bits) / 8;
                (first / unit, (first + self.block.row_bytes()).div_ceil(unit))
            });
            // Rows follow each other, so two share at most the unit between them.
            let mut last = 0;
            let own = rows.map(|(first, end)| {
                let count = end.saturating_sub(first.max(last));
                last = last.max(end);
                count
            });
            own.sum()
        };
        self.begins.all().map(of_block).sum()
    }

    /// Writes the loads of the tile that begins at a row and a column (dim0, dim1), both the same in all lanes, of the
    /// matrix at `base`: one integer for each register of the layout.
    pub fn emit(&self, builder: &mut Builder, base: Value, begin: [Value; 2]) -> Vec<Value> {
        let element = Element::integer(self.element_bits).unwrap_or(Element::I32);
        let count = 1u32 << self.own.len();
        let warp = self.begins.of_warp(builder);
        let mut values: Vec<Option<Value>> = vec![None; self.begins.registers()];
        for (registers, place) in self.begins.each_register() {
            let mut at = begin;
            for (axis, at) in at.iter_mut().enumerate() {
                let own = match warp[axis] {
                    Some(warp) => builder.binary_const(Binary::Xor, warp, place[axis] as u32),
                    None => builder.i32(place[axis] as u32),
                };
                *at = builder.binary(Binary::Add, *at, own);
            }
            let (ty, op) = self.issue(builder, base, at);
            let all = builder.value(ty, op);
            let all = builder.cast(Cast::Bits, all, Type::of(element, count));
            for number in 0..count {
                let own = tilewright_layout::f2::multiply(&self.own, u64::from(number));
                let value = if count == 1 { all } else { builder.extract(all, number) };
                for &register in &registers {
                    values[(register ^ own) as usize] = Some(value);
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
                Operand::Register { .. } => continue,
                Operand::Matrix(MatrixFigure::RowBytes) => builder.i32(stats.row_bytes as u32),
                Operand::Matrix(MatrixFigure::Rows) => builder.i32(stats.rows as u32),
                Operand::Matrix(MatrixFigure::Pitch) => builder.i32(stats.pitch as u32),
                Operand::Coordinate => begin.next().unwrap_or(column),
                _ => base,
            });
        }
        let words = Element::integer(self.block.element_bits).unwrap_or(Element::I32);
        let count = (1u32 << self.own.len()) / within;
        (Type::of(words, count), Op::Instruction { name: self.instruction.clone(), operands })
    }
}

/// Where the columns of a dim lie, along dim0 and dim1.
fn places(layout: &LinearLayout, dim: Dim) -> Vec<[u64; 2]> {
    let at = |&column: &u64| [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
    layout.columns_of(dim).iter().map(at).collect()
}

/// The registers of a layout that an instruction's result is, in its order, each of its elements being `within` of the
/// layout's along the axis `minor`; `None` where lanes or registers lie elsewhere.
fn own_registers(result: &LinearLayout, layout: &LinearLayout, within: u64, minor: usize) -> Option<Vec<usize>> {
    let turned = |[down, along]: [u64; 2]| if minor == 1 { [down, along] } else { [along, down] };
    let of_result = |dim| places(result, dim).into_iter().map(move |[down, along]| turned([down, along * within]));
    if !of_result(Dim::LANE).eq(places(layout, Dim::LANE)) {
        return None;
    }
    let registers = places(layout, Dim::REGISTER);
    let neighbours = (0..within.trailing_zeros()).map(|bit| turned([0, 1 << bit]));
    let required = neighbours.chain(of_result(Dim::REGISTER));
    required.map(|required| registers.iter().position(|register| *register == required)).collect()
}

impl BlockSource {
    /// Sizes down and along rows, as dim0 and dim1 have them.
    fn along_axes(&self, [down, along]: [u64; 2]) -> [u64; 2] {
        if self.minor == 1 { [down, along] } else { [along, down] }
    }

    fn stats(&self, element_bits: u32) -> BlockMatrix {
        let bytes = |elements: u64| elements.saturating_mul(u64::from(element_bits / 8));
        let (columns, rows) = (self.shape[self.minor], self.shape[1 - self.minor]);
        BlockMatrix { address: self.alignment, row_bytes: bytes(columns), rows, pitch: bytes(self.pitch) }
    }
}

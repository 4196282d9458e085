//! Tiles of a matrix in global memory, prefetched: brought nearer by instructions that name blocks of it.
//!
//! A tile is shared out among the warps block by block. Nothing waits for it, so a kernel prefetches what it will load
//! some tiles later.

use super::tile::only_where;
use super::{MovementError, PlanContext, Rejected, best_of};
use tilewright_kernel::{Binary, Builder, Compare, Counts, Op, SpecialRegister, Value};
use tilewright_target::{BlockMatrix, BlockOperand, Instruction, InstructionKind, MatrixFigure, Operand};

/// Which tiles of which matrix. Sizes of tiles and warps are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefetchSpec {
    /// Rows and columns of a tile.
    pub tile: [u64; 2],
    /// Rows and columns of the matrix.
    pub matrix: [u64; 2],
    /// Elements between the begins of two rows.
    pub pitch: u64,
    /// Bits of an element: of whole bytes.
    pub element_bits: u32,
    /// What the address of the matrix is a multiple of, in bytes.
    pub alignment: u64,
    /// Warps of the block.
    pub warps: u64,
}

/// How a tile is prefetched.
#[derive(Debug, Clone, PartialEq)]
pub struct Prefetch {
    /// The row of the instruction table.
    pub instruction: String,
    /// Rows and columns of a block, in elements of the question.
    pub block: [u64; 2],
    /// Blocks of a tile along rows and columns.
    pub blocks: [u64; 2],
    /// What a warp does for a tile, at most.
    pub counts: Counts,
    /// The other rows that are closed, each with the reason.
    pub rejected: Vec<Rejected<String>>,
    problem: PrefetchSpec,
    operands: Vec<Operand>,
    /// Columns of the instruction for each of the question.
    scale: u32,
}

/// The way of fewest issues of a warp; among equals that which brings the least beyond the tile, then that whose elements
/// are the widest, then the first in the table.
///
/// # Errors
/// [`MovementError::Impossible`] where no row prefetches tiles of this matrix, [`MovementError::Memory`] for sizes that
/// no tile has.
pub fn prefetch<'a>(problem: &PrefetchSpec, context: impl Into<PlanContext<'a>>) -> Result<Prefetch, MovementError> {
    let context = context.into();
    let sizes = problem.tile.into_iter().chain([problem.warps, problem.element_bits.into()]);
    if let Some(size) = sizes.into_iter().find(|size| !size.is_power_of_two()) {
        return Err(MovementError::memory(format!("{size} is no size of a tile: expected a power of two")));
    }
    let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::Prefetch);
    let (best, rejected) = best_of(rows.map(|row| (row.name.clone(), Prefetch::by(row, problem))), Prefetch::score);
    let reasons = match best {
        Some(best) => return Ok(Prefetch { rejected, ..best }),
        None if rejected.is_empty() => "the target's table has no row that prefetches".to_owned(),
        None => Rejected::summary(&rejected),
    };
    Err(MovementError::impossible(reasons))
}

impl Prefetch {
    fn by(row: &Instruction, problem: &PrefetchSpec) -> Result<Self, String> {
        let block = row.operands.iter().find_map(|operand| match operand {
            Operand::Block(block) => Some(block),
            _ => None,
        });
        let block: &BlockOperand = block.ok_or("it names no block of a matrix")?;
        if !problem.element_bits.is_multiple_of(block.element_bits) {
            return Err(format!("its elements of {} bits are no part of the matrix'", block.element_bits));
        }
        block.check(problem.stats())?;
        let scale = problem.element_bits / block.element_bits;
        let size = [u64::from(block.rows), u64::from(block.columns / scale)];
        if size.iter().any(|size| !size.is_power_of_two()) {
            return Err("its block is no tile of whole elements".to_owned());
        }
        let blocks = [0, 1].map(|axis| problem.tile[axis].div_ceil(size[axis]));
        let prefetches = (blocks[0] * blocks[1]).div_ceil(problem.warps);
        Ok(Self {
            instruction: row.name.clone(),
            block: size,
            blocks,
            counts: Counts { prefetches, ..Counts::default() },
            rejected: Vec::new(),
            problem: *problem,
            operands: row.operands.clone(),
            scale,
        })
    }

    fn score(&self) -> (u64, u64, u32) {
        let brought = self.blocks.iter().chain(&self.block).product::<u64>();
        (self.counts.prefetches, brought - self.problem.tile.iter().product::<u64>(), self.scale)
    }

    /// The matrix and its tiles.
    #[must_use]
    pub fn problem(&self) -> PrefetchSpec {
        self.problem
    }

    /// Writes the prefetch of the tile that begins at a column and a row, both the same in all lanes, of the matrix at
    /// `base`. What of it is outside of the matrix is left out.
    pub fn emit(&self, builder: &mut Builder, base: Value, [column, row]: [Value; 2]) {
        let all = self.blocks[0] * self.blocks[1];
        let warps = self.problem.warps.min(all);
        let warp = builder.special(SpecialRegister::Warp);
        let mut issues = Vec::new();
        for turn in 0..self.counts.prefetches {
            let index = builder.binary_const(Binary::Add, warp, (turn * warps) as u32);
            let across = builder.binary_const(Binary::And, index, (self.blocks[1] - 1) as u32);
            let down = builder.binary_const(Binary::ShrU, index, self.blocks[1].trailing_zeros());
            let begin = [(column, across, self.block[1]), (row, down, self.block[0])].map(|(begin, block, size)| {
                let own = builder.binary_const(Binary::Mul, block, size as u32);
                builder.binary(Binary::Add, begin, own)
            });
            issues.push(self.issue(builder, base, begin));
        }
        if warps == self.problem.warps {
            return issues.into_iter().for_each(|issue| builder.effect(issue));
        }
        let warps = builder.i32(warps as u32);
        let active = builder.compare(Compare::LtU, warp, warps);
        only_where(builder, active, issues);
    }

    fn issue(&self, builder: &mut Builder, base: Value, [column, row]: [Value; 2]) -> Op {
        let column = builder.binary_const(Binary::Mul, column, self.scale);
        let (stats, mut begin) = (self.problem.stats(), [column, row].into_iter());
        let mut operands = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            operands.push(match operand {
                Operand::Matrix(MatrixFigure::RowBytes) => builder.i32(stats.row_bytes as u32),
                Operand::Matrix(MatrixFigure::Rows) => builder.i32(stats.rows as u32),
                Operand::Matrix(MatrixFigure::Pitch) => builder.i32(stats.pitch as u32),
                Operand::Coordinate => begin.next().unwrap_or(row),
                _ => base,
            });
        }
        Op::Instruction { name: self.instruction.clone(), operands }
    }
}

impl PrefetchSpec {
    fn stats(&self) -> BlockMatrix {
        let bytes = |elements: u64| elements.saturating_mul(u64::from(self.element_bits / 8));
        let [rows, columns] = self.matrix;
        BlockMatrix { address: self.alignment, row_bytes: bytes(columns), rows, pitch: bytes(self.pitch) }
    }
}

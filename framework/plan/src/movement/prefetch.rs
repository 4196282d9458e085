//! Prefetches of tiles of a matrix in global memory, by instructions that address 2-D blocks (bulk prefetch to L2).
//!
//! The blocks of a tile are divided among the warps. Nothing waits for a prefetch, so a kernel issues it several tiles
//! before the load.

use super::tile::emit_warp_branch;
use super::{MovementError, PlanContext, RejectedCandidate, best_of};
use tilewright_kernel::{Binary, Builder, Compare, Counts, Op, SpecialRegister, Value};
use tilewright_target::{
    BlockLoadMatrixParameter, BlockLoadSourceMatrix, Instruction, InstructionKind, InstructionOperand,
};

/// A request to prefetch tiles of a matrix: [`PrefetchSpec::new`] with default values, and `with_` methods that change
/// them. Sizes of tiles and warps are powers of two.
///
/// # Examples
/// ```
/// use tilewright_plan::movement::PrefetchSpec;
///
/// let request = PrefetchSpec::new([16, 32], [1024, 512], 16).with_alignment(64).with_warps(4);
/// assert_eq!((request.pitch, request.alignment, request.warps), (512, 64, 4));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefetchSpec {
    /// Rows and columns of a tile, in elements.
    pub tile: [u64; 2],
    /// Rows and columns of the matrix, in elements.
    pub matrix: [u64; 2],
    /// Distance from one row to the next, in elements.
    pub pitch: u64,
    /// Bits of an element: a multiple of eight.
    pub element_bits: u32,
    /// Alignment of the matrix, in bytes.
    pub alignment: u64,
    /// Number of warps of the block.
    pub warps: u64,
}

/// The plan by which a block prefetches one tile of a matrix from global memory into a cache.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefetchPlan {
    /// Name of the prefetch instruction.
    pub instruction: String,
    /// Rows and columns of the block that one instruction prefetches, in elements of the matrix.
    pub block: [u64; 2],
    /// Numbers of blocks that cover a tile: down the rows and across the columns.
    pub blocks: [u64; 2],
    /// Numbers of operations that a warp executes to prefetch one tile; the max over the warps.
    pub counts: Counts,
    /// Rejected instructions, each with the reason.
    pub rejected: Vec<RejectedCandidate<String>>,
    problem: PrefetchSpec,
    operands: Vec<InstructionOperand>,
    /// Number of the instruction's elements that make up one element of the matrix.
    scale: u32,
}

/// Plans the prefetch of a tile by the instruction that a warp issues least often. Ties are decided by the fewest bytes
/// beyond the tile, then by the widest elements of the instruction, then by the order of the table.
///
/// # Errors
/// [`MovementError::Impossible`] if no instruction prefetches tiles of this matrix; [`MovementError::Memory`] if a size
/// is not a power of two.
pub fn plan_prefetch<'a>(
    problem: &PrefetchSpec,
    context: impl Into<PlanContext<'a>>,
) -> Result<PrefetchPlan, MovementError> {
    let context = context.into();
    let sizes = problem.tile.into_iter().chain([problem.warps, problem.element_bits.into()]);
    if let Some(size) = sizes.into_iter().find(|size| !size.is_power_of_two()) {
        return Err(MovementError::memory(format!("{size} is not a size of a tile: expected a power of two")));
    }
    let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::Prefetch);
    let (best, rejected) =
        best_of(rows.map(|row| (row.name.clone(), PrefetchPlan::by_instruction(row, problem))), PrefetchPlan::score);
    let reasons = match best {
        Some(best) => return Ok(PrefetchPlan { rejected, ..best }),
        None if rejected.is_empty() => "the target has no prefetch instruction".to_owned(),
        None => RejectedCandidate::summarize_reasons(&rejected),
    };
    Err(MovementError::impossible(reasons))
}

impl PrefetchPlan {
    fn by_instruction(row: &Instruction, problem: &PrefetchSpec) -> Result<Self, String> {
        let block = row.block_operand().ok_or("it names no block of a matrix")?;
        if !problem.element_bits.is_multiple_of(block.element_bits) {
            return Err(format!(
                "the matrix has elements of {} bits: expected a multiple of its {}",
                problem.element_bits, block.element_bits
            ));
        }
        block.check(problem.stats()).map_err(|error| error.to_string())?;
        let scale = problem.element_bits / block.element_bits;
        let size = [u64::from(block.rows), u64::from(block.columns / scale)];
        if size.iter().any(|size| !size.is_power_of_two()) {
            return Err("its block is not a tile of whole elements".to_owned());
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

    /// Returns the request for which this plan was made.
    #[must_use]
    pub fn to_spec(&self) -> PrefetchSpec {
        self.problem
    }

    /// Emits the prefetch of the tile with origin `[column, row]` (uniform over the lanes) of the matrix at `base`. The
    /// instruction ignores elements outside of the matrix.
    pub fn emit(&self, builder: &mut Builder, base: Value, [column, row]: [Value; 2]) {
        let all = self.blocks[0] * self.blocks[1];
        let warps = self.problem.warps.min(all);
        let warp = builder.special(SpecialRegister::Warp);
        let mut issues = Vec::new();
        for round in 0..self.counts.prefetches {
            let index = builder.binary_const(Binary::Add, warp, (round * warps) as u32);
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
        emit_warp_branch(builder, active, issues);
    }

    fn issue(&self, builder: &mut Builder, base: Value, [column, row]: [Value; 2]) -> Op {
        let column = builder.binary_const(Binary::Mul, column, self.scale);
        let (stats, mut begin) = (self.problem.stats(), [column, row].into_iter());
        let mut operands = Vec::with_capacity(self.operands.len());
        for operand in &self.operands {
            operands.push(match operand {
                InstructionOperand::Matrix(BlockLoadMatrixParameter::RowBytes) => builder.i32(stats.row_bytes as u32),
                InstructionOperand::Matrix(BlockLoadMatrixParameter::Rows) => builder.i32(stats.rows as u32),
                InstructionOperand::Matrix(BlockLoadMatrixParameter::Pitch) => builder.i32(stats.pitch as u32),
                InstructionOperand::Coordinate => begin.next().unwrap_or(row),
                _ => base,
            });
        }
        Op::Instruction { name: self.instruction.clone(), operands }
    }
}

impl PrefetchSpec {
    /// Creates a request for a block of one warp. The rows of the matrix follow each other without a gap, and its
    /// address is aligned to its elements. `tile` and `matrix` are numbers of rows and columns.
    #[must_use]
    pub fn new(tile: [u64; 2], matrix: [u64; 2], element_bits: u32) -> Self {
        let alignment = u64::from(element_bits.div_ceil(8));
        Self { tile, matrix, pitch: matrix[1], element_bits, alignment, warps: 1 }
    }

    /// Sets the distance from one row to the next, in elements.
    #[must_use]
    pub fn with_pitch(self, pitch: u64) -> Self {
        Self { pitch, ..self }
    }

    /// Sets the alignment of the matrix's address, in bytes.
    #[must_use]
    pub fn with_alignment(self, alignment: u64) -> Self {
        Self { alignment, ..self }
    }

    /// Sets the number of warps of the block.
    #[must_use]
    pub fn with_warps(self, warps: u64) -> Self {
        Self { warps, ..self }
    }

    fn stats(&self) -> BlockLoadSourceMatrix {
        let bytes = |elements: u64| elements.saturating_mul(u64::from(self.element_bits / 8));
        let [rows, columns] = self.matrix;
        BlockLoadSourceMatrix { address: self.alignment, row_bytes: bytes(columns), rows, pitch: bytes(self.pitch) }
    }
}

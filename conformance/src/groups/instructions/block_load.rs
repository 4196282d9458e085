//! Checks of instructions that load a block of a matrix to registers (2-D block loads). Each case loads one block: at
//! the start of the matrix, inside of it, across its end, or across its start, along both axes.

use tilewright_kernel::{Module, is_result_operand};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{Block2dLoadPlan, BlockLoadSource, PlanContext};
use tilewright_target::{Instruction, InstructionKind, InstructionOperand};
use tilewright_verify::kernels::build_block_load_kernel;
use tilewright_verify::{BlockLoadTile, CheckFailure, TestCase, build_block_2d_load_case, check_emulated};

use super::super::artifact;
use super::super::executed::not_built;
use crate::{Context, EvidenceLevel, Verdict};

/// Whether an instruction loads a block of a matrix.
pub(super) fn is_of(row: &Instruction) -> bool {
    row.kind == InstructionKind::GlobalMove
}

/// The block that an instruction loads, and a matrix of several blocks.
struct Blocks {
    layout: LinearLayout,
    loads: Block2dLoadPlan,
    source: BlockLoadSource,
    element_bits: u32,
    size: [i32; 2],
}

impl Blocks {
    /// Returns the block that one warp loads, and a matrix that ends within its last block.
    fn of(context: &Context, row: &Instruction) -> Result<Self, CheckFailure> {
        let missing = |what: &str| CheckFailure::Row(format!("it {what}"));
        let block = row.block_operand().ok_or_else(|| missing("names no block of a matrix"))?;
        let Some(InstructionOperand::Register { layout, .. }) =
            row.operands.iter().find(|operand| is_result_operand(operand))
        else {
            return Err(missing("has no register result"));
        };
        let min_elements = u64::from(block.least_bytes) * 8 / u64::from(block.element_bits);
        let [rows, columns] = [u64::from(block.rows), u64::from(block.columns)];
        let shape = [3 * rows - rows / 2, (3 * columns - columns / 2).max(min_elements)];
        let source = BlockLoadSource {
            shape,
            minor: 1,
            pitch: 4 * columns.max(min_elements),
            alignment: block.alignment.into(),
        };
        let layout = with_a_warp(layout)?;
        let loads = Block2dLoadPlan::new(&layout, &source, block.element_bits, plan_context(context, row));
        let loads = loads.ok_or_else(|| missing("loads no block of a matrix with the required layout"))?;
        Ok(Self { layout, loads, source, element_bits: block.element_bits, size: [rows as i32, columns as i32] })
    }

    fn tile(&self, begin: [i32; 2]) -> BlockLoadTile<'_> {
        BlockLoadTile { layout: &self.layout, source: self.source, element_bits: self.element_bits, begin }
    }

    /// Returns the first row and column of four blocks: the first block, a block inside, one that crosses the matrix's
    /// end along both axes, and one that crosses its start along both axes.
    fn begins(&self) -> [[i32; 2]; 4] {
        let [rows, columns] = self.size;
        [[0, 0], [rows, columns], [2 * rows, 2 * columns], [-rows / 2, -columns / 2]]
    }
}

/// Adds warp and block dims of size one to a layout, as planners expect them.
fn with_a_warp(layout: &LinearLayout) -> Result<LinearLayout, CheckFailure> {
    let one = |dim| LinearLayout::identity(1, dim, Dim::tensor(0));
    let sum = || layout.direct_sum(&one(Dim::WARP)?)?.direct_sum(&one(Dim::BLOCK)?);
    sum().map_err(|error| CheckFailure::Row(error.to_string()))
}

/// Checks on the emulator that every element arrives in the register that the operand's layout gives; elements outside
/// of the matrix are zero.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let plan_context = plan_context(context, row);
    cases(context, row, plan_context)?.iter().try_for_each(|case| check_emulated(case, plan_context).map(drop))
}

/// Builds the kernels that check the instruction on a device, with inputs and expected outputs.
pub(super) fn test_cases(context: &Context, row: &Instruction) -> Result<Vec<TestCase>, Verdict> {
    let target = context.target();
    let plan_context = PlanContext::new(target.description()).with_instructions(target.instructions());
    cases(context, row, plan_context).map_err(not_built)
}

fn cases(context: &Context, row: &Instruction, plan_context: PlanContext<'_>) -> Result<Vec<TestCase>, CheckFailure> {
    let blocks = Blocks::of(context, row)?;
    blocks
        .begins()
        .into_iter()
        .map(|begin| build_block_2d_load_case(&blocks.tile(begin), &blocks.loads, plan_context))
        .collect()
}

/// Compiles a kernel that issues the instruction, and checks the code.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let plan_context = plan_context(context, row);
    let kernel = Blocks::of(context, row).and_then(|blocks| {
        let loads = (&blocks.layout, &blocks.loads);
        Ok(build_block_load_kernel(loads, [0, 0], blocks.element_bits, plan_context)?)
    });
    match kernel {
        Ok(kernel) => artifact::check_compilation(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(EvidenceLevel::Layout, wrong.to_string()),
    }
}

fn plan_context<'a>(context: &'a Context, row: &'a Instruction) -> PlanContext<'a> {
    PlanContext::new(context.target().description()).with_instructions(std::slice::from_ref(row))
}

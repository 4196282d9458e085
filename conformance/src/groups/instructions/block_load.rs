//! Rows that load blocks of a matrix to registers: one block each, within the matrix and at every edge of it.

use tilewright_kernel::{Module, is_result};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{BlockLoads, BlockSource, PlanContext};
use tilewright_target::{BlockOperand, Instruction, InstructionKind, Operand};
use tilewright_verify::kernels::block_load_kernel;
use tilewright_verify::{BlockTile, CheckFailure, TestCase, block_load_case, check_emulated};

use super::super::artifact;
use super::super::executed::not_built;
use crate::{Context, Level, Verdict};

/// Whether a row is one of these.
pub(super) fn is_of(row: &Instruction) -> bool {
    row.kind == InstructionKind::GlobalMove
}

/// A row's block, and a matrix of some of them.
struct Blocks {
    layout: LinearLayout,
    loads: BlockLoads,
    source: BlockSource,
    element_bits: u32,
    size: [i32; 2],
}

impl Blocks {
    /// One warp's whole block, of a matrix that ends within its last one.
    fn of(context: &Context, row: &Instruction) -> Result<Self, CheckFailure> {
        let missing = |what: &str| CheckFailure::Row(format!("it {what}"));
        let named = row.operands.iter().find_map(|operand| match operand {
            Operand::Block(block) => Some(block),
            _ => None,
        });
        let block: &BlockOperand = named.ok_or_else(|| missing("names no block of a matrix"))?;
        let Some(Operand::Register { layout, .. }) = row.operands.iter().find(|operand| is_result(operand)) else {
            return Err(missing("gives no registers"));
        };
        let least = u64::from(block.least_bytes) * 8 / u64::from(block.element_bits);
        let [rows, columns] = [u64::from(block.rows), u64::from(block.columns)];
        let shape = [3 * rows - rows / 2, (3 * columns - columns / 2).max(least)];
        let source = BlockSource { shape, minor: 1, pitch: 4 * columns.max(least), alignment: block.alignment.into() };
        let layout = with_a_warp(layout)?;
        let loads = BlockLoads::new(&layout, &source, block.element_bits, plan_context(context, row));
        let loads = loads.ok_or_else(|| missing("loads no block of a matrix that is as it wants it"))?;
        Ok(Self { layout, loads, source, element_bits: block.element_bits, size: [rows as i32, columns as i32] })
    }

    fn tile(&self, begin: [i32; 2]) -> BlockTile<'_> {
        BlockTile { layout: &self.layout, source: self.source, element_bits: self.element_bits, begin }
    }

    /// The first block, one within, and those that the matrix ends in, on all sides.
    fn begins(&self) -> [[i32; 2]; 4] {
        let [rows, columns] = self.size;
        [[0, 0], [rows, columns], [2 * rows, 2 * columns], [-rows / 2, -columns / 2]]
    }
}

/// The same with dims for one warp and one block.
fn with_a_warp(layout: &LinearLayout) -> Result<LinearLayout, CheckFailure> {
    let one = |dim| LinearLayout::identity(1, dim, Dim::tensor(0));
    let sum = || layout.direct_sum(&one(Dim::WARP)?)?.direct_sum(&one(Dim::BLOCK)?);
    sum().map_err(|error| CheckFailure::Row(error.to_string()))
}

/// Every element arrives where the row says, zeros beyond the matrix.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let plan_context = plan_context(context, row);
    cases(context, row, plan_context)?.iter().try_for_each(|case| check_emulated(case, plan_context).map(drop))
}

/// The same on a device.
pub(super) fn test_cases(context: &Context, row: &Instruction) -> Result<Vec<TestCase>, Verdict> {
    let target = context.target();
    let plan_context = PlanContext::of(target.description()).with_instructions(target.instructions());
    cases(context, row, plan_context).map_err(not_built)
}

fn cases(context: &Context, row: &Instruction, plan_context: PlanContext<'_>) -> Result<Vec<TestCase>, CheckFailure> {
    let blocks = Blocks::of(context, row)?;
    blocks.begins().into_iter().map(|begin| block_load_case(&blocks.tile(begin), &blocks.loads, plan_context)).collect()
}

/// Compiles the kernel.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let plan_context = plan_context(context, row);
    let kernel = Blocks::of(context, row).and_then(|blocks| {
        let loads = (&blocks.layout, &blocks.loads);
        Ok(block_load_kernel(loads, [0, 0], blocks.element_bits, plan_context)?)
    });
    match kernel {
        Ok(kernel) => artifact::compiled(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(Level::Layout, wrong.to_string()),
    }
}

fn plan_context<'a>(context: &'a Context, row: &'a Instruction) -> PlanContext<'a> {
    PlanContext::of(context.target().description()).with_instructions(std::slice::from_ref(row))
}

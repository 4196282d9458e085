//! Rows that load blocks of a matrix to registers: one block each, within the matrix and at every edge of it.

use tilewright_kernel::{Module, is_result};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{BlockLoads, BlockSource, Means};
use tilewright_target::{BlockOperand, Instruction, InstructionKind, Operand};
use tilewright_verify::kernels::block_load_kernel;
use tilewright_verify::{BlockTile, Disproof, prove_block_loads, prove_block_loads_on};

use super::super::artifact;
use super::super::executed::on_device;
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
    fn of(context: &Context, row: &Instruction) -> Result<Self, Disproof> {
        let missing = |what: &str| Disproof::Row(format!("it {what}"));
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
        let loads = BlockLoads::new(&layout, &source, block.element_bits, means(context, row));
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
fn with_a_warp(layout: &LinearLayout) -> Result<LinearLayout, Disproof> {
    let one = |dim| LinearLayout::identity(1, dim, Dim::tensor(0));
    let sum = || layout.direct_sum(&one(Dim::WARP)?)?.direct_sum(&one(Dim::BLOCK)?);
    sum().map_err(|error| Disproof::Row(error.to_string()))
}

/// Every element arrives where the row says, zeros beyond the matrix.
pub(super) fn prove(context: &Context, row: &Instruction) -> Result<(), Disproof> {
    let blocks = Blocks::of(context, row)?;
    let means = means(context, row);
    blocks
        .begins()
        .into_iter()
        .try_for_each(|begin| prove_block_loads(&blocks.tile(begin), &blocks.loads, means).map(drop))
}

/// The same on a device.
pub(super) fn executed(context: &Context, row: &Instruction) -> Verdict {
    on_device(context, |device| {
        let blocks = Blocks::of(context, row)?;
        let mut each = blocks.begins().into_iter();
        each.try_for_each(|begin| prove_block_loads_on(device, context.target(), &blocks.tile(begin), &blocks.loads))
    })
}

/// Compiles the kernel.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let means = means(context, row);
    let kernel = Blocks::of(context, row).and_then(|blocks| {
        let loads = (&blocks.layout, &blocks.loads);
        Ok(block_load_kernel("block_load", loads, [0, 0], blocks.element_bits, means)?)
    });
    match kernel {
        Ok(kernel) => artifact::compiled(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(Level::Layout, wrong.to_string()),
    }
}

fn means<'a>(context: &'a Context, row: &'a Instruction) -> Means<'a> {
    Means::of(context.target().description()).with_instructions(std::slice::from_ref(row))
}

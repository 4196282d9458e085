//! 2-D block prefetches from global memory into caches.

use tilewright_target::{Completion, Instruction, InstructionKind, Semantics};

use super::block;

const SOURCE: &str = "OpenCL extension cl_intel_subgroup_2d_block_io: prefetches; sizes as in the tests of Intel's \
    graphics compiler for SPV_INTEL_2d_block_io; requirements of the matrix: LLVM, uArch of XeGPU (Xe2); its minimum \
    row of 32 bytes is documented as 64";

/// Shapes of prefetched blocks: bits of an element, columns of a block, number of adjacent blocks. The largest come
/// first, so that of equally good shapes the planner takes the one that needs the fewest instructions.
const SIZES: [[u32; 3]; 7] = [[8, 32, 2], [8, 32, 1], [16, 16, 2], [16, 16, 1], [32, 16, 1], [32, 8, 2], [32, 8, 1]];

/// Possible numbers of rows of a block.
const ROWS: [u32; 6] = [32, 16, 8, 4, 2, 1];

/// Returns the 2-D block prefetches of an architecture; none if it has no 2-D block instructions.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !block::are_known(architecture) {
        return Vec::new();
    }
    SIZES.iter().flat_map(|&size| ROWS.map(|rows| row(rows, size))).collect()
}

fn row(rows: u32, [element_bits, columns, count]: [u32; 3]) -> Instruction {
    Instruction {
        name: format!("intel_sub_group_2d_block_prefetch_{element_bits}b_{rows}r{columns}x{count}c"),
        kind: InstructionKind::Prefetch,
        operands: block::operands(element_bits, rows, columns * count),
        cycles: None,
        semantics: Semantics::Prefetch,
        completion: Completion::Immediate,
        numerics: None,
        source: SOURCE.to_owned(),
    }
}

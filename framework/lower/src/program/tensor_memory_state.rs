//! The state of a kernel's tensor memory (PTX `tcgen05`) while its program is lowered.

use std::cell::OnceCell;
use std::collections::HashSet;

use tilewright_kernel::Value;
use tilewright_plan::mma::MmaPlan;
use tilewright_plan::movement::TensorMemoryAllocation;
use tilewright_tile::Op;

use super::pending::OpPositions;

/// The tensor memory of a kernel while its program is lowered.
#[derive(Default)]
pub(super) struct TensorMemory {
    /// The dots that accumulate in tensor memory, each with its plan.
    pub dots: Vec<(Op, MmaPlan)>,
    /// The dots whose groups of MMAs (MMAs that are committed together) are numbered over the whole program, and arrive
    /// at the kernel's mbarriers.
    pub numbered: HashSet<Op>,
    /// The allocation; `None` if no dot accumulates in tensor memory.
    pub allocation: Option<TensorMemoryAllocation>,
    /// The first of the columns that are shared by all dots without columns of their own.
    pub shared_column: u32,
    /// The numbers of the program's first and next groups of MMAs; `None` without an allocation.
    pub groups: Option<[Value; 2]>,
    /// The positions of the program's operations, computed when first needed.
    pub positions: OnceCell<OpPositions>,
}

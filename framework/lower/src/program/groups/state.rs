//! The warp groups of a program while a function is lowered. A warp group is the warps of one partition.

use super::registers::PartitionRegisters;
use std::collections::HashMap;
use tilewright_kernel::{Type, Value};
use tilewright_tile::{self as tile, Op};

/// The warp groups (the warps of each partition) of a program with warp specialization.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The `ttg.warp_specialize` operations of the program.
    pub(super) ops: Vec<Op>,
    /// For each of these operations, the warp group that executes each of its partitions other than the default one.
    pub(super) partitions: Vec<Vec<usize>>,
    /// Number of warps of the default partition, which executes the whole program, then of each other partition.
    pub warps: Vec<u32>,
    /// Number of idle warps behind those of the partitions, which complete a warp group that changes its registers.
    pub(super) idle: u32,
    /// The registers that the lanes of each partition have; `None` if all keep those of the launch.
    pub(super) registers: Option<PartitionRegisters>,
    /// For each warp group but the last, the `i1` of the kernel that is true if the current warp belongs to this group
    /// or to an earlier one.
    pub(super) conditions: Vec<Value>,
    /// The index of the current warp in the block.
    pub(super) warp: Value,
    /// For each group, the index of its first warp in the block.
    pub(super) firsts: Vec<Value>,
    /// Values that are passed through shared memory, each with the number of its buffer and its type.
    pub(super) passed: HashMap<tile::Value, (u32, Type)>,
}

impl Default for Groups {
    fn default() -> Self {
        let (ops, partitions, warps, passed) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        let (conditions, firsts) = (Vec::new(), Vec::new());
        let (idle, registers) = (0, None);
        Self { ops, partitions, warps, idle, registers, conditions, warp: Value(0), firsts, passed }
    }
}

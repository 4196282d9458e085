//! Partitions of warps that run regions of their own, while a function is lowered.

use std::collections::HashMap;
use tilewright_kernel::{Type, Value};
use tilewright_tile::{self as tile, Op};

/// The groups of a program.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Where they do different things.
    pub(super) ops: Vec<Op>,
    /// Warps of those that do all of the program, then of each further group.
    pub warps: Vec<u32>,
    /// By group but the last, an `i1`: whether the running warp is one of it; of the kernel.
    pub(super) conditions: Vec<Value>,
    /// The running warp among all.
    pub(super) warp: Value,
    /// By group, the index of its first warp.
    pub(super) firsts: Vec<Value>,
    /// What goes through shared memory: the number of its buffer, and its type.
    pub(super) passed: HashMap<tile::Value, (u32, Type)>,
}

impl Default for Groups {
    fn default() -> Self {
        let (ops, warps, passed) = (Vec::new(), Vec::new(), HashMap::new());
        Self { ops, warps, conditions: Vec::new(), warp: Value(0), firsts: Vec::new(), passed }
    }
}

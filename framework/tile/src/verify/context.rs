//! Finds the enclosing operations of each operation of a function, and the numbers of lanes, warps and blocks.

use crate::op::name::ttg;
use crate::{Attribute, Attributes, Block, Function, FunctionBody, Op, Region, TileModule};
use std::collections::HashMap;
use tilewright_layout::Families;

use super::layouts::check_type;
use super::{CheckResult, VerifyRules, ensure};

/// Attributes that only modules have.
const OF_MODULES: [&str; 3] = ["ttg.num-ctas", "ttg.threads-per-warp", "ttg.target"];

/// The attribute of modules and functions that gives the number of warps of a block.
const WARPS: &str = "ttg.num-warps";

/// The enclosing operations of a function's operations, and the numbers of lanes, warps and blocks that execute them.
pub(super) struct Context<'a> {
    /// The families that build layouts.
    pub families: &'a dyn Families,
    /// For each operation, by index, the enclosing operation and the index of its region; `None` in the function's own
    /// region.
    parents: Vec<Option<(Op, usize)>>,
    /// For each block, the enclosing operation and the index of its region; blocks of the function's own region are
    /// absent.
    block_parents: HashMap<Block, (Op, usize)>,
    /// Number of warps of a block; `None` if the program does not state it.
    pub warps: Option<u64>,
    /// For each operation, by index, the number of warps of its partition; `None` outside partitions.
    partition_warps: Vec<Option<u64>>,
    /// Number of lanes of a warp; `None` if the module does not state it.
    pub lanes: Option<u64>,
    /// Number of blocks of a cluster; 1 if the module does not state it.
    pub blocks: u64,
    /// The target that the module names, such as `cuda:90`; `None` if it names none.
    pub target: Option<String>,
    /// Whether the module states its number of warps or of blocks. If so, rules compare the number of blocks of layouts
    /// with `blocks`.
    pub is_stated: bool,
    /// Whether the function can be launched.
    pub is_entry: bool,
}

fn number(attributes: &Attributes, name: &str) -> Option<u64> {
    attributes.get(name).and_then(Attribute::as_integer).and_then(|number| u64::try_from(number).ok())
}

impl<'a> Context<'a> {
    pub fn new(module: &TileModule, function: &Function, body: &FunctionBody, families: &'a dyn Families) -> Self {
        let mut context = Self {
            families,
            parents: vec![None; body.op_count()],
            block_parents: HashMap::new(),
            warps: number(&function.attributes, WARPS).or_else(|| number(&module.attributes, WARPS)),
            partition_warps: vec![None; body.op_count()],
            lanes: number(&module.attributes, "ttg.threads-per-warp"),
            blocks: number(&module.attributes, "ttg.num-ctas").unwrap_or(1),
            target: module.attributes.get("ttg.target").and_then(Attribute::as_text).map(str::to_owned),
            is_stated: module.attributes.get("ttg.num-ctas").is_some() || module.attributes.get(WARPS).is_some(),
            is_entry: module.entry_functions().any(|entry| entry.name == function.name),
        };
        context.enter(body, body.root(), None, None);
        context
    }

    fn enter(&mut self, body: &FunctionBody, root: Region, parent: Option<(Op, usize)>, warps: Option<u64>) {
        let mut open = vec![(root, parent, warps)];
        while let Some((region, parent, warps)) = open.pop() {
            if let Some(parent) = parent {
                self.block_parents.extend(body.blocks(region).iter().map(|block| (*block, parent)));
            }
            for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
                self.parents[op.index()] = parent;
                self.partition_warps[op.index()] = warps;
                let operation = body.op(*op);
                for (number, inner) in operation.regions.iter().enumerate() {
                    let partition = partition_warps(operation, number);
                    open.push((*inner, Some((*op, number)), partition.or(warps)));
                }
            }
        }
    }

    /// The operation that encloses `op`, and the index of its region; `None` in the function's own region.
    pub fn parent(&self, op: Op) -> Option<(Op, usize)> {
        self.parents.get(op.index()).copied().flatten()
    }

    /// The operation that encloses a block, and the index of its region; `None` in the function's own region.
    pub fn parent_of_block(&self, block: Block) -> Option<(Op, usize)> {
        self.block_parents.get(&block).copied()
    }

    /// Returns the number of warps that execute `op`; `None` if the program does not state it.
    pub fn warps_of(&self, op: Op) -> Option<u64> {
        self.partition_warps.get(op.index()).copied().flatten().or(self.warps)
    }

    /// Checks that the function has no attribute of modules, and the types of its signature.
    pub fn check_function(&self, function: &Function, rules: &VerifyRules) -> CheckResult {
        let misplaced = OF_MODULES.into_iter().find(|name| function.attributes.get(name).is_some());
        ensure(misplaced.is_none(), || {
            format!("`{}` is an attribute of modules, and not of functions", misplaced.unwrap_or_default())
        })?;
        function.signature.arguments.iter().chain(&function.signature.results).try_for_each(|ty| check_type(ty, rules))
    }
}

/// The number of warps of the partition in region `number` of an operation; `None` if the region is no partition.
fn partition_warps(operation: &crate::Operation, number: usize) -> Option<u64> {
    if operation.name() != ttg::WARP_SPECIALIZE {
        return None;
    }
    match operation.attributes.get("partitionNumWarps") {
        Some(Attribute::Array(_, warps)) => warps.get(number.checked_sub(1)?).copied(),
        _ => None,
    }
}

impl super::OpContext<'_> {
    /// Checks that the operation has no attribute that belongs to modules.
    pub(super) fn attribute_places(&self) -> CheckResult {
        let misplaced =
            OF_MODULES.into_iter().chain([WARPS]).find(|name| self.operation.attributes.get(name).is_some());
        ensure(misplaced.is_none(), || {
            format!("`{}` is an attribute of modules, and not of operations", misplaced.unwrap_or_default())
        })
    }
}

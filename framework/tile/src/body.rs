//! The body of a function: operations, blocks, regions and values in one arena.
//!
//! Handles are indices into one [`FunctionBody`]; a handle of another body gives wrong answers or panics. An operation
//! that is removed from its block stays in the arena.

use std::sync::Arc;

use smallvec::SmallVec;

use super::attribute::Attributes;
use super::op::OpDefinition;
use super::op::name::tt;
use super::types::TileType;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// The index of the handle: handles are numbered from zero in the order of creation.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

handle!(
    /// Handle of a value: a result of an operation, or a block argument.
    Value
);
handle!(
    /// Handle of an operation.
    Op
);
handle!(
    /// Handle of a basic block.
    Block
);
handle!(
    /// Handle of a region: a list of blocks that belongs to an operation or to the function; the first block is the
    /// entry.
    Region
);

/// The operands or results of an operation, usually few.
pub type Values = SmallVec<[Value; 4]>;

/// An operation: its definition, operands, results, attributes and regions.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The definition of the operation, from its row in a dialect file.
    pub definition: Arc<OpDefinition>,
    /// The operands, group by group. A group has the operands of one name in the definition.
    pub operands: Values,
    /// Number of operands in each group of the definition.
    pub group_sizes: SmallVec<[u32; 4]>,
    /// The results, group by group.
    pub results: Values,
    /// Number of results in each group of the definition.
    pub result_groups: SmallVec<[u32; 2]>,
    /// The attributes, except those that equal the default of the definition.
    pub attributes: Attributes,
    /// Handles of the regions of the operation.
    pub regions: SmallVec<[Region; 1]>,
    /// The blocks that a terminator may branch to, with their block arguments.
    pub successors: SmallVec<[Successor; 1]>,
    /// Source location of the operation.
    pub location: Location,
}

/// A successor block of a terminator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successor {
    /// The block that control continues at.
    pub block: Block,
    /// The range of the terminator's operands whose values become the block arguments of this successor.
    pub operands: std::ops::Range<usize>,
}

/// A source location of an operation, function or module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// Byte offset of the operation in the parsed text; `None` if it was not parsed.
    pub at: Option<u32>,
    /// The location that the text gives, `loc("file.py":3:8)`, with aliases replaced; `None` if it gives none.
    pub written: Option<Arc<str>>,
}

/// The operation or block that defines a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The operation, and the index of the value among its results.
    Result(Op, u32),
    /// The block, and the index of the value among its arguments.
    Argument(Block, u32),
}

#[derive(Debug, Clone)]
struct ValueData {
    ty: TileType,
    origin: ValueOrigin,
    name: Option<Arc<str>>,
}

#[derive(Debug, Clone, Default)]
struct BlockData {
    arguments: Values,
    ops: Vec<Op>,
}

/// The arena of one function's operations, blocks, regions and values.
#[derive(Debug, Clone)]
pub struct FunctionBody {
    ops: Vec<Operation>,
    values: Vec<ValueData>,
    blocks: Vec<BlockData>,
    regions: Vec<Vec<Block>>,
}

impl Default for FunctionBody {
    fn default() -> Self {
        Self { ops: Vec::new(), values: Vec::new(), blocks: Vec::new(), regions: vec![Vec::new()] }
    }
}

impl FunctionBody {
    /// The region that is the body of the function.
    #[must_use]
    pub fn root(&self) -> Region {
        Region(0)
    }

    /// Creates a region without blocks.
    pub fn add_region(&mut self) -> Region {
        self.regions.push(Vec::new());
        Region(to_u32(self.regions.len() - 1))
    }

    /// Creates a block outside of any region.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block(to_u32(self.blocks.len() - 1))
    }

    /// Appends a block to a region.
    pub fn append_block(&mut self, region: Region, block: Block) {
        self.regions[region.index()].push(block);
    }

    /// Reorders the blocks of a region. `blocks` is a permutation of them that keeps the first block.
    pub(super) fn reorder_blocks(&mut self, region: Region, blocks: Vec<Block>) {
        self.regions[region.index()] = blocks;
    }

    /// Adds an argument to a block.
    pub fn add_argument(&mut self, block: Block, ty: TileType) -> Value {
        let position = to_u32(self.blocks[block.index()].arguments.len());
        let value = self.add_value(ty, ValueOrigin::Argument(block, position));
        self.blocks[block.index()].arguments.push(value);
        value
    }

    /// Creates an operation outside of any block. It gets new results of the given types in place of those in
    /// `operation`.
    pub fn add_op(&mut self, mut operation: Operation, results: impl IntoIterator<Item = TileType>) -> Op {
        let op = Op(to_u32(self.ops.len()));
        let make = |(position, ty)| self.add_value(ty, ValueOrigin::Result(op, to_u32(position)));
        operation.results = results.into_iter().enumerate().map(make).collect();
        self.ops.push(operation);
        op
    }

    /// Appends an operation to a block.
    pub fn append_op(&mut self, block: Block, op: Op) {
        self.blocks[block.index()].ops.push(op);
    }

    fn add_value(&mut self, ty: TileType, origin: ValueOrigin) -> Value {
        self.values.push(ValueData { ty, origin, name: None });
        Value(to_u32(self.values.len() - 1))
    }

    /// Returns the operation with this handle.
    #[must_use]
    pub fn op(&self, op: Op) -> &Operation {
        &self.ops[op.index()]
    }

    /// Returns a mutable reference to the operation with this handle.
    pub fn op_mut(&mut self, op: Op) -> &mut Operation {
        &mut self.ops[op.index()]
    }

    /// The blocks of a region.
    #[must_use]
    pub fn blocks(&self, region: Region) -> &[Block] {
        &self.regions[region.index()]
    }

    /// The operations of a block.
    #[must_use]
    pub fn ops(&self, block: Block) -> &[Op] {
        &self.blocks[block.index()].ops
    }

    /// Replaces the operations of a block.
    pub fn set_ops(&mut self, block: Block, ops: Vec<Op>) {
        self.blocks[block.index()].ops = ops;
    }

    /// The arguments of a block.
    #[must_use]
    pub fn arguments(&self, block: Block) -> &[Value] {
        &self.blocks[block.index()].arguments
    }

    /// The type of a value.
    #[must_use]
    pub fn value_type(&self, value: Value) -> &TileType {
        &self.values[value.index()].ty
    }

    /// Changes the type of a value.
    pub fn set_type(&mut self, value: Value, ty: TileType) {
        self.values[value.index()].ty = ty;
    }

    /// Returns the definition of a value: the operation that has it as a result, or the block that has it as an
    /// argument.
    #[must_use]
    pub fn value_origin(&self, value: Value) -> ValueOrigin {
        self.values[value.index()].origin
    }

    /// The name of a value in the text, without `%`; `None` if it has none.
    #[must_use]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.values[value.index()].name.as_deref()
    }

    /// The name of a value in messages: its name in the text, or else its index.
    #[must_use]
    pub fn display_name(&self, value: Value) -> String {
        self.value_name(value).map_or_else(|| format!("%{}", value.index()), |name| format!("%{name}"))
    }

    /// Sets the name of a value in the text; the printer appends a number if the name is taken.
    pub fn set_name(&mut self, value: Value, name: impl Into<Arc<str>>) {
        self.values[value.index()].name = Some(name.into());
    }

    /// Returns the number of values that were created in this body, unused ones included.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of uses of each value, by its index.
    pub(crate) fn count_uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.value_count()];
        for op in self.walk_region(self.root()) {
            self.op(op).operands.iter().for_each(|operand| uses[operand.index()] += 1);
        }
        uses
    }

    /// Iterates over all values that were created in this body, in order of creation.
    pub fn values(&self) -> impl Iterator<Item = Value> + use<> {
        (0..self.values.len() as u32).map(Value)
    }

    /// Returns the number of operations that were created in this body, removed ones included.
    #[must_use]
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Returns the operands of `op` in the operand group with this name; empty if the operation has no such group.
    #[must_use]
    pub fn operands(&self, op: Op, group: &str) -> &[Value] {
        let operation = self.op(op);
        operation.definition.operand_group_index(group).map_or(&[], |group| operation.operand_group(group))
    }

    /// Returns the first operand of `op` in the operand group with this name; `None` if there is none.
    #[must_use]
    pub fn operand(&self, op: Op, group: &str) -> Option<Value> {
        self.operands(op, group).first().copied()
    }

    /// Returns all operations of a region and of the regions nested in it, in pre-order.
    #[must_use]
    pub fn walk_region(&self, region: Region) -> Vec<Op> {
        let mut found = Vec::new();
        let mut open: Vec<Op> = self.ops_of(region).rev().collect();
        while let Some(op) = open.pop() {
            found.push(op);
            let inner: Vec<Op> = self.op(op).regions.iter().flat_map(|region| self.ops_of(*region)).collect();
            open.extend(inner.into_iter().rev());
        }
        found
    }

    /// Returns an operation and all operations in its regions, in pre-order.
    #[must_use]
    pub fn op_and_nested_ops(&self, op: Op) -> Vec<Op> {
        let inner = self.op(op).regions.iter().flat_map(|region| self.walk_region(*region));
        std::iter::once(op).chain(inner).collect()
    }

    /// Returns the blocks of all regions of the body.
    #[must_use]
    pub fn all_blocks(&self) -> Vec<Block> {
        let inner = self.walk_region(self.root());
        let regions = inner.iter().flat_map(|op| self.op(*op).regions.iter().copied());
        std::iter::once(self.root()).chain(regions).flat_map(|region| self.blocks(region).to_vec()).collect()
    }

    /// Returns the block that contains an operation; `None` if no block of the body does.
    #[must_use]
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.all_blocks().into_iter().find(|&block| self.ops(block).contains(&op))
    }

    fn ops_of(&self, region: Region) -> impl DoubleEndedIterator<Item = Op> {
        self.blocks(region).iter().flat_map(|block| self.ops(*block)).copied()
    }
}

impl Operation {
    /// Creates an operation without operands, results and attributes.
    #[must_use]
    pub fn new(definition: Arc<OpDefinition>) -> Self {
        Self {
            definition,
            operands: Values::new(),
            group_sizes: SmallVec::new(),
            results: Values::new(),
            result_groups: SmallVec::new(),
            attributes: Attributes::default(),
            regions: SmallVec::new(),
            successors: SmallVec::new(),
            location: Location::default(),
        }
    }

    /// Returns the operands in the operand group with this index in the definition.
    #[must_use]
    pub fn operand_group(&self, group: usize) -> &[Value] {
        group_values(&self.operands, &self.group_sizes, group)
    }

    /// Returns the results in the result group with this index in the definition.
    #[must_use]
    pub fn result_group(&self, group: usize) -> &[Value] {
        group_values(&self.results, &self.result_groups, group)
    }

    /// The name of the operation, including the dialect.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Whether the operation is a matrix multiply (`tt.dot` or `tt.dot_scaled`).
    #[must_use]
    pub fn is_dot(&self) -> bool {
        matches!(self.name(), tt::DOT | tt::DOT_SCALED)
    }

    /// Whether the operation stores to global memory through its first operand: a pointer or a descriptor.
    #[must_use]
    pub fn is_global_store(&self) -> bool {
        matches!(
            self.name(),
            tt::STORE
                | tt::ATOMIC_RMW
                | tt::ATOMIC_CAS
                | tt::ATOMIC_STORE
                | tt::DESCRIPTOR_STORE
                | tt::DESCRIPTOR_REDUCE
                | tt::DESCRIPTOR_SCATTER
        )
    }
}

fn group_values<'a>(values: &'a [Value], counts: &[u32], group: usize) -> &'a [Value] {
    let Some(&count) = counts.get(group) else { return &[] };
    let start: u32 = counts[..group].iter().sum();
    values.get(start as usize..(start + count) as usize).unwrap_or_default()
}

/// Converts an index to 32 bits, saturating; no text is long enough to define four billion operations.
fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

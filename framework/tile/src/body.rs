//! What a function does: operations, the blocks and regions that hold them, and values, all in one arena.
//!
//! Handles are numbers within one [`Body`]; whoever mixes those of two gets wrong answers or panics, which is their
//! fault. What is taken out of a block stays in the arena.

use std::sync::Arc;

use smallvec::SmallVec;

use super::attribute::Attributes;
use super::op::Definition;
use super::op::name::tt;
use super::types::TileType;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// Its number: handles are numbered from zero in the order in which they were made.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

handle!(
    /// A value: a result of an operation, or an argument of a block.
    Value
);
handle!(
    /// An operation.
    Op
);
handle!(
    /// Operations that run one after the other.
    Block
);
handle!(
    /// Blocks that belong to an operation, or to the function; the first is entered.
    Region
);

/// The values of an operation, most often few.
pub type Values = SmallVec<[Value; 4]>;

/// An operation with all that it is told.
#[derive(Debug, Clone)]
pub struct Operation {
    /// What it is.
    pub definition: Arc<Definition>,
    /// Its operands, group by group.
    pub operands: Values,
    /// How many operands each group of the definition has.
    pub groups: SmallVec<[u32; 4]>,
    /// Its results, group by group.
    pub results: Values,
    /// How many results each group of the definition has.
    pub result_groups: SmallVec<[u32; 2]>,
    /// Its attributes; those that are as the definition has them by default are not among them.
    pub attributes: Attributes,
    /// Its regions.
    pub regions: SmallVec<[Region; 1]>,
    /// The blocks that it may go to, with the values that it takes along.
    pub successors: SmallVec<[Successor; 1]>,
    /// Where it comes from.
    pub location: Location,
}

/// A block that is gone to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successor {
    /// The block.
    pub block: Block,
    /// Where the values for its arguments begin and end among the operands.
    pub operands: std::ops::Range<usize>,
}

/// Where something comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The byte of the text that it was read from.
    pub at: Option<u32>,
    /// What the text itself says: `loc("file.py":3:8)`, with what names stand for.
    pub written: Option<Arc<str>>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A result of an operation, by its number.
    Result(Op, u32),
    /// An argument of a block, by its number.
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

/// The arena of a function.
#[derive(Debug, Clone)]
pub struct Body {
    ops: Vec<Operation>,
    values: Vec<ValueData>,
    blocks: Vec<BlockData>,
    regions: Vec<Vec<Block>>,
}

impl Default for Body {
    fn default() -> Self {
        Self { ops: Vec::new(), values: Vec::new(), blocks: Vec::new(), regions: vec![Vec::new()] }
    }
}

impl Body {
    /// The region that the function runs.
    #[must_use]
    pub fn root(&self) -> Region {
        Region(0)
    }

    /// A new region without blocks.
    pub fn add_region(&mut self) -> Region {
        self.regions.push(Vec::new());
        Region(number(self.regions.len() - 1))
    }

    /// A new block that is in no region yet.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block(number(self.blocks.len() - 1))
    }

    /// Puts a block at the end of a region.
    pub fn append_block(&mut self, region: Region, block: Block) {
        self.regions[region.index()].push(block);
    }

    /// Puts the blocks of a region in another order; they are the same blocks, and the first stays the first.
    pub(super) fn reorder_blocks(&mut self, region: Region, blocks: Vec<Block>) {
        self.regions[region.index()] = blocks;
    }

    /// Gives a block one more argument.
    pub fn add_argument(&mut self, block: Block, ty: TileType) -> Value {
        let place = number(self.blocks[block.index()].arguments.len());
        let value = self.add_value(ty, ValueOrigin::Argument(block, place));
        self.blocks[block.index()].arguments.push(value);
        value
    }

    /// A new operation that is in no block yet, with results of these types; its `results` are replaced by them.
    pub fn add_op(&mut self, mut operation: Operation, results: impl IntoIterator<Item = TileType>) -> Op {
        let op = Op(number(self.ops.len()));
        let make = |(place, ty)| self.add_value(ty, ValueOrigin::Result(op, number(place)));
        operation.results = results.into_iter().enumerate().map(make).collect();
        self.ops.push(operation);
        op
    }

    /// Puts an operation at the end of a block.
    pub fn append_op(&mut self, block: Block, op: Op) {
        self.blocks[block.index()].ops.push(op);
    }

    fn add_value(&mut self, ty: TileType, origin: ValueOrigin) -> Value {
        self.values.push(ValueData { ty, origin, name: None });
        Value(number(self.values.len() - 1))
    }

    /// The operation.
    #[must_use]
    pub fn op(&self, op: Op) -> &Operation {
        &self.ops[op.index()]
    }

    /// The operation, to be changed.
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
    pub fn ty(&self, value: Value) -> &TileType {
        &self.values[value.index()].ty
    }

    /// Gives a value another type.
    pub fn set_type(&mut self, value: Value, ty: TileType) {
        self.values[value.index()].ty = ty;
    }

    /// Where a value comes from.
    #[must_use]
    pub fn origin(&self, value: Value) -> ValueOrigin {
        self.values[value.index()].origin
    }

    /// What the text calls a value.
    #[must_use]
    pub fn name(&self, value: Value) -> Option<&str> {
        self.values[value.index()].name.as_deref()
    }

    /// How messages name a value: as the text does, by its number if it has no name.
    #[must_use]
    pub fn display_name(&self, value: Value) -> String {
        self.name(value).map_or_else(|| format!("%{}", value.index()), |name| format!("%{name}"))
    }

    /// Says what the text is to call a value; where another has that name, a number is added.
    pub fn set_name(&mut self, value: Value, name: impl Into<Arc<str>>) {
        self.values[value.index()].name = Some(name.into());
    }

    /// How many values there are.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// How many operations there are.
    #[must_use]
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The operands of a group of an operation, by the group's name; none where it has no such group.
    #[must_use]
    pub fn operands(&self, op: Op, group: &str) -> &[Value] {
        let operation = self.op(op);
        operation.definition.operand_group(group).map_or(&[], |group| operation.operand_group(group))
    }

    /// The operand that a group has, if it has one.
    #[must_use]
    pub fn operand(&self, op: Op, group: &str) -> Option<Value> {
        self.operands(op, group).first().copied()
    }

    /// Every operation of a region and of the regions within, each before what it holds.
    #[must_use]
    pub fn walk(&self, region: Region) -> Vec<Op> {
        let mut found = Vec::new();
        let mut open: Vec<Op> = self.ops_of(region).rev().collect();
        while let Some(op) = open.pop() {
            found.push(op);
            let inner: Vec<Op> = self.op(op).regions.iter().flat_map(|region| self.ops_of(*region)).collect();
            open.extend(inner.into_iter().rev());
        }
        found
    }

    /// An operation and every operation in its regions, each before what it holds.
    #[must_use]
    pub fn nested(&self, op: Op) -> Vec<Op> {
        let inner = self.op(op).regions.iter().flat_map(|region| self.walk(*region));
        std::iter::once(op).chain(inner).collect()
    }

    fn ops_of(&self, region: Region) -> impl DoubleEndedIterator<Item = Op> {
        self.blocks(region).iter().flat_map(|block| self.ops(*block)).copied()
    }
}

impl Operation {
    /// An operation without operands and attributes.
    #[must_use]
    pub fn new(definition: Arc<Definition>) -> Self {
        Self {
            definition,
            operands: Values::new(),
            groups: SmallVec::new(),
            results: Values::new(),
            result_groups: SmallVec::new(),
            attributes: Attributes::default(),
            regions: SmallVec::new(),
            successors: SmallVec::new(),
            location: Location::default(),
        }
    }

    /// The operands of the group of this number.
    #[must_use]
    pub fn operand_group(&self, group: usize) -> &[Value] {
        part(&self.operands, &self.groups, group)
    }

    /// The results of the group of this number.
    #[must_use]
    pub fn result_group(&self, group: usize) -> &[Value] {
        part(&self.results, &self.result_groups, group)
    }

    /// The name with its dialect.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Whether it multiplies matrices.
    #[must_use]
    pub fn is_dot(&self) -> bool {
        matches!(self.name(), tt::DOT | tt::DOT_SCALED)
    }
}

fn part<'a>(values: &'a [Value], counts: &[u32], group: usize) -> &'a [Value] {
    let Some(&count) = counts.get(group) else { return &[] };
    let start: u32 = counts[..group].iter().sum();
    values.get(start as usize..(start + count) as usize).unwrap_or_default()
}

/// Arenas are far smaller than this: a text of four billion operations would be needed.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

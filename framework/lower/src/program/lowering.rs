//! What is known while a function is lowered, and the walk over its operations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_kernel::{Builder, Element, Launch, MathFunction, Scope, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{PointerCopy, TensorCopy, Thread};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::marks::IN_PLACE;
use tilewright_tile::{self as tile, Attribute, Body, Op};

use crate::shared_memory::{Access, Annotations, Part};

use super::error::{LowerError, Lowered, Reason};
use super::fixed_plans::FixedPlans;
use super::groups::Groups;
use super::input::LoweringInput;
use super::lowered::{LoweredValue, Registers};
use super::pending::Pending;
use super::types::carrier;

/// Asynchronous copies from global to shared memory, each with its plan.
pub(super) type Copies = HashMap<Op, PointerCopy>;

/// Bulk tensor copies, each with its plan and the number of the parameter that is its tensor map.
pub(super) type Boxes = HashMap<Op, (TensorCopy, u32)>;

/// A function that is being lowered.
pub(super) struct Lowering<'a> {
    pub body: &'a Body,
    pub facts: &'a AxisInfoMap,
    pub layouts: &'a LayoutCache<'a>,
    /// Plans that are fixed for operations.
    pub plans: &'a FixedPlans,
    /// The target, and the lanes and warps that layouts are for.
    pub machine: &'a LaunchConfig<'a>,
    pub launch: Launch,
    pub builder: Builder,
    /// The program's own tensors in shared memory.
    pub annotations: Annotations,
    /// The copies that go on while the program does.
    pub copies: Copies,
    /// The copies of boxes, which do too.
    pub boxes: Boxes,
    /// Groups of warps that do different things.
    pub groups: Groups,
    /// The numbers of the buffers of the program's own tensors.
    pub buffers: HashMap<tile::Value, u32>,
    /// The products that go on while the program does.
    pub pending: Pending,
    /// What stands for each value of the function.
    lowered: Vec<Option<LoweredValue>>,
    /// How often each value is used.
    uses: Vec<u32>,
    /// Whether units read the program's own tensors in shared memory through a proxy.
    by_proxy: bool,
    /// Values of the kernel that are known to be the same in all lanes of the block.
    uniform: HashSet<Value>,
    /// The layouts of types in registers.
    known: HashMap<tile::TileType, Arc<LinearLayout>>,
    /// Operations of the arithmetic that stands for a function, where it was asked for.
    pub(super) expansions: HashMap<(MathFunction, Element), u64>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(body: &'a Body, input: &LoweringInput<'a>, builder: Builder) -> Self {
        let LoweringInput { facts, layouts, machine, plans, .. } = *input;
        let launch = builder.launch();
        let mut lowering = Self {
            body,
            facts,
            layouts,
            plans,
            machine,
            launch,
            builder,
            annotations: Annotations::default(),
            copies: Copies::new(),
            boxes: Boxes::new(),
            groups: Groups::default(),
            buffers: HashMap::new(),
            pending: Pending::default(),
            lowered: Vec::new(),
            uses: Vec::new(),
            by_proxy: false,
            uniform: HashSet::new(),
            known: HashMap::new(),
            expansions: HashMap::new(),
        };
        for op in body.walk(body.root()) {
            let in_place = body.op(op).attributes.get(IN_PLACE).is_some();
            lowering.by_proxy |= in_place && machine.context.target.shared.asynchronous_proxy;
            for value in &body.op(op).operands {
                let index = value.index();
                if lowering.uses.len() <= index {
                    lowering.uses.resize(index + 1, 0);
                }
                lowering.uses[index] += 1;
            }
        }
        lowering
    }

    /// Lowers the operations of a block but for the one that ends it, which is given back.
    pub(super) fn block(&mut self, block: tile::Block) -> Result<Option<Op>, LowerError> {
        let body = self.body;
        let ops = body.ops(block);
        let ends = ops.last().copied().filter(|last| body.op(*last).definition.traits.terminator);
        for &op in ops.iter().filter(|op| Some(**op) != ends) {
            self.operation(op)?;
        }
        Ok(ends)
    }

    /// The only block of a region.
    pub(super) fn only_block(&self, region: tile::Region) -> Lowered<tile::Block> {
        match self.body.blocks(region) {
            [block] => Ok(*block),
            blocks => Err(Reason::malformed(format!("a region of {} blocks; jumps must be structured", blocks.len()))),
        }
    }

    /// What stands for a value.
    pub(super) fn lowered(&self, value: tile::Value) -> Lowered<&LoweredValue> {
        let lowered = self.lowered.get(value.index()).and_then(Option::as_ref);
        lowered.ok_or_else(|| Reason::malformed("an operand is used before it is there"))
    }

    /// Says what stands for a value.
    pub(super) fn hold(&mut self, value: tile::Value, lowered: LoweredValue) {
        if self.lowered.len() <= value.index() {
            self.lowered.resize(value.index() + 1, None);
        }
        self.lowered[value.index()] = Some(lowered);
    }

    /// Says that a scalar stands for a value, which is the same in all lanes of the block.
    pub(super) fn hold_uniform(&mut self, value: tile::Value, scalar: Value) {
        self.uniform.insert(scalar);
        self.hold(value, LoweredValue::Scalar(scalar));
    }

    /// Says that a scalar that lanes found for themselves stands for a value, which is the same in all of them: the block's
    /// control may depend on it.
    pub(super) fn hold_found(&mut self, value: tile::Value, scalar: Value) {
        let same = self.builder.same(scalar, Scope::Block);
        self.hold_uniform(value, same);
    }

    /// Whether a value of the kernel is known to be the same in all lanes of the block.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        self.uniform.contains(&value)
    }

    /// Says that values are the same in all lanes, where what they are computed from is.
    pub(super) fn computed(&mut self, from: &[Value], values: &[Value]) {
        if from.iter().all(|&value| self.is_uniform(value)) {
            self.uniform.extend(values);
        }
    }

    /// Goes on with a group of so many warps as its machine says.
    pub(super) fn as_group(&mut self, machine: &'a LaunchConfig<'a>) {
        self.machine = machine;
        self.launch.warps = machine.warps;
        // The same type is a mistake elsewhere.
        self.known.clear();
    }

    /// Says that units of the target read the program's own tensors in shared memory.
    pub(super) fn is_read_by_units(&mut self) {
        self.by_proxy |= self.machine.context.target.shared.asynchronous_proxy;
    }

    /// Lets units that read shared memory by themselves see what the warp has written there, before the block meets.
    pub(super) fn shows_to_units(&mut self) {
        if self.by_proxy {
            self.builder.proxy_fence();
        }
    }

    /// Says that an access of one of the program's own tensors in shared memory begins.
    pub(super) fn accesses(&mut self, access: Access) {
        self.accesses_part(access, None);
    }

    /// The same of one tensor of an allocation of several.
    pub(super) fn accesses_part(&mut self, access: Access, part: Option<Part>) {
        let mark = self.builder.constant(Type::Scalar(Element::I1), 0);
        self.annotations.accesses.insert(mark, (access, part));
    }

    /// Says what the only result of an operation is.
    pub(super) fn give(&mut self, op: Op, lowered: LoweredValue) -> Lowered<()> {
        let result = self.body.op(op).results.first().copied();
        let result = result.ok_or_else(|| Reason::malformed("it has no result"))?;
        self.hold(result, lowered);
        Ok(())
    }

    /// Says what the only result, a tensor, is in registers of the layout that its type names.
    pub(super) fn give_tensor(&mut self, op: Op, layout: Arc<LinearLayout>, values: Vec<Value>) -> Lowered<()> {
        self.give(op, LoweredValue::Tensor(Registers::new(layout, values)))
    }

    /// A scalar operand.
    pub(super) fn scalar(&self, value: tile::Value) -> Lowered<Value> {
        match self.lowered(value)? {
            LoweredValue::Scalar(value) => Ok(*value),
            _ => Err(Reason::malformed("a scalar is expected")),
        }
    }

    /// A tensor operand.
    pub(super) fn tensor(&self, value: tile::Value) -> Lowered<Registers> {
        match self.lowered(value)? {
            LoweredValue::Tensor(registers) => Ok(registers.clone()),
            _ => Err(Reason::malformed("a tensor is expected")),
        }
    }

    /// The registers of a tensor operand in a layout; of a scalar, itself for each register.
    pub(super) fn spread(&mut self, value: tile::Value, layout: &Arc<LinearLayout>) -> Lowered<Arc<[Value]>> {
        let registers = 1usize << layout.in_bits(Dim::REGISTER);
        match self.lowered(value)? {
            LoweredValue::Scalar(value) => Ok(vec![*value; registers].into()),
            LoweredValue::Tensor(tensor) => {
                let tensor = tensor.clone();
                self.convert(&tensor, layout)
            }
            _ => Err(Reason::malformed("a number or a tensor is expected")),
        }
    }

    /// The operation's operand of this number.
    pub(super) fn operand(&self, op: Op, number: usize) -> Lowered<tile::Value> {
        let found = self.body.op(op).operands.get(number).copied();
        found.ok_or_else(|| Reason::malformed(format!("operand {number} is missing")))
    }

    /// The first operand of a group, where there is one.
    pub(super) fn optional(&self, op: Op, group: &str) -> Option<tile::Value> {
        let operation = self.body.op(op);
        let group = operation.definition.operand_group(group)?;
        operation.operand_group(group).first().copied()
    }

    /// The operation's result of this number.
    pub(super) fn result(&self, op: Op, number: usize) -> Lowered<tile::Value> {
        let found = self.body.op(op).results.get(number).copied();
        found.ok_or_else(|| Reason::malformed(format!("result {number} is missing")))
    }

    /// The layout of the operation's first result, a tensor.
    pub(super) fn result_layout(&mut self, op: Op) -> Lowered<Arc<LinearLayout>> {
        self.layout_of(self.result(op, 0)?)
    }

    /// The layout that the type of a value names, for the lanes and warps of the launch.
    pub(super) fn layout_of(&mut self, value: tile::Value) -> Lowered<Arc<LinearLayout>> {
        let ty = self.body.ty(value);
        if let Some(known) = self.known.get(ty) {
            return Ok(known.clone());
        }
        let layout = self.layouts.distributed(ty)?;
        let [lanes, warps] = [Dim::LANE, Dim::WARP].map(|dim| 1u32 << layout.in_bits(dim));
        if lanes != self.launch.lanes || warps != self.launch.warps {
            let (expected, found) = (self.launch, format!("{lanes} lanes and {warps} warps"));
            let expected = format!("{} lanes and {} warps", expected.lanes, expected.warps);
            return Err(Reason::malformed(format!("`{ty}` is for {found}; the program has {expected}")));
        }
        let layout = Arc::new(layout);
        self.known.insert(ty.clone(), layout.clone());
        Ok(layout)
    }

    /// Whether anything uses a value.
    pub(super) fn is_used(&self, value: tile::Value) -> bool {
        self.uses.get(value.index()).is_some_and(|uses| *uses > 0)
    }

    /// An integer attribute.
    pub(super) fn number(&self, op: Op, name: &str) -> Lowered<i64> {
        let found = self.attribute(op, name).and_then(Attribute::as_integer);
        found.ok_or_else(|| Reason::malformed(format!("it has no number `{name}`")))
    }

    /// A word of an attribute; that of its definition where it is not there.
    pub(super) fn word(&self, op: Op, name: &str) -> Option<&'a str> {
        self.attribute(op, name).and_then(Attribute::as_text)
    }

    /// An attribute; that of the operation's definition where it is not there.
    pub(super) fn attribute(&self, op: Op, name: &str) -> Option<&'a Attribute> {
        let operation = self.body.op(op);
        let by_default = || operation.definition.attribute(name)?.default.as_ref();
        operation.attributes.get(name).or_else(by_default)
    }

    /// The type that carries the elements of a value.
    pub(super) fn carrier(&self, value: tile::Value) -> Lowered<Type> {
        carrier(self.body.ty(value).element())
    }

    /// The running thread.
    pub(super) fn thread(&mut self) -> Thread {
        Thread::new(&mut self.builder, self.launch.lanes.trailing_zeros())
    }

    /// Runs `act` with another builder in the place of the own one, and leaves it what was added.
    pub(super) fn within<T>(&mut self, builder: &mut Builder, act: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.builder, builder);
        let result = act(self);
        std::mem::swap(&mut self.builder, builder);
        result
    }
}

//! The state while a function is lowered, and the walk over its operations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_kernel::{
    Builder, CollectiveScope, Element, MathFunction, SpecialRegister, StaticLaunchConfig, Type, Value,
};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{ClusterBlockBits, PointerToSharedCopy, TensorCopy, ThreadIndices};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::name::ttg;
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{self as tile, Attribute, FunctionBody, Op};

use crate::shared_memory::{Access, Annotations, Slice};

use super::control::PointerSum;
use super::error::{LowerError, LowerErrorReason, Lowered};
use super::fixed_plans::FixedPlans;
use super::groups::Groups;
use super::input::LoweringInput;
use super::lowered::{LoweredValue, Registers};
use super::pending::Pending;
use super::tensor_memory_state::TensorMemory;
use super::types::carrier;

/// The asynchronous copies from global to shared memory, each with its plan.
pub(super) type Copies = HashMap<Op, PointerToSharedCopy>;

/// The bulk tensor copies, each with its plan and the number of the kernel parameter that is its tensor map.
pub(super) type TensorCopies = HashMap<Op, (TensorCopy, u32)>;

/// The state while a function is lowered to a kernel.
pub(super) struct Lowering<'a> {
    pub body: &'a FunctionBody,
    pub axis_info: &'a AxisInfoMap,
    pub layouts: &'a LayoutCache<'a>,
    /// The plans that are given for some operations.
    pub plans: &'a FixedPlans,
    /// The target, and the numbers of lanes and warps of the layouts.
    pub config: &'a LaunchConfig<'a>,
    pub launch: StaticLaunchConfig,
    pub builder: Builder,
    /// Annotations of the tensors that the program itself has in shared memory.
    pub annotations: Annotations,
    /// The asynchronous copies of the program, with their plans.
    pub copies: Copies,
    /// The bulk tensor copies of the program, with their plans and tensor maps.
    pub tensor_copies: TensorCopies,
    /// The warp groups (the warps of each partition) of a program with warp specialization.
    pub groups: Groups,
    /// For each different kind of store to shared memory, the layout of the stored tensor and the layout of the memory.
    /// Two stores with the same entry write a given byte by the same thread; [`Self::writer`] returns the index of a
    /// store's entry.
    writers: Vec<(Arc<LinearLayout>, MemoryLayout)>,
    /// The first index in `writers` for stores of the current warp group.
    first_writer: usize,
    /// For each allocation of the program in shared memory, the number of its buffer.
    pub buffers: HashMap<tile::Value, u32>,
    /// The asynchronous MMAs of the program.
    pub pending: Pending,
    /// The tensor memory of the kernel.
    pub tensor_memory: TensorMemory,
    /// The arguments of loops that carry one base for all pointers of a tensor.
    pub pointer_bases: HashMap<tile::Value, PointerSum>,
    /// The accesses of global memory that need a barrier of the program before them.
    pub ordered_accesses: HashSet<Op>,
    /// The block whose operations are lowered.
    pub block: Option<tile::Block>,
    /// A condition under which loads are lowered, besides their masks; `None` means true.
    pub guard: Option<Value>,
    /// For each value index of the function, the kernel values that the value is lowered to; `None` before its
    /// definition.
    lowered: Vec<Option<LoweredValue>>,
    /// For each value index of the function, the number of its uses.
    uses: Vec<u32>,
    /// The results of the layout conversions of values.
    converted: HashMap<tile::Value, tile::Value>,
    /// Whether matrix units read the program's tensors in shared memory through the asynchronous proxy (PTX).
    by_proxy: bool,
    /// The kernel values that are known to be uniform over the block.
    uniform: HashSet<Value>,
    /// The resolved layout of each tensor type.
    known: HashMap<tile::TileType, Arc<LinearLayout>>,
    /// For each math function and element, the number of operations of its expansion.
    pub(super) expansions: HashMap<(MathFunction, Element), u64>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(body: &'a FunctionBody, input: &LoweringInput<'a>, builder: Builder) -> Self {
        let LoweringInput { axis_info, layouts, config, plans, .. } = *input;
        let launch = builder.launch();
        let mut lowering = Self {
            body,
            axis_info,
            layouts,
            plans,
            config,
            launch,
            builder,
            annotations: Annotations::default(),
            copies: Copies::new(),
            tensor_copies: TensorCopies::new(),
            groups: Groups::default(),
            writers: Vec::new(),
            first_writer: 0,
            buffers: HashMap::new(),
            pending: Pending::default(),
            tensor_memory: TensorMemory::default(),
            pointer_bases: HashMap::new(),
            ordered_accesses: HashSet::new(),
            block: None,
            guard: None,
            lowered: Vec::new(),
            uses: Vec::new(),
            converted: HashMap::new(),
            by_proxy: false,
            uniform: HashSet::new(),
            known: HashMap::new(),
            expansions: HashMap::new(),
        };
        for op in body.walk_region(body.root()) {
            let is_smem_operand = body.op(op).attributes.get(OPERAND_STAYS_IN_SMEM).is_some();
            lowering.by_proxy |= is_smem_operand && config.context.target.shared.asynchronous_proxy;
            for value in &body.op(op).operands {
                let index = value.index();
                if lowering.uses.len() <= index {
                    lowering.uses.resize(index + 1, 0);
                }
                lowering.uses[index] += 1;
            }
            // Given plans are for the layouts before and after each conversion.
            if body.op(op).name() == ttg::CONVERT_LAYOUT && plans.is_empty() {
                lowering.converted.insert(body.op(op).operands[0], body.op(op).results[0]);
            }
        }
        lowering
    }

    /// Lowers all operations of a block except its terminator; returns the terminator.
    pub(super) fn block(&mut self, block: tile::Block) -> Result<Option<Op>, LowerError> {
        let body = self.body;
        let ops = body.ops(block);
        let ends = ops.last().copied().filter(|last| body.op(*last).definition.traits.terminator);
        let around = self.block.replace(block);
        for &op in ops.iter().filter(|op| Some(**op) != ends) {
            self.operation(op)?;
        }
        self.block = around;
        Ok(ends)
    }

    /// Returns the only block of a region; an error if there are several.
    pub(super) fn only_block(&self, region: tile::Region) -> Lowered<tile::Block> {
        match self.body.blocks(region) {
            [block] => Ok(*block),
            blocks => {
                Err(LowerErrorReason::malformed(format!("a region of {} blocks; structure it first", blocks.len())))
            }
        }
    }

    /// Returns the lowered form of a value; an error if it is not lowered yet.
    pub(super) fn lowered(&self, value: tile::Value) -> Lowered<&LoweredValue> {
        let lowered = self.lowered.get(value.index()).and_then(Option::as_ref);
        lowered.ok_or_else(|| LowerErrorReason::malformed("an operand is used before its definition"))
    }

    /// Returns the only operation that uses a value, if it is in the block that is lowered; `None` for other values.
    pub(super) fn only_user(&self, value: tile::Value) -> Option<Op> {
        let is_used_once = self.uses.get(value.index()) == Some(&1);
        let mut ops = self.body.ops(self.block.filter(|_| is_used_once)?).iter().copied();
        ops.find(|op| self.body.op(*op).operands.contains(&value))
    }

    /// Records the lowered form of a value.
    pub(super) fn set_lowered(&mut self, value: tile::Value, lowered: LoweredValue) {
        if self.lowered.len() <= value.index() {
            self.lowered.resize(value.index() + 1, None);
        }
        self.lowered[value.index()] = Some(lowered);
    }

    /// Records a scalar as the lowered form of a value; the scalar is uniform over the block.
    pub(super) fn set_uniform(&mut self, value: tile::Value, scalar: Value) {
        self.uniform.insert(scalar);
        self.set_lowered(value, LoweredValue::Scalar(scalar));
    }

    /// Records `scalar` as the lowered form of a value. Each lane has computed it; an emitted assumption states that it
    /// is uniform over the block, so that control flow of the whole block may depend on it.
    pub(super) fn set_assumed_uniform(&mut self, value: tile::Value, scalar: Value) {
        let scope = self.program_scope();
        let same = self.builder.assume_uniform(scalar, scope);
        self.set_uniform(value, same);
    }

    /// Returns the scope of all threads that execute a program: the cluster, or the block without clusters.
    pub(super) fn program_scope(&self) -> CollectiveScope {
        if self.launch.blocks > 1 { CollectiveScope::Cluster } else { CollectiveScope::Block }
    }

    /// Whether a kernel value is known to be uniform over the block.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        self.uniform.contains(&value)
    }

    /// Marks `values` as uniform over the block if all of `from`, their operands, are uniform.
    pub(super) fn propagate_uniform(&mut self, from: &[Value], values: &[Value]) {
        if from.iter().all(|&value| self.is_uniform(value)) {
            self.uniform.extend(values);
        }
    }

    /// Continues with the lowering of the next warp group, whose launch configuration is `config`.
    pub(super) fn as_group(&mut self, config: &'a LaunchConfig<'a>) {
        self.config = config;
        self.launch.warps = config.warps;
        // The resolved layouts are those of the previous group: with another number of warps, a type may resolve to
        // another layout, or not at all.
        self.known.clear();
        // A writer number of another group would stand for other threads.
        self.first_writer = self.writers.len();
    }

    /// Records that matrix units of the target read the program's tensors in shared memory.
    pub(super) fn set_read_by_async_proxy(&mut self) {
        self.by_proxy |= self.config.context.target.shared.asynchronous_proxy;
    }

    /// Emits the proxy fence that makes the warp's stores to shared memory visible to asynchronous reads; a block
    /// barrier must follow.
    pub(super) fn emit_proxy_fence(&mut self) {
        if self.by_proxy {
            self.builder.proxy_fence();
        }
    }

    /// Emits the marker that an access of a program's tensor in shared memory begins here; the access touches `slices`
    /// of buffers.
    pub(super) fn record_access(&mut self, access: Access, slices: Vec<Slice>) {
        let mark = self.builder.constant(Type::Scalar(Element::I1), 0);
        self.annotations.accesses.insert(mark, (access, slices));
    }

    /// Returns a number for stores of a tensor with the layout `tensor` to memory with the layout `memory`. Equal
    /// numbers mean that the same thread stores each byte.
    pub(super) fn writer(&mut self, tensor: &Arc<LinearLayout>, memory: &MemoryLayout) -> u32 {
        let known = self.writers.iter().skip(self.first_writer);
        let found = known.clone().position(|(known, of)| known == tensor && of == memory);
        let number = self.first_writer + found.unwrap_or(known.len());
        if number == self.writers.len() {
            self.writers.push((tensor.clone(), memory.clone()));
        }
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Records the lowered form of an operation's only result.
    pub(super) fn set_result(&mut self, op: Op, lowered: LoweredValue) -> Lowered<()> {
        let result = self.body.op(op).results.first().copied();
        let result = result.ok_or_else(|| LowerErrorReason::malformed("it has no result"))?;
        self.set_lowered(result, lowered);
        Ok(())
    }

    /// Records the registers of an operation's only result, a tensor with the layout that its type names.
    pub(super) fn give_tensor(&mut self, op: Op, layout: Arc<LinearLayout>, values: Vec<Value>) -> Lowered<()> {
        self.set_result(op, LoweredValue::Tensor(Registers::new(layout, values)))
    }

    /// Returns the kernel value of a scalar operand; an error for any other operand.
    pub(super) fn scalar(&self, value: tile::Value) -> Lowered<Value> {
        match self.lowered(value)? {
            LoweredValue::Scalar(value) => Ok(*value),
            _ => Err(LowerErrorReason::malformed("a scalar is expected")),
        }
    }

    /// Returns the registers of a tensor operand; an error for any other operand.
    pub(super) fn tensor(&self, value: tile::Value) -> Lowered<Registers> {
        match self.lowered(value)? {
            LoweredValue::Tensor(registers) => Ok(registers.clone()),
            _ => Err(LowerErrorReason::malformed("a tensor is expected")),
        }
    }

    /// Returns the registers of a tensor operand in this layout, converted if needed; a scalar is repeated for each
    /// register.
    pub(super) fn registers_in(&mut self, value: tile::Value, layout: &Arc<LinearLayout>) -> Lowered<Arc<[Value]>> {
        let registers = 1usize << layout.in_bits(Dim::REGISTER);
        match self.lowered(value)? {
            LoweredValue::Scalar(value) => Ok(vec![*value; registers].into()),
            LoweredValue::Tensor(tensor) => {
                let tensor = tensor.clone();
                self.convert(&tensor, layout)
            }
            _ => Err(LowerErrorReason::malformed("a number or a tensor is expected")),
        }
    }

    /// Returns the operand with the index `number`.
    pub(super) fn operand(&self, op: Op, number: usize) -> Lowered<tile::Value> {
        let found = self.body.op(op).operands.get(number).copied();
        found.ok_or_else(|| LowerErrorReason::malformed(format!("operand {number} is missing")))
    }

    /// Returns the first operand of the operand group with this name; `None` if the group is empty.
    pub(super) fn optional(&self, op: Op, group: &str) -> Option<tile::Value> {
        let operation = self.body.op(op);
        let group = operation.definition.operand_group_index(group)?;
        operation.operand_group(group).first().copied()
    }

    /// Returns the result with the index `number`.
    pub(super) fn result(&self, op: Op, number: usize) -> Lowered<tile::Value> {
        let found = self.body.op(op).results.get(number).copied();
        found.ok_or_else(|| LowerErrorReason::malformed(format!("result {number} is missing")))
    }

    /// Returns the layout of the operation's first result, a tensor.
    pub(super) fn result_layout(&mut self, op: Op) -> Lowered<Arc<LinearLayout>> {
        self.layout_of(self.result(op, 0)?)
    }

    /// Returns the layout that the type of a value names; an error if it is for other numbers of lanes or warps.
    pub(super) fn layout_of(&mut self, value: tile::Value) -> Lowered<Arc<LinearLayout>> {
        let ty = self.body.value_type(value);
        if let Some(known) = self.known.get(ty) {
            return Ok(known.clone());
        }
        let layout = self.layouts.resolve_distributed(ty)?;
        let [lanes, warps] = [Dim::LANE, Dim::WARP].map(|dim| 1u32 << layout.in_bits(dim));
        if lanes != self.launch.lanes || warps != self.launch.warps {
            let (expected, found) = (self.launch, format!("{lanes} lanes and {warps} warps"));
            let expected = format!("{} lanes and {} warps", expected.lanes, expected.warps);
            return Err(LowerErrorReason::malformed(format!("`{ty}` is for {found}; the program has {expected}")));
        }
        let blocks = 1u32 << layout.in_bits(Dim::BLOCK);
        // In the kernel of a single data movement, the plan determines the number of blocks; this check is for
        // programs.
        if self.launch.blocks > 1 && blocks != self.launch.blocks {
            let expected = self.launch.blocks;
            return Err(LowerErrorReason::malformed(format!(
                "`{ty}` is for {blocks} blocks; the program has {expected}"
            )));
        }
        let layout = Arc::new(layout);
        self.known.insert(ty.clone(), layout.clone());
        Ok(layout)
    }

    /// Returns the result of a value's layout conversion if the value has no other use.
    pub(super) fn only_conversion(&self, value: tile::Value) -> Option<tile::Value> {
        self.converted.get(&value).copied().filter(|_| self.has_one_use(value))
    }

    /// Whether the program uses a value exactly once.
    pub(super) fn has_one_use(&self, value: tile::Value) -> bool {
        self.uses.get(value.index()) == Some(&1)
    }

    /// Whether the program uses a value.
    pub(super) fn is_used(&self, value: tile::Value) -> bool {
        self.uses.get(value.index()).is_some_and(|uses| *uses > 0)
    }

    /// Returns an integer attribute of an operation.
    pub(super) fn integer_attribute(&self, op: Op, name: &str) -> Lowered<i64> {
        let found = self.attribute(op, name).and_then(Attribute::as_integer);
        found.ok_or_else(|| LowerErrorReason::malformed(format!("it has no number `{name}`")))
    }

    /// Returns the keyword in the attribute `name` of an operation, or the attribute's default; `None` if there is
    /// neither.
    pub(super) fn keyword(&self, op: Op, name: &str) -> Option<&'a str> {
        self.attribute(op, name).and_then(Attribute::as_text)
    }

    /// Returns the attribute `name` of an operation, or its default; `None` if there is neither.
    pub(super) fn attribute(&self, op: Op, name: &str) -> Option<&'a Attribute> {
        let operation = self.body.op(op);
        let by_default = || operation.definition.find_attribute(name)?.default.as_ref();
        operation.attributes.get(name).or_else(by_default)
    }

    /// Returns the kernel type that carries an element of a value in registers.
    pub(super) fn carrier(&self, value: tile::Value) -> Lowered<Type> {
        carrier(self.body.value_type(value).element())
    }

    /// Emits the index of the current thread's lane in the warp, of its warp in the block, and of its block in the
    /// cluster.
    pub(super) fn thread(&mut self) -> ThreadIndices {
        let thread = ThreadIndices::new(&mut self.builder, self.launch.lanes.trailing_zeros());
        let (warp_bits, block_bits) = (self.launch.warps.trailing_zeros(), self.launch.blocks.trailing_zeros());
        if block_bits == 0 {
            return thread;
        }
        let block = self.builder.special(SpecialRegister::Block);
        thread.in_cluster(ClusterBlockBits { warp_bits, block, block_bits, group: 0 })
    }

    /// Runs `act` with `builder` in place of the current builder, so that it receives the emitted operations.
    pub(super) fn within<T>(&mut self, builder: &mut Builder, act: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.builder, builder);
        let result = act(self);
        std::mem::swap(&mut self.builder, builder);
        result
    }
}

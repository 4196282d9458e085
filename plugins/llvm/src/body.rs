//! Translates the operations of one kernel to LLVM IR; other modules emit arithmetic, memory accesses and control flow.

use std::cell::Cell;
use std::collections::HashSet;

use inkwell::basic_block::BasicBlock;
use inkwell::debug_info::DILocation;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, InstructionOpcode, IntValue, PointerValue,
};
use tilewright_kernel::{
    ClockCounter, Element, Issuers, Kernel, MemorySpace, Op, ShuffleMode, SpecialRegister, Type, Value,
};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{TypedValue, ValueMap, generate_body, invalid_module_error, unsupported_kernel_error};

use crate::emitter::{Emitter, builder_error};
use crate::lane_access::LaneAccess;
use crate::memory::Predicated;
use crate::ordered::Ordered;
use crate::scalar_base::ScalarBases;
use crate::thread_fields::ThreadFields;
use crate::types::llvm_type;
use crate::{LlvmTarget, TargetDialect};

/// An LLVM value with its type in the kernel IR.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed<'ctx> {
    pub(crate) ty: Type,
    pub(crate) value: BasicValueEnum<'ctx>,
    /// The bits of each element if the value is a constant; `None` otherwise.
    pub(crate) constant: Option<u64>,
    /// The number of integer products that the value sums since the last partial sum that LLVM must keep.
    pub(crate) products: u32,
    /// The bits of the thread's index that the value consists of, if they are known. A pointer's offset from `base`
    /// consists of them.
    pub(crate) thread: Option<ThreadFields>,
    /// The pointer to which an offset of known bits of the thread's index was added.
    pub(crate) base: Option<PointerValue<'ctx>>,
}

impl<'ctx> Typed<'ctx> {
    pub(crate) fn new(ty: Type, value: BasicValueEnum<'ctx>) -> Self {
        Self { ty, value, constant: None, products: 0, thread: None, base: None }
    }
}

impl TypedValue for Typed<'_> {
    fn ty(&self) -> Type {
        self.ty
    }
}

/// The state of the translation of one kernel's body.
pub(crate) struct Body<'a, 'ctx> {
    pub(crate) emit: Emitter<'a, 'ctx>,
    pub(crate) dialect: &'a dyn TargetDialect,
    pub(crate) target: &'a LlvmTarget,
    pub(crate) kernel: &'a Kernel,
    pub(crate) function: FunctionValue<'ctx>,
    /// The array that holds all shared buffers; `None` if the kernel has no shared memory.
    pub(crate) shared: Option<GlobalValue<'ctx>>,
    pub(crate) values: ValueMap<Typed<'ctx>>,
    /// Number of unconditional stores since the last interruption of a sequence of stores; see `STORES_TOGETHER`.
    pub(crate) stores: usize,
    /// Stores to global memory so far.
    pub(crate) global_stores: usize,
    /// Whether the current block of a branch has loads from global memory.
    pub(crate) ends_with_loads: bool,
    /// The first blocks of the loops that are being emitted, the innermost last.
    pub(crate) loops: Vec<BasicBlock<'ctx>>,
    /// The last division by a hidden divisor.
    pub(crate) division: Option<Division<'ctx>>,
    /// The values that are operands, in a kernel with atomic updates; empty in others.
    pub(crate) used: HashSet<Value>,
    /// The blocks of the last predicated access.
    pub(crate) predicated: Cell<Option<Predicated<'ctx>>>,
    /// The addresses that are a scalar address plus a bounded offset.
    pub(crate) scalar_bases: ScalarBases,
    /// The numbers that are extended and then converted to integers.
    pub(crate) extended_to_integers: HashSet<Value>,
    /// The debug location of each of the kernel's source locations; empty if the module has no debug information.
    pub(crate) lines: Vec<Option<DILocation<'ctx>>>,
}

/// A division of integers by a divisor that is hidden from LLVM.
pub(crate) struct Division<'ctx> {
    pub(crate) opcode: InstructionOpcode,
    /// Dividend and divisor.
    pub(crate) operands: [BasicValueEnum<'ctx>; 2],
    pub(crate) quotient: BasicValueEnum<'ctx>,
    pub(crate) block: Option<BasicBlock<'ctx>>,
}

impl<'a, 'ctx> Body<'a, 'ctx> {
    /// Emits the whole kernel.
    pub(crate) fn run(&mut self) -> Result<(), CompileError> {
        let entry = self.emit.context.append_basic_block(self.function, "entry");
        self.emit.builder.position_at_end(entry);
        let types = self.kernel.parameters.iter().map(|parameter| parameter.ty);
        let parameters = types.zip(self.function.get_params()).map(|(ty, value)| Typed::new(ty, value)).collect();
        generate_body(self, self.kernel, parameters)?;
        self.emit.builder.build_return(None).map_err(builder_error)?;
        Ok(())
    }

    pub(crate) fn llvm_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        llvm_type(self.emit.context, self.target, ty)
    }

    pub(crate) fn value(&self, number: Value) -> Result<Typed<'ctx>, CompileError> {
        self.values.get(number)
    }

    /// Returns the LLVM value of a kernel-IR value; an error unless the value has type `ty`.
    pub(crate) fn value_of(&self, number: Value, ty: Type) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.values.get_typed(number, ty).map(|found| found.value)
    }

    /// Returns the LLVM value of a kernel-IR value; an error unless it is an integer scalar of type `element`.
    pub(crate) fn integer(&self, number: Value, element: Element) -> Result<IntValue<'ctx>, CompileError> {
        match self.value_of(number, Type::Scalar(element))? {
            BasicValueEnum::IntValue(value) => Ok(value),
            _ => Err(invalid_module_error(format!("value %{} is not an integer", number.0))),
        }
    }

    pub(crate) fn pointer(&self, number: Value) -> Result<(MemorySpace, PointerValue<'ctx>), CompileError> {
        match self.value(number)? {
            Typed { ty: Type::Pointer(space), value: BasicValueEnum::PointerValue(value), .. } => Ok((space, value)),
            other => Err(invalid_module_error(format!("value %{} is a {}; a pointer is needed", number.0, other.ty))),
        }
    }

    /// Returns the LLVM value of a kernel-IR value; an error unless it is a pointer to shared memory.
    fn shared_pointer(&self, number: Value) -> Result<PointerValue<'ctx>, CompileError> {
        match self.pointer(number)? {
            (MemorySpace::Shared, address) => Ok(address),
            (space, _) => Err(invalid_module_error(format!(
                "value %{} points to {} memory, not to shared",
                number.0,
                space.name()
            ))),
        }
    }

    /// Emits one operation of the kernel IR without nested regions, and returns its results.
    pub(crate) fn append(&mut self, op: &Op, results: &[(Value, Type)]) -> Result<Vec<Typed<'ctx>>, CompileError> {
        match (op, results) {
            (Op::Instruction { name, operands }, _) => self.instruction(name, operands, results),
            (Op::Assembly { text, constraints, operands }, _) => self.assembly((text, constraints), operands, results),
            (Op::Swap { a, b, lane, issuers: Issuers::All }, _) => self.swap(*a, *b, *lane),
            (Op::Wait { queue, outstanding, values }, _) => self.wait(*queue, *outstanding, values),
            (Op::AtomicRmw { op, pointer, value, predicate, order, scope }, &[(old, _)]) => {
                let how = Ordered { predicate: *predicate, order: *order, scope: *scope };
                let is_used = self.used.contains(&old);
                Ok(vec![self.atomic_rmw(*op, *pointer, *value, how, is_used)?])
            }
            (op, &[(_, ty)]) if op.has_single_result() => Ok(vec![self.result(op, ty)?]),
            (op, _) => self.effect(op).map(|()| Vec::new()),
        }
    }

    /// Emits an operation with one result, whose type in the kernel IR is `ty`.
    fn result(&mut self, op: &Op, ty: Type) -> Result<Typed<'ctx>, CompileError> {
        match op {
            Op::Constant { bits } => self.constant(ty, *bits),
            Op::Unspecified {} => self.unspecified(ty),
            Op::Special(register) => self.special(*register),
            Op::Clock { counter } => {
                let name = match counter {
                    ClockCounter::Cycles => "llvm.readcyclecounter",
                    ClockCounter::Time => "llvm.readsteadycounter",
                };
                let now = self.emit.call_intrinsic(name, &[], &[])?;
                let missing = || CompileError::Backend(format!("LLVM's intrinsic `{name}` has no result"));
                Ok(Typed::new(ty, now.ok_or_else(missing)?))
            }
            Op::SharedAddress { buffer } => self.shared_address(*buffer),
            Op::ClusterAddress { pointer, block } => self.cluster_address(*pointer, *block),
            Op::Unary { op, a } => self.unary(*op, *a),
            Op::Binary { op, a, b } => self.binary(*op, *a, *b),
            Op::Fma { a, b, c } => self.fma(*a, *b, *c),
            Op::Compare { op, a, b } => self.compare(*op, *a, *b),
            Op::Select { condition, a, b } => self.select(*condition, *a, *b),
            Op::Cast { op, a } => self.cast(*op, *a, ty),
            Op::Pack { elements } => self.pack(elements),
            Op::Extract { vector, index } => self.extract(*vector, *index),
            Op::PermuteBytes { a, b, selector, alternative } => self.permute_bytes(*a, *b, *selector, *alternative),
            Op::PtrAdd { pointer, bytes } => self.ptr_add(*pointer, *bytes),
            Op::Load { pointer, predicate, offset, alignment, other } => {
                let access = LaneAccess::new(*pointer, *predicate, *offset, *alignment);
                self.load(ty, access, *other)
            }
            Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope } => {
                let how = Ordered { predicate: *predicate, order: *order, scope: *scope };
                self.atomic_compare_exchange(*pointer, *expected, *value, how)
            }
            Op::Math { function, operands } => self.math(*function, operands),
            Op::Shuffle { kind: ShuffleMode::Index, value, lane, issuers: Issuers::All } => self.shuffle(*value, *lane),
            Op::ShuffleXor { value, mask, issuers: Issuers::All } => self.shuffle_xor(*value, *mask),
            Op::ReadyToken { queue, value } => {
                let Typed { ty, value, .. } = self.value(*value)?;
                let pending = self.dialect.ready_token(&self.emit, *queue, (ty, value))?;
                Ok(Typed::new(ty.to_pending(), pending))
            }
            other => Err(no_code(other)),
        }
    }

    /// Emits an operation without results, such as a store.
    fn effect(&mut self, op: &Op) -> Result<(), CompileError> {
        match op {
            Op::Store { pointer, value, predicate, offset, alignment } => {
                self.store(LaneAccess::new(*pointer, *predicate, *offset, *alignment), *value)
            }
            Op::Fence { scope } => self.dialect.fence(&self.emit, *scope),
            Op::Assert { condition, predicate, .. } => self.assert(*condition, *predicate),
            Op::Print { prefix, hex, values, index } => self.print(prefix, *hex, values, index.as_deref()),
            Op::GridDependency { wait } => self.dialect.grid_dependency(&self.emit, *wait),
            Op::Barrier { scope, issuers: Issuers::All } => self.dialect.barrier(&self.emit, *scope),
            Op::NamedBarrier { number, warps } => {
                let lanes = warps.saturating_mul(self.kernel.launch.lanes);
                self.dialect.named_barrier(&self.emit, *number, lanes)
            }
            Op::IndexedBarrier { action, number, warps } => {
                let lanes = warps.saturating_mul(self.kernel.launch.lanes);
                self.dialect.indexed_barrier(&self.emit, *action, self.value(*number)?.value, lanes)
            }
            Op::SetMaxRegisters { change, registers } => {
                self.dialect.set_max_registers(&self.emit, *change, *registers)
            }
            Op::Commit { queue } => self.dialect.commit(&self.emit, *queue),
            Op::MbarrierInit { pointer, arrivals } => {
                self.dialect.mbarrier_init(&self.emit, self.shared_pointer(*pointer)?, *arrivals)
            }
            Op::MbarrierArrive { pointer, bytes } => {
                self.dialect.mbarrier_arrive(&self.emit, self.shared_pointer(*pointer)?, *bytes)
            }
            Op::MbarrierWait { pointer, phase } => {
                let (pointer, phase) = (self.shared_pointer(*pointer)?, self.integer(*phase, Element::I32)?);
                self.dialect.mbarrier_wait(&self.emit, pointer, phase)
            }
            Op::MbarrierInvalidate { pointer } => {
                self.dialect.mbarrier_invalidate(&self.emit, self.shared_pointer(*pointer)?)
            }
            Op::MbarrierCommit { queue, pointer } => {
                self.dialect.mbarrier_commit(&self.emit, *queue, self.shared_pointer(*pointer)?)
            }
            Op::TensorAllocate { pointer, columns } => {
                self.dialect.tensor_allocate(&self.emit, self.shared_pointer(*pointer)?, *columns, self.kernel)
            }
            Op::TensorFree { address, columns } => {
                self.dialect.tensor_free(&self.emit, self.integer(*address, Element::I32)?, *columns)
            }
            Op::ProxyFence {} => self.dialect.proxy_fence(&self.emit),
            other => Err(no_code(other)),
        }
    }

    pub(crate) fn special(&mut self, register: SpecialRegister) -> Result<Typed<'ctx>, CompileError> {
        let value = match register {
            SpecialRegister::Lane => self.dialect.lane(&self.emit)?,
            SpecialRegister::Warp => self.dialect.warp(&self.emit)?,
            SpecialRegister::Block => self.dialect.block_in_cluster(&self.emit)?,
            SpecialRegister::Program(axis) if axis < 3 => self.dialect.block_index(&self.emit, axis)?,
            SpecialRegister::Programs(axis) if axis < 3 => self.dialect.grid_size(&self.emit, axis)?,
            SpecialRegister::Program(axis) | SpecialRegister::Programs(axis) => {
                return Err(invalid_module_error(format!("a grid has no axis {axis}")));
            }
        };
        let mut typed = Typed::new(Type::Scalar(Element::I32), value.into());
        typed.thread = self.dialect.thread_index(&self.emit)?.and_then(|_| self.fields_of(register));
        Ok(typed)
    }

    /// Returns the fields of a register whose bits are those of the thread's index.
    pub(crate) fn fields_of(&self, register: SpecialRegister) -> Option<ThreadFields> {
        let launch = self.kernel.launch;
        match register {
            SpecialRegister::Lane => Some(ThreadFields::new(0, launch.lanes - 1)),
            SpecialRegister::Warp => {
                let shift = -(launch.lanes.trailing_zeros() as i32);
                Some(ThreadFields::new(shift, launch.warps.next_power_of_two() - 1))
            }
            _ => None,
        }
    }

    fn shared_address(&mut self, buffer: u32) -> Result<Typed<'ctx>, CompileError> {
        let ty = Type::Pointer(MemorySpace::Shared);
        let offset = self.kernel.shared_offsets().0.get(buffer as usize).copied();
        let offset = offset.ok_or_else(|| invalid_module_error(format!("the kernel has no shared buffer {buffer}")))?;
        let Some(base) = self.shared.map(|global| global.as_pointer_value()) else {
            // All shared buffers are empty, so no access to them is valid, and the address does not matter.
            return Ok(Typed::new(ty, self.llvm_type(ty)?.const_zero()));
        };
        let offset = self.emit.context.i32_type().const_int(offset, false);
        let value = crate::ffi::ptr_add(&self.emit.builder, self.emit.context, base, offset).map_err(builder_error)?;
        Ok(Typed::new(ty, value.as_basic_value_enum()))
    }

    fn cluster_address(&mut self, pointer: Value, block: Value) -> Result<Typed<'ctx>, CompileError> {
        let address = self.shared_pointer(pointer)?;
        let block = self.integer(block, Element::I32)?;
        let ty = Type::Pointer(MemorySpace::Cluster);
        let value = self.dialect.cluster_address(&self.emit, address, block)?;
        if value.get_type() != self.llvm_type(ty)? {
            return Err(CompileError::Backend(format!("the address in a cluster is no {ty}")));
        }
        Ok(Typed::new(ty, value))
    }

    fn instruction(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[(Value, Type)],
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let mut given = Vec::with_capacity(operands.len());
        for &operand in operands {
            let operand = self.value(operand)?;
            given.push((operand.ty, operand.value));
        }
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let values = self.dialect.instruction(&self.emit, name, &given, &types)?;
        let mut typed = Vec::with_capacity(values.len());
        for (ty, value) in types.into_iter().zip(values) {
            if self.llvm_type(ty)? != value.get_type() {
                return Err(CompileError::Backend(format!("instruction `{name}` gave a value that is no {ty}")));
            }
            typed.push(Typed::new(ty, value));
        }
        Ok(typed)
    }
}

fn no_code(op: &Op) -> CompileError {
    unsupported_kernel_error(format!("no code generation for `{}`", op.name()))
}

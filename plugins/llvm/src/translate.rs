//! Translates kernels, values and statements of the kernel IR to LLVM IR; other modules emit single operations.

use std::cell::Cell;
use std::collections::HashSet;

use inkwell::AddressSpace;
use inkwell::basic_block::BasicBlock;
use inkwell::debug_info::DILocation;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::types::{AnyType, BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, InstructionOpcode, IntValue, PointerValue,
};
use inkwell::{GlobalVisibility, attributes::Attribute, attributes::AttributeLoc, context::Context};
use tilewright_kernel::{
    ClockCounter, Element, Issuers, Kernel, MemorySpace, Module, Op, ShuffleMode, SpecialRegister, Type, Value,
};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{
    TypedValue, ValueMap, check_kernel_signatures, generate_body, invalid_module_error, prefix_error_with_kernel_name,
    static_shared_bytes, unsupported_kernel_error,
};

use crate::emitter::{Emitter, builder_error};
use crate::lane_access::LaneAccess;
use crate::lines::Lines;
use crate::ordered::Ordered;
use crate::thread_fields::ThreadFields;
use crate::{
    KernelDeclaration, LlvmTarget, SharedMemoryDeclaration, TargetDialect, TensorMapDeclaration, no_clusters_error,
};

/// Maximum bits of a vector in the kernel IR; more than the registers of a lane can hold.
const MAX_VECTOR_BITS: u64 = 1 << 14;

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

/// Whether a kernel becomes an entry point or a device function in LLVM IR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A kernel entry point, which a launch starts.
    Kernel,
    /// A device function, which all lanes of a block call together from other code.
    Function,
}

impl Role {
    /// Returns the declaration of a kernel for this role. A device function has no launch attributes, and its shared
    /// memory always has a fixed size.
    fn form(self, kernel: KernelDeclaration) -> KernelDeclaration {
        match self {
            Role::Kernel => kernel,
            Role::Function => KernelDeclaration {
                calling_convention: 0,
                metadata: Vec::new(),
                protected: false,
                shared: SharedMemoryDeclaration::Static,
                ..kernel
            },
        }
    }
}

/// Adds the LLVM function of every kernel of `source` to `module`.
pub(crate) fn translate<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    dialect: &dyn TargetDialect,
    target: &LlvmTarget,
    source: &Module,
    role: Role,
) -> Result<(), CompileError> {
    check_kernel_signatures(source)?;
    // All functions are declared before any body, so that no other symbol can take a kernel's name.
    let mut functions = Vec::with_capacity(source.kernels.len());
    for kernel in &source.kernels {
        let form = role.form(dialect.kernel(kernel)?);
        functions.push((declare(context, module, target, kernel, &form)?, form));
    }
    let mut lines = Lines::new(context, module, source);
    for (kernel, (function, form)) in source.kernels.iter().zip(&functions) {
        let shared = shared_memory(context, module, target, kernel, form.shared)?;
        let (builder, synchronizations) = (context.create_builder(), Cell::new(0));
        let emit = Emitter { context, module, builder, launch: kernel.launch, synchronizations };
        let lines = lines.as_mut().map(|lines| lines.locate(kernel, *function)).unwrap_or_default();
        let values = ValueMap::default();
        let mut body = Body {
            emit,
            dialect,
            target,
            kernel,
            function: *function,
            shared,
            values,
            stores: 0,
            global_stores: 0,
            ends_with_loads: false,
            division: None,
            used: used_values(kernel),
            lines,
        };
        body.run().map_err(|error| prefix_error_with_kernel_name(error, kernel))?;
    }
    if let Some(lines) = lines {
        lines.finish();
    }
    Ok(())
}

/// Returns the values that are operands, in a kernel with atomic updates; none for others.
fn used_values(kernel: &Kernel) -> HashSet<Value> {
    let statements = kernel.statements();
    match statements.iter().any(|statement| matches!(statement.op, Op::AtomicRmw { .. })) {
        true => statements.iter().flat_map(|statement| statement.op.operands()).collect(),
        false => HashSet::new(),
    }
}

fn declare<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    target: &LlvmTarget,
    kernel: &Kernel,
    form: &KernelDeclaration,
) -> Result<FunctionValue<'ctx>, CompileError> {
    let name = &kernel.name;
    let mut parameters: Vec<BasicMetadataTypeEnum> = Vec::with_capacity(kernel.parameters.len());
    for parameter in &kernel.parameters {
        if parameter.ty == Type::TensorMap && form.map.is_none() {
            let parameter = &parameter.name;
            return Err(unsupported_kernel_error(format!(
                "kernel `{name}`: parameter `{parameter}`: no tensor maps on this target"
            )));
        }
        parameters.push(llvm_type(context, target, parameter.ty)?.into());
    }
    let function = module.add_function(name, context.void_type().fn_type(&parameters, false), None);
    function.set_call_conventions(form.calling_convention);
    if form.protected {
        function.as_global_value().set_visibility(GlobalVisibility::Protected);
    }
    for flag in ["convergent", "nounwind"] {
        let kind = Attribute::get_named_enum_kind_id(flag);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    for (key, value) in &form.attributes {
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute(key, value));
    }
    for (key, values) in &form.metadata {
        let constant = |&value: &u32| context.i32_type().const_int(u64::from(value), false).into();
        let node = context.metadata_node(&values.iter().map(constant).collect::<Vec<_>>());
        function.as_global_value().set_metadata(node, context.get_kind_id(key));
    }
    for (number, parameter) in (0..).zip(&kernel.parameters) {
        if let (Type::TensorMap, Some(form)) = (parameter.ty, &form.map) {
            pass_by_value(context, function, number, form);
        }
    }
    Ok(function)
}

/// Marks the pointer parameter `number` as passed by value (`byval`): the caller passes the bytes that it points to.
fn pass_by_value<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    number: u32,
    form: &TensorMapDeclaration,
) {
    let kind = Attribute::get_named_enum_kind_id;
    let bytes = context.i8_type().array_type(form.bytes).as_any_type_enum();
    let attribute_location = AttributeLoc::Param(number);
    function.add_attribute(attribute_location, context.create_type_attribute(kind("byval"), bytes));
    function.add_attribute(attribute_location, context.create_enum_attribute(kind("align"), u64::from(form.alignment)));
    for (key, value) in &form.attributes {
        function.add_attribute(attribute_location, context.create_string_attribute(key, value));
    }
}

/// Creates one array that holds all shared buffers of a kernel at the offsets that the kernel IR gives; `None` if the
/// kernel has no shared memory.
fn shared_memory<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    target: &LlvmTarget,
    kernel: &Kernel,
    form: SharedMemoryDeclaration,
) -> Result<Option<GlobalValue<'ctx>>, CompileError> {
    let bytes = static_shared_bytes(kernel)?;
    if bytes == 0 {
        return Ok(None);
    }
    let too_much = || CompileError::Invalid(format!("kernel `{}`: {bytes} bytes of shared memory", kernel.name));
    let length = match form {
        SharedMemoryDeclaration::Static => u32::try_from(bytes).map_err(|_| too_much())?,
        SharedMemoryDeclaration::Dynamic => 0,
    };
    let ty = context.i8_type().array_type(length);
    let name = format!("{}_shared", kernel.name);
    let global = module.add_global(ty, Some(AddressSpace::from(target.shared)), &name);
    global.set_alignment(kernel.shared.iter().map(|buffer| buffer.alignment).max().unwrap_or(1));
    match form {
        SharedMemoryDeclaration::Static => {
            global.set_linkage(Linkage::Internal);
            global.set_initializer(&ty.get_poison());
        }
        SharedMemoryDeclaration::Dynamic => global.set_linkage(Linkage::External),
    }
    Ok(Some(global))
}

/// Returns the LLVM type of a kernel-IR type.
pub(crate) fn llvm_type<'ctx>(
    context: &'ctx Context,
    target: &LlvmTarget,
    ty: Type,
) -> Result<BasicTypeEnum<'ctx>, CompileError> {
    match ty {
        Type::Scalar(element) => Ok(llvm_element(context, element)),
        Type::Vector(element, count) => {
            if count < 2 || !count.is_power_of_two() {
                return Err(CompileError::Invalid(format!(
                    "{ty}: a vector has a power of two, at least 2, of elements"
                )));
            }
            if u64::from(element.bits()) * u64::from(count) > MAX_VECTOR_BITS {
                return Err(CompileError::Unsupported(format!("{ty}: vectors wider than {MAX_VECTOR_BITS} bits")));
            }
            Ok(match llvm_element(context, element) {
                BasicTypeEnum::FloatType(element) => element.vec_type(count).into(),
                BasicTypeEnum::IntType(element) => element.vec_type(count).into(),
                other => other,
            })
        }
        // The result of an asynchronous instruction has the type that it has after the wait, because it is used only
        // after the wait.
        Type::Pending(..) => llvm_type(context, target, ty.after_wait()),
        Type::Pointer(space) => Ok(context.ptr_type(AddressSpace::from(address_space(target, space)?)).into()),
        // A tensor map is represented by the address of the parameter's bytes.
        Type::TensorMap => Ok(context.ptr_type(AddressSpace::default()).into()),
    }
}

fn address_space(target: &LlvmTarget, space: MemorySpace) -> Result<u16, CompileError> {
    match space {
        MemorySpace::Global => Ok(target.global),
        MemorySpace::Shared => Ok(target.shared),
        MemorySpace::Cluster => target.cluster.ok_or_else(no_clusters_error),
    }
}

pub(crate) fn llvm_element(context: &Context, element: Element) -> BasicTypeEnum<'_> {
    match element {
        Element::I1 => context.bool_type().into(),
        Element::I8 => context.i8_type().into(),
        Element::I16 => context.i16_type().into(),
        Element::I32 => context.i32_type().into(),
        Element::I64 => context.i64_type().into(),
        Element::F16 => context.f16_type().into(),
        Element::Bf16 => context.bf16_type().into(),
        Element::F32 => context.f32_type().into(),
        Element::F64 => context.f64_type().into(),
    }
}

/// The state of the translation of one kernel's body.
pub(crate) struct Body<'a, 'ctx> {
    pub(crate) emit: Emitter<'a, 'ctx>,
    pub(crate) dialect: &'a dyn TargetDialect,
    pub(crate) target: &'a LlvmTarget,
    pub(crate) kernel: &'a Kernel,
    pub(crate) function: FunctionValue<'ctx>,
    shared: Option<GlobalValue<'ctx>>,
    pub(crate) values: ValueMap<Typed<'ctx>>,
    /// Number of unconditional stores since the last interruption of a sequence of stores; see `STORES_TOGETHER`.
    pub(crate) stores: usize,
    /// Stores to global memory so far.
    pub(crate) global_stores: usize,
    /// Whether the current block of a branch has loads from global memory.
    pub(crate) ends_with_loads: bool,
    /// The last division by a hidden divisor.
    pub(crate) division: Option<Division<'ctx>>,
    /// The values that are operands, in a kernel with atomic updates; empty in others.
    used: HashSet<Value>,
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
    fn run(&mut self) -> Result<(), CompileError> {
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
    fn fields_of(&self, register: SpecialRegister) -> Option<ThreadFields> {
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

//! Kernels, values and statements: the part of the translation that the others hang from.

use std::collections::HashMap;

use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::types::{AnyType, BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue};
use inkwell::{GlobalVisibility, attributes::Attribute, attributes::AttributeLoc, context::Context};
use tilewright_kernel::{
    Element, Exchange, Issuers, Kernel, MemorySpace, Module, Op, SpecialRegister, Statement, Type, Value,
};
use tilewright_plugin::CompileError;

use crate::emitter::{Emitter, refused};
use crate::ordered::Ordered;
use crate::{Dialect, KernelForm, LlvmTarget, MapForm, SharedForm, no_clusters, shared_bytes};

/// A vector may be this wide at most: more than any lane can hold in registers.
const MAX_VECTOR_BITS: u64 = 1 << 14;

/// A value of the kernel IR in LLVM, with its type in the kernel IR.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed<'ctx> {
    pub(crate) ty: Type,
    pub(crate) value: BasicValueEnum<'ctx>,
}

/// What a kernel becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What a launch begins with.
    Kernel,
    /// What code on the device calls, every lane of the block together.
    Function,
}

impl Role {
    /// How a kernel of this form is declared. Only the module that is launched says what is asked of a launch, so a function's shared memory
    /// is an array of its own.
    fn form(self, kernel: KernelForm) -> KernelForm {
        match self {
            Role::Kernel => kernel,
            Role::Function => KernelForm {
                calling_convention: 0,
                metadata: Vec::new(),
                protected: false,
                shared: SharedForm::Static,
                ..kernel
            },
        }
    }
}

/// Adds every kernel of `source` to `module`.
pub(crate) fn translate<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    dialect: &dyn Dialect,
    machine: &LlvmTarget,
    source: &Module,
    role: Role,
) -> Result<(), CompileError> {
    // All functions first, so that no other symbol can take a kernel's name.
    let mut functions = Vec::with_capacity(source.kernels.len());
    for kernel in &source.kernels {
        let form = role.form(dialect.kernel(kernel)?);
        functions.push((declare(context, module, machine, kernel, &form)?, form));
    }
    for (kernel, (function, form)) in source.kernels.iter().zip(&functions) {
        let shared = shared_memory(context, module, machine, kernel, form.shared)?;
        let emit = Emitter { context, module, builder: context.create_builder(), launch: kernel.launch };
        let mut body = Body {
            emit,
            dialect,
            machine,
            kernel,
            function: *function,
            shared,
            values: HashMap::new(),
            constants: HashMap::new(),
            visible: Vec::new(),
            depth: 0,
            stores: 0,
            place: (0, "body"),
        };
        body.run()?;
    }
    Ok(())
}

fn declare<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    machine: &LlvmTarget,
    kernel: &Kernel,
    form: &KernelForm,
) -> Result<FunctionValue<'ctx>, CompileError> {
    let name = &kernel.name;
    let fail = |message: &str| CompileError::Invalid(format!("kernel `{name}`: {message}"));
    if !is_identifier(name) {
        return Err(fail("a name has letters, digits and underscores and does not begin with a digit"));
    }
    if module.get_function(name).is_some() {
        return Err(fail("another kernel of the module has the same name"));
    }
    let mut parameters: Vec<BasicMetadataTypeEnum> = Vec::with_capacity(kernel.parameters.len());
    for parameter in &kernel.parameters {
        match parameter.ty {
            Type::Scalar(_) | Type::Pointer(MemorySpace::Global) => {
                parameters.push(llvm_type(context, machine, parameter.ty)?.into());
            }
            Type::TensorMap if form.map.is_some() => {
                parameters.push(llvm_type(context, machine, parameter.ty)?.into());
            }
            Type::TensorMap => {
                let message = format!("kernel `{name}`: parameter `{}`: no maps of tensors here", parameter.name);
                return Err(CompileError::Unsupported(message));
            }
            other => return Err(fail(&format!("parameter `{}` cannot be a {other}", parameter.name))),
        }
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

/// A parameter that is a pointer becomes the bytes that it points to.
fn pass_by_value<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, number: u32, form: &MapForm) {
    let kind = Attribute::get_named_enum_kind_id;
    let bytes = context.i8_type().array_type(form.bytes).as_any_type_enum();
    let place = AttributeLoc::Param(number);
    function.add_attribute(place, context.create_type_attribute(kind("byval"), bytes));
    function.add_attribute(place, context.create_enum_attribute(kind("align"), u64::from(form.alignment)));
    for (key, value) in &form.attributes {
        function.add_attribute(place, context.create_string_attribute(key, value));
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

/// One array for all shared buffers of a kernel, so that they lie as the kernel IR says.
fn shared_memory<'ctx>(
    context: &'ctx Context,
    module: &LlvmModule<'ctx>,
    machine: &LlvmTarget,
    kernel: &Kernel,
    form: SharedForm,
) -> Result<Option<GlobalValue<'ctx>>, CompileError> {
    let bytes = shared_bytes(kernel)?;
    if bytes == 0 {
        return Ok(None);
    }
    let too_much = || CompileError::Invalid(format!("kernel `{}`: {bytes} bytes of shared memory", kernel.name));
    let length = match form {
        SharedForm::Static => u32::try_from(bytes).map_err(|_| too_much())?,
        SharedForm::Dynamic => 0,
    };
    let ty = context.i8_type().array_type(length);
    let name = format!("{}_shared", kernel.name);
    let global = module.add_global(ty, Some(AddressSpace::from(machine.shared)), &name);
    global.set_alignment(kernel.shared.iter().map(|buffer| buffer.alignment).max().unwrap_or(1));
    match form {
        SharedForm::Static => {
            global.set_linkage(Linkage::Internal);
            global.set_initializer(&ty.get_poison());
        }
        SharedForm::Dynamic => global.set_linkage(Linkage::External),
    }
    Ok(Some(global))
}

/// The LLVM type of a value.
pub(crate) fn llvm_type<'ctx>(
    context: &'ctx Context,
    machine: &LlvmTarget,
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
        // Registers that an instruction will have written; whoever reads them has waited.
        Type::Pending(..) => llvm_type(context, machine, ty.awaited()),
        Type::Pointer(space) => Ok(context.ptr_type(AddressSpace::from(address_space(machine, space)?)).into()),
        // Where the bytes of the parameter are.
        Type::TensorMap => Ok(context.ptr_type(AddressSpace::default()).into()),
    }
}

fn address_space(machine: &LlvmTarget, space: MemorySpace) -> Result<u16, CompileError> {
    match space {
        MemorySpace::Global => Ok(machine.global),
        MemorySpace::Shared => Ok(machine.shared),
        MemorySpace::Cluster => machine.cluster.ok_or_else(no_clusters),
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

/// The translation of one kernel's body.
pub(crate) struct Body<'a, 'ctx> {
    pub(crate) emit: Emitter<'a, 'ctx>,
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) machine: &'a LlvmTarget,
    pub(crate) kernel: &'a Kernel,
    pub(crate) function: FunctionValue<'ctx>,
    shared: Option<GlobalValue<'ctx>>,
    values: HashMap<Value, Typed<'ctx>>,
    /// Bits of each element, for values that are constants.
    constants: HashMap<Value, u64>,
    /// Values that can be used here, in the order of their definitions; a region's are cut off at
    /// its end.
    visible: Vec<Value>,
    /// Regions around the current statement.
    pub(crate) depth: usize,
    /// Stores without a condition so far.
    pub(crate) stores: usize,
    /// Number and name of the current statement, for messages.
    place: (usize, &'static str),
}

impl<'a, 'ctx> Body<'a, 'ctx> {
    fn run(&mut self) -> Result<(), CompileError> {
        let entry = self.emit.context.append_basic_block(self.function, "entry");
        self.emit.builder.position_at_end(entry);
        if !self.kernel.body.arguments.is_empty() {
            return Err(self.invalid("the body of a kernel has no arguments; its parameters are values 0, 1, ..."));
        }
        for (index, parameter) in self.kernel.parameters.iter().enumerate() {
            let value =
                u32::try_from(index).ok().and_then(|index| Some((Value(index), self.function.get_nth_param(index)?)));
            let Some((number, value)) = value else { return Err(self.invalid("too many parameters")) };
            self.define(number, Typed { ty: parameter.ty, value })?;
        }
        let kernel = self.kernel;
        for statement in &kernel.body.statements {
            self.statement(statement)?;
        }
        self.emit.builder.build_return(None).map_err(refused)?;
        Ok(())
    }

    /// An error of the module at the current statement.
    pub(crate) fn invalid(&self, message: impl std::fmt::Display) -> CompileError {
        let (number, name) = self.place;
        CompileError::Invalid(format!("kernel `{}`, statement {number} ({name}): {message}", self.kernel.name))
    }

    /// Something that this translation has no code for.
    pub(crate) fn unsupported(&self, message: impl std::fmt::Display) -> CompileError {
        let (number, name) = self.place;
        CompileError::Unsupported(format!("kernel `{}`, statement {number} ({name}): {message}", self.kernel.name))
    }

    /// The error of a vendor's hook, at the current statement.
    pub(crate) fn placed(&self, error: CompileError) -> CompileError {
        match error {
            CompileError::Invalid(message) => self.invalid(message),
            CompileError::Unsupported(message) => self.unsupported(message),
            other => other,
        }
    }

    pub(crate) fn llvm_type(&self, ty: Type) -> Result<BasicTypeEnum<'ctx>, CompileError> {
        llvm_type(self.emit.context, self.machine, ty).map_err(|error| self.placed(error))
    }

    pub(crate) fn define(&mut self, number: Value, value: Typed<'ctx>) -> Result<(), CompileError> {
        if self.values.insert(number, value).is_some() {
            return Err(self.invalid(format!("value {} is defined twice", number.0)));
        }
        self.visible.push(number);
        Ok(())
    }

    /// Runs `inner` in a scope of its own: what it defines cannot be used afterwards.
    pub(crate) fn scoped<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let outside = self.visible.len();
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        for number in self.visible.drain(outside..) {
            self.values.remove(&number);
            self.constants.remove(&number);
        }
        result
    }

    pub(crate) fn value(&self, number: Value) -> Result<Typed<'ctx>, CompileError> {
        let value = self.values.get(&number).copied();
        value.ok_or_else(|| self.invalid(format!("value {} is not defined here", number.0)))
    }

    /// A value that must have the given type.
    pub(crate) fn value_of(&self, number: Value, ty: Type) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let found = self.value(number)?;
        if found.ty == ty {
            return Ok(found.value);
        }
        Err(self.invalid(format!("value {} is a {}; a {ty} is needed", number.0, found.ty)))
    }

    /// A value that must be an integer scalar of the given element.
    pub(crate) fn integer(&self, number: Value, element: Element) -> Result<IntValue<'ctx>, CompileError> {
        match self.value_of(number, Type::Scalar(element))? {
            BasicValueEnum::IntValue(value) => Ok(value),
            _ => Err(self.invalid(format!("value {} is no integer", number.0))),
        }
    }

    pub(crate) fn pointer(&self, number: Value) -> Result<(MemorySpace, PointerValue<'ctx>), CompileError> {
        match self.value(number)? {
            Typed { ty: Type::Pointer(space), value: BasicValueEnum::PointerValue(value) } => Ok((space, value)),
            other => Err(self.invalid(format!("value {} is a {}; a pointer is needed", number.0, other.ty))),
        }
    }

    /// A pointer that must be to shared memory.
    fn shared_pointer(&self, number: Value) -> Result<PointerValue<'ctx>, CompileError> {
        match self.pointer(number)? {
            (MemorySpace::Shared, address) => Ok(address),
            (space, _) => {
                Err(self.invalid(format!("value {} points to {} memory, not to shared", number.0, space.name())))
            }
        }
    }

    pub(crate) fn statement(&mut self, statement: &Statement) -> Result<(), CompileError> {
        self.place = (self.place.0 + 1, statement.op.name());
        let here = self.place;
        let values = self.operation(statement)?;
        self.place = (self.place.0, here.1);
        if values.len() != statement.results.len() {
            let (given, named) = (values.len(), statement.results.len());
            return Err(self.invalid(format!("gives {given} results, {named} are named")));
        }
        for (&(number, ty), value) in statement.results.iter().zip(values) {
            if ty != value.ty {
                return Err(self.invalid(format!("result {} is declared a {ty} but is a {}", number.0, value.ty)));
            }
            self.define(number, value)?;
            if let Op::Constant { bits } = statement.op {
                self.constants.insert(number, bits);
            }
        }
        Ok(())
    }

    /// The bits of each element of a value that is a constant.
    pub(crate) fn constant_bits(&self, number: Value) -> Option<u64> {
        self.constants.get(&number).copied()
    }

    /// Appends one operation and gives its results.
    fn operation(&mut self, statement: &Statement) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let declared = |index: usize| statement.results.get(index).map(|&(_, ty)| ty);
        let result = |body: &Self| declared(0).ok_or_else(|| body.invalid("names no result"));
        let one = |value: Typed<'ctx>| Ok(vec![value]);
        match &statement.op {
            Op::Constant { bits } => one(self.constant(result(self)?, *bits)?),
            Op::Special(register) => one(self.special(*register)?),
            Op::SharedAddress { buffer } => one(self.shared_address(*buffer)?),
            Op::ClusterAddress { pointer, block } => one(self.cluster_address(*pointer, *block)?),
            Op::Unary { op, a } => one(self.unary(*op, *a)?),
            Op::Binary { op, a, b } => one(self.binary(*op, *a, *b)?),
            Op::FMulAdd { a, b, c } => one(self.f_mul_add(*a, *b, *c)?),
            Op::Compare { op, a, b } => one(self.compare(*op, *a, *b)?),
            Op::Select { condition, a, b } => one(self.select(*condition, *a, *b)?),
            Op::Same { value, .. } => one(self.value(*value)?),
            Op::Cast { op, a } => one(self.cast(*op, *a, result(self)?)?),
            Op::Pack { elements } => one(self.pack(elements)?),
            Op::Extract { vector, index } => one(self.extract(*vector, *index)?),
            Op::PermuteBytes { a, b, selector, alternative } => {
                one(self.permute_bytes(*a, *b, *selector, *alternative)?)
            }
            Op::Advance { pointer, bytes } => one(self.advance(*pointer, *bytes)?),
            Op::Load { pointer, predicate, offset, alignment } => {
                one(self.load(result(self)?, *pointer, *predicate, *offset, *alignment)?)
            }
            Op::Store { pointer, value, predicate, offset, alignment } => {
                self.store(*pointer, *value, *predicate, *offset, *alignment)?;
                Ok(Vec::new())
            }
            Op::AtomicRmw { op, pointer, value, predicate, order, scope } => {
                let how = Ordered { predicate: *predicate, order: *order, scope: *scope };
                one(self.atomic_rmw(*op, *pointer, *value, how)?)
            }
            Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope } => {
                let how = Ordered { predicate: *predicate, order: *order, scope: *scope };
                one(self.atomic_compare_exchange(*pointer, *expected, *value, how)?)
            }
            Op::Fence { scope } => self.fence(*scope).map(|()| Vec::new()),
            Op::Math { function, operands } => one(self.math(*function, operands)?),
            Op::Assert { condition, predicate, .. } => self.assert(*condition, *predicate).map(|()| Vec::new()),
            Op::Print { prefix, hex, values } => self.print(prefix, *hex, values).map(|()| Vec::new()),
            Op::Assembly { text, constraints, operands } => {
                self.assembly((text, constraints), operands, &statement.results)
            }
            Op::GridDependency { wait } => {
                let ordered = self.dialect.grid_dependency(&self.emit, *wait);
                ordered.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::Exchange { kind: Exchange::Index, value, lane, issuers: Issuers::All } => {
                one(self.exchange(*value, *lane)?)
            }
            Op::ExchangeXor { value, mask, issuers: Issuers::All } => one(self.exchange_xor(*value, *mask)?),
            Op::Swap { a, b, lane, issuers: Issuers::All } => self.swap(*a, *b, *lane),
            Op::Barrier { scope, issuers: Issuers::All } => {
                self.dialect.barrier(&self.emit, *scope).map_err(|error| self.placed(error))?;
                Ok(Vec::new())
            }
            Op::GroupBarrier { number, warps } => {
                let lanes = warps.saturating_mul(self.kernel.launch.lanes);
                let met = self.dialect.group_barrier(&self.emit, *number, lanes);
                met.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::Pend { queue, value } => {
                let Typed { ty, value } = self.value(*value)?;
                let pending = self.dialect.pend(&self.emit, *queue, (ty, value)).map_err(|error| self.placed(error))?;
                Ok(vec![Typed { ty: ty.pending(), value: pending }])
            }
            Op::Commit { queue } => {
                self.dialect.commit(&self.emit, *queue).map_err(|error| self.placed(error))?;
                Ok(Vec::new())
            }
            Op::Wait { queue, outstanding, values } => self.wait(*queue, *outstanding, values),
            Op::MbarrierInit { pointer, arrivals } => {
                let pointer = self.shared_pointer(*pointer)?;
                let made = self.dialect.mbarrier_init(&self.emit, pointer, *arrivals);
                made.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::MbarrierArrive { pointer, bytes } => {
                let pointer = self.shared_pointer(*pointer)?;
                let arrived = self.dialect.mbarrier_arrive(&self.emit, pointer, *bytes);
                arrived.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::MbarrierWait { pointer, phase } => {
                let (pointer, phase) = (self.shared_pointer(*pointer)?, self.integer(*phase, Element::I32)?);
                let awaited = self.dialect.mbarrier_wait(&self.emit, pointer, phase);
                awaited.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::MbarrierCommit { queue, pointer } => {
                let pointer = self.shared_pointer(*pointer)?;
                let committed = self.dialect.mbarrier_commit(&self.emit, *queue, pointer);
                committed.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::TensorAllocate { pointer, columns } => {
                let pointer = self.shared_pointer(*pointer)?;
                let allotted = self.dialect.tensor_allocate(&self.emit, pointer, *columns, self.kernel);
                allotted.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::TensorFree { address, columns } => {
                let address = self.integer(*address, Element::I32)?;
                let freed = self.dialect.tensor_free(&self.emit, address, *columns);
                freed.map_err(|error| self.placed(error)).map(|()| Vec::new())
            }
            Op::ProxyFence {} => {
                self.dialect.proxy_fence(&self.emit).map_err(|error| self.placed(error))?;
                Ok(Vec::new())
            }
            Op::Instruction { name, operands } => self.instruction(name, operands, &statement.results),
            Op::If { condition, then, otherwise } => self.if_else(*condition, then, otherwise, &statement.results),
            Op::For { from, to, step, carried, body } => self.for_loop([*from, *to, *step], carried, body),
            Op::While { carried, body } => self.while_loop(carried, body),
            Op::Yield { .. } => Err(self.invalid("stands only at the end of a region of `if`, `for` or `while`")),
            other => Err(self.unsupported(format!("no code generation for `{}`", other.name()))),
        }
    }

    pub(crate) fn special(&mut self, register: SpecialRegister) -> Result<Typed<'ctx>, CompileError> {
        let value = match register {
            SpecialRegister::Lane => self.dialect.lane(&self.emit)?,
            SpecialRegister::Warp => self.dialect.warp(&self.emit)?,
            SpecialRegister::Block => self.dialect.block(&self.emit).map_err(|error| self.placed(error))?,
            SpecialRegister::Program(axis) if axis < 3 => self.dialect.program(&self.emit, axis)?,
            SpecialRegister::Programs(axis) if axis < 3 => {
                self.dialect.programs(&self.emit, axis).map_err(|error| self.placed(error))?
            }
            SpecialRegister::Program(axis) | SpecialRegister::Programs(axis) => {
                return Err(self.invalid(format!("a grid has no axis {axis}")));
            }
        };
        Ok(Typed { ty: Type::Scalar(Element::I32), value: value.into() })
    }

    fn shared_address(&mut self, buffer: u32) -> Result<Typed<'ctx>, CompileError> {
        let ty = Type::Pointer(MemorySpace::Shared);
        let offset = self.kernel.shared_offsets().0.get(buffer as usize).copied();
        let offset = offset.ok_or_else(|| self.invalid(format!("the kernel has no shared buffer {buffer}")))?;
        let Some(base) = self.shared.map(|global| global.as_pointer_value()) else {
            // Only empty buffers: any address will do, nothing may be read there.
            return Ok(Typed { ty, value: self.llvm_type(ty)?.const_zero() });
        };
        let offset = self.emit.context.i32_type().const_int(offset, false);
        let value = crate::ffi::advance(&self.emit.builder, self.emit.context, base, offset).map_err(refused)?;
        Ok(Typed { ty, value: value.as_basic_value_enum() })
    }

    fn cluster_address(&mut self, pointer: Value, block: Value) -> Result<Typed<'ctx>, CompileError> {
        let address = self.shared_pointer(pointer)?;
        let block = self.integer(block, Element::I32)?;
        let ty = Type::Pointer(MemorySpace::Cluster);
        let value = self.dialect.cluster_address(&self.emit, address, block).map_err(|error| self.placed(error))?;
        if value.get_type() != self.llvm_type(ty)? {
            return Err(CompileError::Backend(format!("the address in a cluster is no {ty}")));
        }
        Ok(Typed { ty, value })
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
            typed.push(Typed { ty, value });
        }
        Ok(typed)
    }
}

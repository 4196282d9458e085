//! Translates modules of the kernel IR to LLVM IR: declares the function of each kernel and its shared memory.

use std::cell::Cell;
use std::collections::HashSet;

use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::types::{AnyType, BasicMetadataTypeEnum};
use inkwell::values::{FunctionValue, GlobalValue};
use inkwell::{GlobalVisibility, attributes::Attribute, attributes::AttributeLoc, context::Context};
use tilewright_kernel::{Kernel, Module, Op, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{
    ValueMap, check_kernel_signatures, prefix_error_with_kernel_name, static_shared_bytes, unsupported_kernel_error,
};

use crate::body::Body;
use crate::emitter::Emitter;
use crate::float::find_extended_to_integers;
use crate::lines::Lines;
use crate::scalar_base::ScalarBases;
use crate::types::llvm_type;
use crate::{KernelDeclaration, LlvmTarget, SharedMemoryDeclaration, TargetDialect, TensorMapDeclaration};

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
            loops: Vec::new(),
            division: None,
            used: used_values(kernel),
            predicated: Cell::new(None),
            scalar_bases: ScalarBases::find(kernel),
            extended_to_integers: find_extended_to_integers(kernel),
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

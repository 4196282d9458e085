//! Lowers a function of a tile program to a kernel.

use std::collections::HashMap;

use tilewright_assign::LaunchConfig;
use tilewright_kernel::{Builder, Compare, Element, Kernel, MemorySpace, Parameter, StaticLaunchConfig, Type, Value};
use tilewright_target::Optimization;
use tilewright_tile as tile;

use crate::registers::{emit_register_dump, emit_tensor_load};
use crate::shared_memory;
use crate::sink_loads::sink_loads;

use super::asynchronous;
use super::error::{LowerError, LowerErrorReason, Lowered};
use super::groups::{self, Groups};
use super::input::LoweringInput;
use super::lowered::{LoweredValue, Registers, TensorDescriptor};
use super::lowering::Lowering;
use super::memory::{find_accesses_to_order, from_memory, to_memory};
use super::pending;
use super::tensor_copies::{TensorCopyPlanner, has_stores};
use super::tensor_memory;
use super::types::{carrier, stored};

const GLOBAL_POINTER: Type = Type::Pointer(MemorySpace::Global);

/// Lowers a function to a kernel.
///
/// The parameters are those of the function: numbers (an `i1` as a byte), and pointers to global memory. A tensor
/// descriptor becomes a pointer, the size along each axis (`i32`), and the stride along each axis in elements (`i64`).
/// After these parameters come the tensor maps for bulk tensor copies, which the launch derives from the parameters.
///
/// A tensor argument is row-major in global memory (the last axis fastest), and a pointer to it is the parameter. Each
/// tensor that the function returns adds a pointer after the arguments. It receives, for block `b`, register `r` and
/// thread `t` of a block of `T` threads with `R` registers, the element at index `(b * R + r) * T + t`, so that every
/// position of the layout is visible, replicas too. Threads are numbered lanes first; blocks of a cluster are programs
/// along axis 0.
///
/// # Errors
/// [`LowerError`] if an operation cannot be lowered; it names the first such operation.
pub fn lower_function(program: &LoweringInput<'_>) -> Result<Kernel, LowerError> {
    let context = program.config.context;
    let (mut kernel, mut scratch) = (lower_once(program)?, context.scratch_bytes);
    // Conversions and reductions go through less memory in more rounds if the tensors leave no more.
    while kernel.shared_bytes() > context.target.shared.bytes.into() && scratch > 0 {
        scratch /= 2;
        let config = LaunchConfig { context: context.with_scratch_bytes(scratch), ..*program.config };
        match lower_once(&LoweringInput { config: &config, ..*program }) {
            Ok(smaller) => kernel = smaller,
            Err(_) => break,
        }
    }
    Ok(kernel)
}

/// Lowers a function to a kernel whose data movements take at most the scratch memory of the context each.
fn lower_once(program: &LoweringInput<'_>) -> Result<Kernel, LowerError> {
    let function = program.function;
    let failed = |reason: LowerErrorReason| LowerError::for_function(&function.name, function.location.at, reason);
    let Some(body) = &function.body else {
        return Err(failed(LowerErrorReason::malformed("the function is a declaration without a body")));
    };
    let &[entry] = body.blocks(body.root()) else {
        return Err(failed(LowerErrorReason::malformed("the function has branches; control flow must be structured")));
    };
    let groups = Groups::of(body, entry, program.config).map_err(|(op, reason)| reason.at(body, op))?;
    let groups = groups.unwrap_or_default();
    let configs: Vec<LaunchConfig<'_>> =
        groups.warps.iter().skip(1).map(|&warps| LaunchConfig { warps, ..*program.config }).collect();
    let arguments = body.arguments(entry);
    let FunctionParameters { list: mut parameters, numbers, first_result } =
        FunctionParameters::of(program, body, arguments).map_err(failed)?;
    let tensor_parameter_count = parameters.len();
    let LoweringInput { axis_info, layouts, config, .. } = *program;
    let (tensor_copies, maps) = TensorCopyPlanner { body, axis_info, layouts, config, parameters: &numbers }
        .plan_tensor_copies(tensor_parameter_count)?;
    parameters.extend(maps);
    let context = &program.config.context;
    let launch = StaticLaunchConfig::new(program.config.lanes, program.config.warps)
        .with_registers(groups.launch_registers().or(context.registers).unwrap_or(0))
        .with_blocks(context.blocks);
    let mut builder = Builder::with_parameters(&kernel_name(&function.name), launch, parameters);
    // Operations of the kernel that come from no operation of the program, such as reading an argument, get the
    // function's location.
    builder.set_location(function.location.written.as_deref());
    let mut lowering = Lowering::new(body, program, builder);
    lowering.groups = groups;
    lowering.tensor_copies = tensor_copies;
    if has_stores(body) {
        lowering.set_read_by_async_proxy();
    }
    lowering.read_arguments(arguments, &numbers, first_result).map_err(failed)?;
    tensor_memory::find_dots(&mut lowering);
    lowering.ordered_accesses = find_accesses_to_order(&lowering);
    lowering.plan_asynchronous(&configs, program.config);
    tensor_memory::start(&mut lowering);
    if lowering.has_groups() {
        groups::lowered(&mut lowering, entry, &configs)?;
        lowering.annotations.partings = lowering.groups.conditions().to_vec();
    } else {
        let end = lowering.block(entry)?;
        asynchronous::finished(&mut lowering);
        tensor_memory::finish(&mut lowering);
        let results = end.map_or(&[][..], |end| &body.op(end).operands);
        let tensors = results.iter().filter(|&&result| body.value_type(result).as_tensor().is_some());
        for (parameter, &result) in (first_result..).zip(tensors) {
            lowering.write_result(result, parameter).map_err(failed)?;
        }
    }
    allocate(lowering, program.config).map_err(failed)
}

/// The parameters of a kernel for the arguments and the results of a function.
struct FunctionParameters {
    list: Vec<Parameter>,
    /// The first parameter of each argument.
    numbers: HashMap<tile::Value, u32>,
    /// The number of the first result's parameter.
    first_result: u32,
}

impl FunctionParameters {
    fn of(program: &LoweringInput<'_>, body: &tile::FunctionBody, arguments: &[tile::Value]) -> Lowered<Self> {
        let (mut list, mut numbers) = (Vec::new(), HashMap::new());
        for (number, &argument) in arguments.iter().enumerate() {
            let name = body.value_name(argument).map_or_else(|| format!("arg{number}"), str::to_owned);
            numbers.insert(argument, list.len() as u32);
            let parameters = parameters_of(&name, body.value_type(argument))?;
            list.extend(parameters.iter().map(|(name, ty)| Parameter::scalar_or_pointer(name, *ty)));
        }
        let first_result = list.len() as u32;
        let results = program.function.signature.results.iter().filter(|ty| ty.as_tensor().is_some());
        list.extend(results.map(|_| Parameter::scalar_or_pointer("registers", GLOBAL_POINTER)));
        Ok(Self { list, numbers, first_result })
    }
}

/// Ends a kernel, and gives its buffers places in shared memory.
fn allocate(lowering: Lowering<'_>, config: &LaunchConfig<'_>) -> Lowered<Kernel> {
    let kernel = lowering.builder.finish();
    let free = config.context.enables(Optimization::MergedBarriers).then(|| free_shared_bytes(config));
    let mut kernel = match lowering.plans.is_empty() {
        true => shared_memory::allocate_buffers(kernel, &lowering.annotations, free),
        false => shared_memory::allocate_disjoint(kernel, &lowering.annotations),
    };
    let registers = config.context.registers.unwrap_or(config.context.target.limits.registers_per_lane);
    sink_loads(&mut kernel, registers.into());
    if !lowering.annotations.partings.is_empty() {
        lowering.groups.resolve(&mut kernel)?;
    }
    Ok(kernel)
}

/// Returns the bytes of shared memory that a block may take without reducing the number of resident blocks. It assumes
/// that other limits leave half of a compute unit's warps resident.
fn free_shared_bytes(config: &LaunchConfig<'_>) -> u64 {
    let target = config.context.target;
    let share = target.throughput.as_ref().map_or(target.shared.static_bytes, |unit| {
        let blocks = (unit.warps_per_unit / (2 * config.warps.max(1))).clamp(1, unit.blocks_per_unit.max(1));
        unit.shared_bytes_per_unit / blocks
    });
    u64::from(share).min(config.context.scratch_bytes)
}

impl<'a> Lowering<'a> {
    /// Sets the lowered values of the arguments, whose parameters have the given numbers and end before `end`.
    fn read_arguments(
        &mut self,
        arguments: &[tile::Value],
        numbers: &HashMap<tile::Value, u32>,
        end: u32,
    ) -> Lowered<()> {
        let mut values: Vec<Value> = (0..end).rev().map(|index| self.builder.parameter(index)).collect();
        for &argument in arguments {
            match self.body.value_type(argument) {
                tile::TileType::Descriptor(descriptor) => {
                    let active = self.builder.constant(Type::Scalar(Element::I1), 1);
                    let lowered = build_descriptor(&mut values, active, descriptor.shape.len());
                    self.set_lowered(argument, lowered);
                }
                tile::TileType::Tensor(_) => {
                    values.pop();
                    let lowered = self.read_tensor(argument, numbers[&argument])?;
                    self.set_lowered(argument, LoweredValue::Tensor(lowered));
                }
                ty => {
                    if let Some(value) = values.pop() {
                        let value = argument_value(&mut self.builder, ty, value);
                        self.set_uniform(argument, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Plans the asynchronous MMAs and copies of all groups before any is lowered: one warp group may fill a buffer that
    /// matrix units read for another.
    fn plan_asynchronous(&mut self, groups: &'a [LaunchConfig<'a>], program: &'a LaunchConfig<'a>) {
        for config in groups.iter().chain([program]) {
            self.as_group(config);
            self.pending = pending::planned(self);
            if self.pending.are_some() {
                self.set_read_by_async_proxy();
            }
        }
        self.copies = asynchronous::planned(self);
    }

    /// Loads an argument that is a row-major tensor in a parameter's memory.
    fn read_tensor(&mut self, argument: tile::Value, parameter: u32) -> Lowered<Registers> {
        let (layout, ty) = (self.layout_of(argument)?, self.carrier(argument)?);
        let element = stored(ty).element().ok_or_else(|| LowerErrorReason::malformed("a tensor of no elements"))?;
        let words = emit_tensor_load(&mut self.builder, parameter, &layout, element);
        let values: Vec<Value> = words.into_iter().map(|word| from_memory(&mut self.builder, word, ty)).collect();
        Ok(Registers::new(layout, values))
    }

    /// Stores the registers of the program value `result`, replicas too, to the memory of a pointer parameter.
    fn write_result(&mut self, result: tile::Value, parameter: u32) -> Lowered<()> {
        let Registers { layout, values } = self.tensor(result)?;
        let words: Vec<Value> = values.iter().map(|&value| to_memory(&mut self.builder, value)).collect();
        emit_register_dump(&mut self.builder, parameter, &layout, &words);
        Ok(())
    }
}

/// Returns the kernel's name: the function's, with all characters other than letters, digits and underscores replaced
/// by underscores.
fn kernel_name(name: &str) -> String {
    let identifier_char = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(identifier_char).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Returns the type of the kernel parameter for a scalar: a byte for an `i1` (nonzero is true), else the type itself.
fn stored_alone(ty: Type) -> Type {
    if ty == Type::Scalar(Element::I1) { Type::Scalar(Element::I8) } else { ty }
}

/// Converts the value of a kernel parameter to the value of the function's argument: a byte to an `i1` if the argument
/// is an `i1`, else unchanged.
fn argument_value(builder: &mut Builder, ty: &tile::TileType, value: Value) -> Value {
    if *ty != tile::TileType::BOOLEAN {
        return value;
    }
    let zero = builder.constant(Type::Scalar(Element::I8), 0);
    builder.compare(Compare::Ne, value, zero)
}

fn parameters_of(name: &str, ty: &tile::TileType) -> Lowered<Vec<(String, Type)>> {
    let pointer = (name.to_owned(), GLOBAL_POINTER);
    let descriptor = match ty {
        tile::TileType::Descriptor(descriptor) => descriptor,
        tile::TileType::Tensor(_) => return Ok(vec![pointer]),
        _ => return Ok(vec![(name.to_owned(), stored_alone(carrier(ty)?))]),
    };
    let rank = descriptor.shape.len();
    let sizes = (0..rank).map(|axis| (format!("{name}_size{axis}"), Type::Scalar(Element::I32)));
    let strides = (0..rank).map(|axis| (format!("{name}_stride{axis}"), Type::Scalar(Element::I64)));
    Ok(std::iter::once(pointer).chain(sizes).chain(strides).collect())
}

/// Builds a tensor descriptor of `rank` axes from its fields (address, sizes, strides), which it removes from the end
/// of `values`. There, the first field is the last entry.
fn build_descriptor(values: &mut Vec<Value>, active: Value, rank: usize) -> LoweredValue {
    let mut next = |count: usize| -> Vec<Value> { (0..count).filter_map(|_| values.pop()).collect() };
    let pointer = next(1);
    let (sizes, strides) = (next(rank), next(rank));
    LoweredValue::Descriptor(TensorDescriptor {
        pointer: pointer.first().copied().unwrap_or(Value(0)),
        active,
        sizes: sizes.into(),
        strides: strides.into(),
        last_multiple: 1,
        pads_with_nan: false,
    })
}

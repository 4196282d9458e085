//! The kernel of a function.

use std::collections::HashMap;

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_kernel::{Builder, Compare, Element, Kernel, Launch, MemorySpace, Parameter, Type, Value};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::{self as tile, Function};

use crate::shared_memory;

use super::asynchronous;
use super::boxes::Asked;
use super::error::{LowerError, Lowered, Reason};
use super::groups::{self, Groups};
use super::held::{Described, Held};
use super::lowering::Lowering;
use super::pending;
use super::types::carrier;

/// A function that a launch begins with, with all that its lowering needs.
#[derive(Debug, Clone, Copy)]
pub struct LoweringInput<'a> {
    /// The function; all its tensors have layouts.
    pub function: &'a Function,
    /// What is known of its values.
    pub facts: &'a AxisInfoMap,
    /// What its layouts' names mean.
    pub layouts: &'a LayoutCache<'a>,
    /// The target, and the lanes and warps that its layouts are for.
    pub machine: &'a LaunchConfig<'a>,
}

/// The kernel of a function. Its parameters are the function's: numbers (an `i1` as a byte), and pointers to global memory; of a tensor
/// descriptor the pointer, the size along each axis (`i32`), and the stride along each axis in elements (`i64`). Behind them come maps
/// that the launch makes of these, where boxes are copied.
///
/// # Errors
/// [`LowerError`]: the first operation that cannot be lowered.
pub fn program_kernel(program: &LoweringInput<'_>) -> Result<Kernel, LowerError> {
    let function = program.function;
    let failed = |reason: Reason| LowerError {
        operation: format!("tt.func @{}", function.name),
        at: function.location.at,
        reason: Box::new(reason),
    };
    let Some(body) = &function.body else {
        return Err(failed(Reason::malformed("the function is only declared")));
    };
    let &[entry] = body.blocks(body.root()) else {
        return Err(failed(Reason::malformed("the function has jumps; they must be structured")));
    };
    let groups = Groups::of(body, entry, program.machine).map_err(|(op, reason)| reason.at(body, op))?;
    let groups = groups.unwrap_or_default();
    let machines: Vec<LaunchConfig<'_>> =
        groups.warps.iter().skip(1).map(|&warps| LaunchConfig { warps, ..*program.machine }).collect();
    let arguments = body.arguments(entry);
    let (mut parameters, mut numbers) = (Vec::<Parameter>::new(), HashMap::new());
    for (number, &argument) in arguments.iter().enumerate() {
        let name = body.name(argument).map_or_else(|| format!("arg{number}"), str::to_owned);
        numbers.insert(argument, parameters.len() as u32);
        let own = parameters_of(&name, body.ty(argument)).map_err(failed)?;
        parameters.extend(own.iter().map(|(name, ty)| Parameter::plain(name, *ty)));
    }
    let own = parameters.len();
    let LoweringInput { facts, layouts, machine, .. } = *program;
    let (boxes, maps) = Asked { body, facts, layouts, machine, parameters: &numbers }.boxes(own)?;
    parameters.extend(maps);
    let launch = Launch::new(program.machine.lanes, program.machine.warps);
    let builder = Builder::with_parameters(&kernel_name(&function.name), launch, parameters);
    let mut lowering = Lowering::new(body, (program.facts, program.layouts), program.machine, builder);
    lowering.groups = groups;
    lowering.boxes = boxes;
    let mut values: Vec<Value> = (0..own as u32).rev().map(|index| lowering.builder.parameter(index)).collect();
    for &argument in arguments {
        match body.ty(argument) {
            tile::TileType::Descriptor(descriptor) => {
                let acts = lowering.builder.constant(Type::Scalar(Element::I1), 1);
                let held = described(&mut values, acts, descriptor.shape.len());
                lowering.hold(argument, held);
            }
            _ => {
                if let Some(value) = values.pop() {
                    let value = told(&mut lowering.builder, body.ty(argument), value);
                    lowering.hold_uniform(argument, value);
                }
            }
        }
    }
    // Where units read what one group has brought, it may be another that reads.
    for machine in machines.iter().chain([program.machine]) {
        lowering.as_group(machine);
        lowering.pending = pending::planned(&lowering);
        if lowering.pending.are_some() {
            lowering.is_read_by_units();
        }
    }
    lowering.copies = asynchronous::planned(&mut lowering);
    if lowering.has_groups() {
        groups::lowered(&mut lowering, entry, &machines)?;
        lowering.told.partings = lowering.groups.conditions().to_vec();
    } else {
        lowering.block(entry)?;
        asynchronous::finished(&mut lowering);
    }
    let most = program.machine.means.scratch_bytes;
    let mut kernel = shared_memory::placed(lowering.builder.finish(), &lowering.told, most);
    if !lowering.told.partings.is_empty() {
        lowering.groups.resolve(&mut kernel);
    }
    Ok(kernel)
}

/// Names of kernels are letters, digits and underscores.
fn kernel_name(name: &str) -> String {
    let own = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(own).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Truth comes as a byte, which is not zero where it holds.
fn stored_alone(ty: Type) -> Type {
    if ty == Type::Scalar(Element::I1) { Type::Scalar(Element::I8) } else { ty }
}

/// The argument that a parameter stands for.
fn told(builder: &mut Builder, ty: &tile::TileType, value: Value) -> Value {
    if *ty != tile::TileType::BOOLEAN {
        return value;
    }
    let zero = builder.constant(Type::Scalar(Element::I8), 0);
    builder.compare(Compare::Ne, value, zero)
}

fn parameters_of(name: &str, ty: &tile::TileType) -> Lowered<Vec<(String, Type)>> {
    let tile::TileType::Descriptor(descriptor) = ty else {
        return Ok(vec![(name.to_owned(), stored_alone(carrier(ty)?))]);
    };
    let rank = descriptor.shape.len();
    let pointer = (name.to_owned(), Type::Pointer(MemorySpace::Global));
    let sizes = (0..rank).map(|axis| (format!("{name}_size{axis}"), Type::Scalar(Element::I32)));
    let strides = (0..rank).map(|axis| (format!("{name}_stride{axis}"), Type::Scalar(Element::I64)));
    Ok(std::iter::once(pointer).chain(sizes).chain(strides).collect())
}

/// The descriptor whose parts come next, the first at the end.
fn described(values: &mut Vec<Value>, acts: Value, rank: usize) -> Held {
    let mut next = |count: usize| -> Vec<Value> { (0..count).filter_map(|_| values.pop()).collect() };
    let pointer = next(1);
    let (sizes, strides) = (next(rank), next(rank));
    Held::Descriptor(Described {
        pointer: pointer.first().copied().unwrap_or(Value(0)),
        acts,
        sizes: sizes.into(),
        strides: strides.into(),
        last_multiple: 1,
        pads_with_nan: false,
    })
}

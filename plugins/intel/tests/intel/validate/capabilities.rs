//! Checks that a module declares the capability for everything that it uses.

use std::collections::HashSet;

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, Op};

use super::{Fault, literal, require};

/// Checks the capabilities for every instruction of a module.
pub(super) fn check(module: &Module) -> Result<(), Fault> {
    let declared = declared(module)?;
    for instruction in module.all_inst_iter() {
        if instruction.class.opcode == Op::Capability {
            continue;
        }
        check_any(&declared, instruction, instruction.class.capabilities)?;
        for operand in &instruction.operands {
            check_any(&declared, instruction, &operand.required_capabilities())?;
        }
        if let Some(capability) = of_type(instruction)? {
            check_any(&declared, instruction, &[capability])?;
        }
    }
    let has_linkage = declared.contains(&Capability::Linkage);
    if module.entry_points.is_empty() && !has_linkage {
        return Err(Fault::module("a module without entry points declares the capability Linkage"));
    }
    Ok(())
}

/// Returns the declared capabilities, and the capabilities that these imply.
fn declared(module: &Module) -> Result<HashSet<Capability>, Fault> {
    let mut declared = HashSet::new();
    let mut open = Vec::new();
    for instruction in &module.capabilities {
        match instruction.operands.as_slice() {
            [Operand::Capability(capability)] => open.push(*capability),
            _ => return Err(Fault::of(instruction, "declares no capability")),
        }
    }
    while let Some(capability) = open.pop() {
        if declared.insert(capability) {
            open.extend(Operand::Capability(capability).required_capabilities());
        }
    }
    Ok(declared)
}

/// Checks that at least one of the capabilities `any` is declared.
fn check_any(declared: &HashSet<Capability>, instruction: &Instruction, any: &[Capability]) -> Result<(), Fault> {
    if any.is_empty() || any.iter().any(|capability| declared.contains(capability)) {
        return Ok(());
    }
    Err(Fault::of(instruction, format!("needs a capability that is not declared: {any:?}")))
}

/// Returns the capability that a type needs because of its width; `None` if it needs none.
fn of_type(instruction: &Instruction) -> Result<Option<Capability>, Fault> {
    let opcode = instruction.class.opcode;
    let index = match opcode {
        Op::TypeInt | Op::TypeFloat => 0,
        Op::TypeVector => 1,
        _ => return Ok(None),
    };
    match (opcode, literal(instruction, index)?) {
        (Op::TypeInt | Op::TypeFloat, 32) | (Op::TypeVector, 2..=4) => Ok(None),
        (Op::TypeInt, 8) => Ok(Some(Capability::Int8)),
        (Op::TypeInt, 16) => Ok(Some(Capability::Int16)),
        (Op::TypeInt, 64) => Ok(Some(Capability::Int64)),
        (Op::TypeFloat, 16) => Ok(Some(Capability::Float16)),
        (Op::TypeFloat, 64) => Ok(Some(Capability::Float64)),
        (Op::TypeVector, 8 | 16) => Ok(Some(Capability::Vector16)),
        _ => require(false, instruction, "there is no type of this size").map(|()| None),
    }
}

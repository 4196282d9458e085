//! Checks entry points, their execution modes, and debug names.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::{ExecutionMode, ExecutionModel, Op, StorageClass, Word};

use super::globals::Globals;
use super::{Fault, id, require};

/// Checks every entry point of a module.
pub(super) fn check(globals: &Globals, module: &Module) -> Result<(), Fault> {
    let mut names = HashSet::new();
    let mut entries = HashSet::new();
    for entry in &module.entry_points {
        let Some((
            &[Operand::ExecutionModel(model), Operand::IdRef(function), Operand::LiteralString(ref name)],
            interface,
        )) = entry.operands.split_first_chunk()
        else {
            return Err(Fault::of(entry, "an entry point has a model, a function and a name"));
        };
        require(model == ExecutionModel::Kernel, entry, "entry points are kernels")?;
        require(!name.is_empty() && names.insert(name), entry, "names of entry points are not empty and differ")?;
        require(entries.insert(function), entry, "the function is two entry points")?;
        let body = module.functions.iter().find(|body| body.def_id() == Some(function));
        let body = body.ok_or_else(|| Fault::of(entry, "the entry point is not a function"))?;
        check_interface(globals, entry, interface, body)?;
        check_modes(module, entry, function)?;
    }
    for mode in &module.execution_modes {
        require(entries.contains(&id(mode, 0)?), mode, "the mode is of no entry point")?;
    }
    for name in &module.debug_names {
        require(name.class.opcode == Op::Name, name, "only plain names are used")?;
    }
    Ok(())
}

/// Checks that an entry point's interface lists exactly the input variables that the function uses.
fn check_interface(
    globals: &Globals,
    entry: &Instruction,
    interface: &[Operand],
    body: &Function,
) -> Result<(), Fault> {
    let mut listed = HashSet::new();
    for operand in interface {
        let variable = operand.id_ref_any().unwrap_or(0);
        let input = globals.variables.get(&variable) == Some(&StorageClass::Input);
        require(input, entry, "the interface lists inputs")?;
        require(listed.insert(variable), entry, "the interface lists an input twice")?;
    }
    let operands = body.all_inst_iter().flat_map(|instruction| &instruction.operands);
    let used: HashSet<Word> = operands
        .filter_map(Operand::id_ref_any)
        .filter(|id| globals.variables.get(id) == Some(&StorageClass::Input))
        .collect();
    require(used == listed, entry, "the interface is not the inputs that the function uses")
}

/// Checks that an entry point has a work-group size that is a multiple of its sub-group size.
fn check_modes(module: &Module, entry: &Instruction, function: Word) -> Result<(), Fault> {
    let mut modes: HashMap<ExecutionMode, Vec<u32>> = HashMap::new();
    for instruction in module.execution_modes.iter().filter(|mode| id(mode, 0).is_ok_and(|id| id == function)) {
        let Some((&[_, Operand::ExecutionMode(mode)], values)) = instruction.operands.split_first_chunk() else {
            return Err(Fault::of(instruction, "is not an execution mode"));
        };
        let values = values.iter().map(|value| match value {
            Operand::LiteralBit32(value) => Ok(*value),
            _ => Err(Fault::of(instruction, "values of modes are literals")),
        });
        let values = values.collect::<Result<_, _>>()?;
        require(modes.insert(mode, values).is_none(), instruction, "the mode is given twice")?;
    }
    let size = modes.remove(&ExecutionMode::LocalSize);
    let lanes = modes.remove(&ExecutionMode::SubgroupSize);
    match (size.as_deref(), lanes.as_deref()) {
        (Some(&[x, 1, 1]), Some(&[lanes])) => {
            require(lanes.is_power_of_two(), entry, "sub-group sizes are powers of two")?;
            require(x > 0 && x % lanes == 0, entry, "the work-group is not a number of whole sub-groups")?;
        }
        _ => return Err(Fault::of(entry, "a kernel says its sub-group size and its work-group size along one axis")),
    }
    require(modes.remove(&ExecutionMode::ContractionOff).is_some(), entry, "products and sums are rounded separately")?;
    require(modes.is_empty(), entry, "has an execution mode that kernels do not use")
}

//! Checks the header of a kernel: name, launch, parameters and shared buffers.

use super::violation::Violation;
use crate::{Element, Kernel, MAX_CLUSTER_BLOCKS, MemorySpace, Parameter, SharedBuffer, Type};
use tilewright_layout::text::is_identifier;

pub(super) fn verify_head(kernel: &Kernel) -> Result<(), Violation> {
    let launch = kernel.launch;
    if !is_identifier(&kernel.name) {
        return Err(Violation::KernelName);
    }
    if !launch.lanes.is_power_of_two() || launch.lanes > 64 {
        return Err(Violation::Lanes { found: launch.lanes });
    }
    if launch.warps == 0 || launch.warps > 1024 {
        return Err(Violation::Warps { found: launch.warps });
    }
    if launch.blocks == 0 || launch.blocks > MAX_CLUSTER_BLOCKS {
        return Err(Violation::Blocks { found: launch.blocks });
    }
    for (index, parameter) in kernel.parameters.iter().enumerate() {
        verify_parameter(kernel, index, parameter)?;
    }
    for (index, buffer) in kernel.shared.iter().enumerate() {
        verify_buffer(index, buffer)?;
    }
    if kernel.shared_bytes() > i32::MAX as u64 {
        return Err(Violation::SharedBytes { found: kernel.shared_bytes() });
    }
    if !kernel.body.arguments.is_empty() {
        return Err(Violation::BodyArguments);
    }
    Ok(())
}

fn verify_parameter(kernel: &Kernel, index: usize, parameter: &Parameter) -> Result<(), Violation> {
    let passable = match parameter.ty {
        Type::Scalar(element) => element != Element::I1,
        Type::Vector(..) | Type::Pending(..) => false,
        Type::Pointer(space) => space == MemorySpace::Global,
        Type::TensorMap => true,
    };
    if !passable {
        return Err(Violation::ParameterType { parameter: index, found: parameter.ty });
    }
    let mapped = match (&parameter.map, parameter.ty == Type::TensorMap) {
        (Some(map), true) => {
            let type_of = |index: u32| kernel.parameters.get(index as usize).map(|parameter| parameter.ty);
            let filled = || parameter.rows.as_ref().map_or(Ok(()), |rows| rows.check_derivable(map, type_of));
            map.check().and_then(|()| filled()).map_err(|error| error.to_string())
        }
        (None, false) if parameter.rows.is_some() => Err(format!("{} is not a tensor map", parameter.ty)),
        (None, false) => Ok(()),
        (None, true) => Err("it has no tensor map".to_owned()),
        (Some(_), false) => Err(format!("{} is not a tensor map", parameter.ty)),
    };
    mapped.map_err(|message| Violation::TensorMap { parameter: index, message })
}

fn verify_buffer(index: usize, buffer: &SharedBuffer) -> Result<(), Violation> {
    if !buffer.alignment.is_power_of_two() {
        return Err(Violation::SharedAlignment { buffer: index, found: buffer.alignment });
    }
    if let Some(at) = buffer.at.filter(|at| !at.is_multiple_of(buffer.alignment)) {
        return Err(Violation::MisalignedBuffer { buffer: index, found: at, alignment: buffer.alignment });
    }
    Ok(())
}

//! Checks all that a code generator may rely on.
//!
//! The rules are those of `docs/kernel-ir.md`; [`Violation`] lists them. `body` checks that values are
//! defined where they are used and that regions fit, `operation` and `computation` the types of each
//! operation, `control` that collectives stand under uniform control.

mod body;
mod computation;
mod control;
mod operation;
mod types;
mod violation;

use std::collections::BTreeSet;

use super::{Element, Kernel, MAX_BLOCKS, Module, Space, Type};
use body::Checker;
use control::verify_collectives;

pub use violation::{VerifyError, Violation};

/// Checks a module.
///
/// # Errors
/// The first broken rule, with the kernel and operation that break it.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    let mut names = BTreeSet::new();
    for kernel in &module.kernels {
        if !names.insert(kernel.name.as_str()) {
            return Err(head_error(kernel, Violation::DuplicateKernel));
        }
        verify_structure(kernel)?;
        verify_collectives(kernel)?;
    }
    Ok(())
}

/// Checks everything but that collectives stand under uniform control, which the emulator finds
/// out by running.
pub fn verify_structure(kernel: &Kernel) -> Result<(), VerifyError> {
    verify_head(kernel).map_err(|violation| head_error(kernel, violation))?;
    Checker::check(kernel)
}

fn head_error(kernel: &Kernel, violation: Violation) -> VerifyError {
    VerifyError { kernel: kernel.name.clone(), operation: None, name: "", violation }
}

fn verify_head(kernel: &Kernel) -> Result<(), Violation> {
    let launch = kernel.launch;
    if !super::text::is_identifier(&kernel.name) {
        return Err(Violation::KernelName);
    }
    if !launch.lanes.is_power_of_two() || launch.lanes > 64 {
        return Err(Violation::Lanes { found: launch.lanes });
    }
    if launch.warps == 0 || launch.warps > 1024 {
        return Err(Violation::Warps { found: launch.warps });
    }
    if launch.blocks == 0 || launch.blocks > MAX_BLOCKS {
        return Err(Violation::Blocks { found: launch.blocks });
    }
    for (number, parameter) in kernel.parameters.iter().enumerate() {
        let passable = match parameter.ty {
            Type::Scalar(element) => element != Element::I1,
            Type::Vector(..) | Type::Pending(..) => false,
            Type::Pointer(space) => space == Space::Global,
            Type::TensorMap => true,
        };
        if !passable {
            return Err(Violation::ParameterType { parameter: number, found: parameter.ty });
        }
        let mapped = match (&parameter.map, parameter.ty == Type::TensorMap) {
            (Some(map), true) => {
                let filled = || parameter.rows.as_ref().map_or(Ok(()), |rows| rows.check(map, kernel));
                map.check().and_then(|()| filled())
            }
            (None, false) if parameter.rows.is_some() => Err(format!("{} maps nothing", parameter.ty)),
            (None, false) => Ok(()),
            (None, true) => Err("nothing says what it maps".to_owned()),
            (Some(_), false) => Err(format!("{} maps nothing", parameter.ty)),
        };
        mapped.map_err(|message| Violation::TensorMap { parameter: number, message })?;
    }
    for (number, buffer) in kernel.shared.iter().enumerate() {
        if !buffer.alignment.is_power_of_two() {
            return Err(Violation::SharedAlignment { buffer: number, found: buffer.alignment });
        }
        if let Some(at) = buffer.at.filter(|at| !at.is_multiple_of(buffer.alignment)) {
            return Err(Violation::SharedPlace { buffer: number, found: at, alignment: buffer.alignment });
        }
    }
    if kernel.shared_bytes() > i32::MAX as u64 {
        return Err(Violation::SharedBytes { found: kernel.shared_bytes() });
    }
    if !kernel.body.arguments.is_empty() {
        return Err(Violation::BodyArguments);
    }
    Ok(())
}

//! Checks of a kernel's signature: its name and its parameters.

use std::collections::HashSet;

use tilewright_kernel::{Kernel, MemorySpace, Module, Type};

use super::{invalid_module_error, prefix_error_with_kernel_name};
use crate::CompileError;

/// Checks that the names and parameters of a module's kernels can be generated. Names consist of letters, digits and
/// underscores, which every assembler accepts.
///
/// # Errors
/// [`CompileError::Invalid`], with the kernel's name, if a name has other characters or occurs twice, a parameter is no
/// scalar, global pointer or tensor map, or the kernel's body has arguments.
pub fn check_kernel_signatures(module: &Module) -> Result<(), CompileError> {
    let mut names = HashSet::new();
    for kernel in &module.kernels {
        check_signature(kernel).map_err(|error| prefix_error_with_kernel_name(error, kernel))?;
        if !names.insert(kernel.name.as_str()) {
            return Err(prefix_error_with_kernel_name(
                invalid_module_error("another kernel of the module has the same name"),
                kernel,
            ));
        }
    }
    Ok(())
}

fn check_signature(kernel: &Kernel) -> Result<(), CompileError> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_identifier =
        kernel.name.starts_with(is_letter) && kernel.name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if !is_identifier {
        return Err(invalid_module_error("a name has letters, digits and underscores and does not begin with a digit"));
    }
    for parameter in &kernel.parameters {
        if !matches!(parameter.ty, Type::Scalar(_) | Type::Pointer(MemorySpace::Global) | Type::TensorMap) {
            return Err(invalid_module_error(format!("parameter `{}` cannot be a {}", parameter.name, parameter.ty)));
        }
    }
    if !kernel.body.arguments.is_empty() {
        return Err(invalid_module_error("the body of a kernel has no arguments; its parameters are values 0, 1, ..."));
    }
    Ok(())
}

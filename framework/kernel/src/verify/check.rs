//! Entry points of the verifier, for modules and kernels.

use std::collections::BTreeSet;

use super::body::Checker;
use super::control::verify_collectives;
use super::head::verify_head;
use super::violation::{VerifyError, Violation};
use crate::{Kernel, Module};

/// Verifies a module.
///
/// # Errors
/// The first violation, with its kernel and operation.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    let mut names = BTreeSet::new();
    for kernel in &module.kernels {
        if !names.insert(kernel.name.as_str()) {
            return Err(head_error(kernel, Violation::DuplicateKernel));
        }
        verify_without_uniformity(kernel)?;
        verify_collectives(kernel)?;
    }
    Ok(())
}

/// Checks all rules of a kernel except that collectives stand under uniform control, which the emulator checks at run
/// time.
pub fn verify_without_uniformity(kernel: &Kernel) -> Result<(), VerifyError> {
    verify_head(kernel).map_err(|violation| head_error(kernel, violation))?;
    Checker::check(kernel)
}

fn head_error(kernel: &Kernel, violation: Violation) -> VerifyError {
    VerifyError { kernel: kernel.name.clone(), operation: None, name: "", violation }
}

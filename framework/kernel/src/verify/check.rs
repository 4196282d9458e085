//! Checks modules and kernels whole.

use std::collections::BTreeSet;

use super::body::Checker;
use super::control::verify_collectives;
use super::head::verify_head;
use super::violation::{VerifyError, Violation};
use crate::{Kernel, Module};

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

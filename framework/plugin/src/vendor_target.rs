//! [`Target`]: one GPU product, as its vendor's code serves it.
//!
//! A [`Target`] is one GPU product: first of all data (description, families, instructions), then
//! one call that compiles kernel IR, and last, where there is hardware, its devices. The rest of
//! the framework cannot tell a target that is linked in from one behind the plugin boundary or in
//! another process.
//!
//! Contract: the caller verifies modules before [`Target::compile`]; the implementation still must
//! not misbehave on any input. An error is returned, never panicked; it says whose fault it is.

use std::borrow::Cow;

use thiserror::Error;

use crate::{Artifact, CompileOptions, Device, DeviceError, FactoryError};
use tilewright_kernel as kernel;
use tilewright_layout::Families;
use tilewright_target::{Instruction, InstructionKind, TargetDescription, UnusedInstruction};

/// One GPU product, as its vendor's code serves it.
pub trait Target: Send + Sync {
    /// The product as data.
    fn description(&self) -> &TargetDescription;

    /// The layout families that the vendor adds to the neutral ones.
    fn families(&self) -> &dyn Families;

    /// The instruction table; names are unique. Of a target behind the plugin boundary it is empty until
    /// [`Target::read_instructions`] has been called, as [`Registry::target`](crate::Registry::target) does.
    fn instructions(&self) -> &[Instruction];

    /// Reads the instruction table, if it is not at hand yet.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is none.
    fn read_instructions(&self) -> Result<(), FactoryError> {
        Ok(())
    }

    /// The instruction table, for a caller that reads it once: it need not be kept.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is none.
    fn instruction_table(&self) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        self.read_instructions()?;
        Ok(self.instructions().into())
    }

    /// The rows of one kind, in the order of the table. Targets with long tables make and send these alone.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is none.
    fn instructions_of(&self, kind: InstructionKind) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        Ok(self.instructions().iter().filter(|row| row.kind == kind).cloned().collect())
    }

    /// Instructions that the product has and that no row of the table stands for.
    fn unused_instructions(&self) -> &[UnusedInstruction] {
        &[]
    }

    /// Code for all kernels of a verified module.
    ///
    /// # Errors
    /// [`CompileError`]; the module stays as it was.
    fn compile(&self, module: &kernel::Module, options: &CompileOptions) -> Result<Artifact, CompileError>;

    /// The devices of this product that this machine has; empty where the runtime is there and
    /// finds none.
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] where the vendor's runtime is missing.
    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError>;
}

/// Why a module was not compiled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The target has no way to do this; nobody's fault.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The module breaks a rule of the kernel IR or of the target; the caller's fault.
    #[error("invalid module: {0}")]
    Invalid(String),
    /// An option that the target does not know or cannot take; the caller's fault.
    #[error("option `{option}`: {message}")]
    Option {
        /// Which option.
        option: String,
        /// What is wrong with it.
        message: String,
    },
    /// The code generator failed, with its diagnostics; the plugin's fault.
    #[error("code generation failed: {0}")]
    Backend(String),
    /// The plugin broke: it panicked, ended, hung or answered nonsense; the plugin's fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}

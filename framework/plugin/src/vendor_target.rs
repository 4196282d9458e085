//! [`Target`]: one GPU model with its layout families, instructions, compiler and devices.
//!
//! A [`Target`] has data (description, layout families, instructions), a compiler for kernel IR, and devices if the
//! machine has any. The framework cannot distinguish a target linked into the program from one behind the plugin
//! boundary or in another process.
//!
//! Contract: the caller verifies modules before [`Target::compile`]; the implementation still must be safe for any
//! input. Faults are returned as errors, never as panics; each kind of error names the party at fault.

use std::borrow::Cow;

use thiserror::Error;

use crate::{Artifact, CompileOptions, Device, DeviceError, FactoryError};
use tilewright_kernel as kernel;
use tilewright_layout::Families;
use tilewright_target::{Instruction, InstructionKind, OmittedInstruction, TargetDescription};

/// One GPU model with its layout families, instructions, compiler and devices, as its vendor's code serves them.
pub trait Target: Send + Sync {
    /// Returns the data that describes the GPU model.
    fn description(&self) -> &TargetDescription;

    /// Returns the layout families that the vendor adds to the vendor-neutral ones.
    fn families(&self) -> &dyn Families;

    /// Returns the instruction table; names are unique. For a target behind the plugin boundary the table is empty
    /// until [`Target::read_instructions`] is called, as [`Registry::create_target`](crate::Registry::create_target)
    /// does.
    fn instructions(&self) -> &[Instruction];

    /// Reads the instruction table from the plugin, so that [`Target::instructions`] returns it. Does nothing if the
    /// table has been read already, or if the target is linked into this program.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is invalid.
    fn read_instructions(&self) -> Result<(), FactoryError> {
        Ok(())
    }

    /// Returns the instruction table for a caller that reads it once, so that the target need not keep it in memory.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is invalid.
    fn instruction_table(&self) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        self.read_instructions()?;
        Ok(self.instructions().into())
    }

    /// Returns the instructions of one kind, in the order of the table. Targets with long tables build and send only
    /// these.
    ///
    /// # Errors
    /// [`FactoryError::Failed`] if the plugin's answer is invalid.
    fn instructions_of(&self, kind: InstructionKind) -> Result<Cow<'_, [Instruction]>, FactoryError> {
        Ok(self.instructions().iter().filter(|row| row.kind == kind).cloned().collect())
    }

    /// Returns the instructions that the hardware has but the instruction table has not.
    fn omitted_instructions(&self) -> &[OmittedInstruction] {
        &[]
    }

    /// Compiles all kernels of a verified module.
    ///
    /// # Errors
    /// [`CompileError`]: the target cannot do what the module requires, the module violates a rule, an option is
    /// unknown or has an invalid value, the code generator fails, or the plugin fails. Each of these has a variant.
    fn compile(&self, module: &kernel::Module, options: &CompileOptions) -> Result<Artifact, CompileError>;

    /// Opens the devices of this GPU model on this machine; empty if the runtime finds none.
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] if the vendor's runtime is missing, [`DeviceError::Driver`] if it fails,
    /// [`DeviceError::Plugin`] if the plugin fails.
    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError>;
}

/// The reason why a module was not compiled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The target cannot do what the module requires; nobody's fault.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The module violates a rule of the kernel IR or of the target; the caller's fault.
    #[error("invalid module: {0}")]
    Invalid(String),
    /// The target does not know or accept an option; the caller's fault.
    #[error("option `{option}`: {message}")]
    Option {
        /// The name of the option.
        option: String,
        /// Description of the fault in the option's use.
        message: String,
    },
    /// The code generator failed, with its diagnostics; the plugin's fault.
    #[error("code generation failed: {0}")]
    Backend(String),
    /// The plugin failed: it panicked, ended, hung or gave an invalid answer; the plugin's fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}

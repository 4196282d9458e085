//! A target of this vendor.

use super::architectures::ARCHITECTURES;
use super::device;
use super::families::VendorFamilies;
use super::instructions::{rows, unused};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_plugin::FactoryError;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Instruction, TargetDescription, UnusedInstruction};

tilewright_plugin::register_targets! { plugin: "amd", architectures: ARCHITECTURES, create: create }

fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
    match AmdTarget::new(description) {
        Ok(target) => Ok(Box::new(target)),
        Err(error) => Err(FactoryError::Description(error.to_string())),
    }
}

/// One AMD product.
#[derive(Debug)]
pub struct AmdTarget {
    description: TargetDescription,
    families: VendorFamilies,
    instructions: Vec<Instruction>,
    unused: Vec<UnusedInstruction>,
}

impl AmdTarget {
    /// The target of a description.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where the architecture is none of [`ARCHITECTURES`].
    pub fn new(description: TargetDescription) -> Result<Self, CompileError> {
        if !ARCHITECTURES.contains(&description.architecture.as_str()) {
            return Err(CompileError::Unsupported(format!(
                "architecture `{}` of target `{}`; this plugin serves {}",
                description.architecture,
                description.name,
                ARCHITECTURES.join(", ")
            )));
        }
        let families = VendorFamilies::of(&description.architecture);
        let instructions = rows(&description.architecture);
        let unused = unused(&description.architecture);
        Ok(Self { description, families, instructions, unused })
    }
}

impl Target for AmdTarget {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    fn unused_instructions(&self) -> &[UnusedInstruction] {
        &self.unused
    }

    #[cfg(feature = "codegen")]
    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        crate::compile::compile(&self.description, &self.instructions, module, options)
    }

    #[cfg(not(feature = "codegen"))]
    fn compile(&self, _module: &Module, _options: &CompileOptions) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported(
            "this build makes no code: it was built without the feature `codegen`".to_owned(),
        ))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices(&self.description.architecture)
    }
}

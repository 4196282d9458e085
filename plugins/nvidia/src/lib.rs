//! The NVIDIA plugin as a library: layout families, instructions, and code for NVIDIA GPUs.

mod compile;
mod device;
pub mod families;
pub mod instructions;
pub mod object;

use tilewright::kernel::Module;
use tilewright::layout::{Families, FamilyError, FamilySpec, Layout};
use tilewright::target::{Instruction, TargetDescription};
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};

/// The architectures that this plugin serves, as LLVM and `ptxas` call them.
pub const ARCHITECTURES: &[&str] = &[
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_103a", "sm_120",
    "sm_120a", "sm_121", "sm_121a",
];

// Until `families` and `instructions` have these, the plugin adds none of either. Replaced by
// `use families::VendorFamilies; use instructions::rows;`.
struct VendorFamilies;

impl Families for VendorFamilies {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn resolve(&self, spec: &FamilySpec, _shape: &[u64], _all: &dyn Families) -> Result<Layout, FamilyError> {
        Err(FamilyError::Unknown { name: spec.name.clone(), known: Vec::new() })
    }
}

fn rows(_architecture: &str) -> Vec<Instruction> {
    Vec::new()
}

/// One NVIDIA product.
#[derive(Debug)]
pub struct NvidiaTarget {
    description: TargetDescription,
    instructions: Vec<Instruction>,
}

impl NvidiaTarget {
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
        let instructions = rows(&description.architecture);
        Ok(Self { description, instructions })
    }
}

impl Target for NvidiaTarget {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &VendorFamilies
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        compile::compile(&self.description, module, options)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices()
    }
}

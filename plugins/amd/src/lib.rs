//! The AMD plugin as a library: layout families, instructions, and code for AMD GPUs.

mod compile;
mod device;
pub mod families;
pub mod instructions;
pub mod object;

use tilewright::kernel::Module;
use tilewright::layout::{Families, FamilyError, FamilySpec, Layout};
use tilewright::target::{Instruction, TargetDescription};
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};

/// The architectures that this plugin serves, as LLVM calls them.
pub const ARCHITECTURES: &[&str] = &[
    "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200",
    "gfx1201", "gfx1250",
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

/// One AMD product.
#[derive(Debug)]
pub struct AmdTarget {
    description: TargetDescription,
    instructions: Vec<Instruction>,
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
        let instructions = rows(&description.architecture);
        Ok(Self { description, instructions })
    }
}

impl Target for AmdTarget {
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

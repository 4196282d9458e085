//! The intel plugin as a library: the targets of this vendor, their layout families, their
//! instructions, and kernel IR as SPIR-V.
//!
//! May import `tilewright` up to floor 5 (`vendor`).

pub mod compile;
pub mod device;
pub mod families;
pub mod instructions;

use families::VendorFamilies;
use instructions::rows;
use thiserror::Error;
use tilewright::kernel::Module;
use tilewright::layout::Families;
use tilewright::target::{Instruction, TargetDescription};
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};

/// What the code generator must know of an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// Its name, as target files and the offline compiler write it.
    pub name: &'static str,
    /// Whether its lanes compute binary64. Where they do not, such values can be moved only.
    pub computes_f64: bool,
}

/// The architectures that this plugin serves.
pub const ARCHITECTURES: [Architecture; 3] = [
    Architecture { name: "pvc", computes_f64: true },
    Architecture { name: "dg2", computes_f64: false },
    Architecture { name: "xe2", computes_f64: true },
];

/// A description that this plugin has no target for; the target file's author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("target `{target}`: unknown architecture `{architecture}`; this plugin serves {}", served())]
pub struct UnknownArchitecture {
    /// The target.
    pub target: String,
    /// Its architecture.
    pub architecture: String,
}

fn served() -> String {
    ARCHITECTURES.map(|architecture| architecture.name).join(", ")
}

/// One GPU product of this vendor.
#[derive(Debug)]
pub struct IntelTarget {
    description: TargetDescription,
    architecture: Architecture,
    families: VendorFamilies,
    instructions: Vec<Instruction>,
}

impl IntelTarget {
    /// The target that a description describes.
    ///
    /// # Errors
    /// [`UnknownArchitecture`] where it is not one of [`ARCHITECTURES`].
    pub fn new(description: TargetDescription) -> Result<Self, UnknownArchitecture> {
        let architecture = ARCHITECTURES.into_iter().find(|known| known.name == description.architecture);
        let architecture = architecture.ok_or_else(|| UnknownArchitecture {
            target: description.name.clone(),
            architecture: description.architecture.clone(),
        })?;
        let instructions = rows(architecture.name);
        let families = VendorFamilies::of(architecture.name);
        Ok(Self { description, architecture, families, instructions })
    }
}

impl Target for IntelTarget {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &self.families
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        compile::compile(self.architecture, &self.description, &self.instructions, module, options)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices()
    }
}

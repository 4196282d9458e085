//! The intel plugin as a library: the targets of this vendor, their layout families, their
//! instructions, kernel IR as SPIR-V, and with the feature `drivers` the devices that run it.
//!
//! May import `tilewright` up to floor 5 (`vendor`).

mod architectures;
#[cfg(feature = "codegen")]
pub mod compile;
pub mod device;
pub mod families;
pub mod instructions;

pub use architectures::ARCHITECTURES;
use families::VendorFamilies;
use instructions::{rows, unused};
use thiserror::Error;
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_plugin::FactoryError;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
use tilewright_target::{Instruction, TargetDescription, UnusedInstruction};

tilewright_plugin::register_targets! { plugin: "intel", architectures: ARCHITECTURES, create: create }

fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
    match IntelTarget::new(description) {
        Ok(target) => Ok(Box::new(target)),
        Err(error) => Err(FactoryError::Description(error.to_string())),
    }
}

/// What the code generator must know of an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// Its name, as target files and the offline compiler write it.
    pub name: &'static str,
    /// Whether its lanes compute binary64. Where they do not, such values can be moved only.
    pub computes_f64: bool,
    /// Whether the offline compiler that distributions have knows it.
    pub is_known_offline: bool,
}

/// Architectures whose lanes do not compute binary64.
const WITHOUT_F64: [&str; 1] = ["dg2"];

/// Architectures that are newer than the offline compiler of Debian 12.
const NEW: [&str; 1] = ["xe2"];

impl Architecture {
    /// The architecture of a name, where this plugin serves it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = ARCHITECTURES.iter().find(|known| **known == name)?;
        let (computes_f64, is_known_offline) = (!WITHOUT_F64.contains(name), !NEW.contains(name));
        Some(Self { name, computes_f64, is_known_offline })
    }
}

/// A description that this plugin has no target for; the target file's author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("target `{target}`: unknown architecture `{architecture}`; this plugin serves {}", ARCHITECTURES.join(", "))]
pub struct UnknownArchitecture {
    /// The target.
    pub target: String,
    /// Its architecture.
    pub architecture: String,
}

/// One GPU product of this vendor.
#[derive(Debug)]
pub struct IntelTarget {
    description: TargetDescription,
    #[cfg_attr(not(feature = "codegen"), expect(dead_code, reason = "what the code generator must know"))]
    architecture: Architecture,
    families: VendorFamilies,
    instructions: Vec<Instruction>,
    unused: Vec<UnusedInstruction>,
}

impl IntelTarget {
    /// The target that a description describes.
    ///
    /// # Errors
    /// [`UnknownArchitecture`] where it is not one of [`ARCHITECTURES`].
    pub fn new(description: TargetDescription) -> Result<Self, UnknownArchitecture> {
        let architecture = Architecture::named(&description.architecture).ok_or_else(|| UnknownArchitecture {
            target: description.name.clone(),
            architecture: description.architecture.clone(),
        })?;
        let instructions = rows(architecture.name);
        let unused = unused(architecture.name);
        let families = VendorFamilies::of(architecture.name);
        Ok(Self { description, architecture, families, instructions, unused })
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

    fn unused_instructions(&self) -> &[UnusedInstruction] {
        &self.unused
    }

    #[cfg(feature = "codegen")]
    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        compile::compile(self.architecture, &self.description, &self.instructions, module, options)
    }

    #[cfg(not(feature = "codegen"))]
    fn compile(&self, _module: &Module, _options: &CompileOptions) -> Result<Artifact, CompileError> {
        Err(CompileError::Unsupported(
            "this build makes no code: it was built without the feature `codegen`".to_owned(),
        ))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices(&self.description.product)
    }
}

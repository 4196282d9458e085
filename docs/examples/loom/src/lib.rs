//! A plugin for an invented machine, `loom1`: 16 lanes, a matrix instruction of its own, banks unlike anybody's. It is
//! built outside of Tilewright's source tree against the framework alone, and `conformance` proves it unchanged:
//!
//!     cargo build --release
//!     TILEWRIGHT_TARGET_PATH=targets conformance --target loom16 --plugin target/release/libloom_plugin.so
//!
//! What the machine is, as data, is in `targets/loom16.toml`; here is what its instructions and families are, and how
//! code for it is written.

mod code;
mod family;
mod instruction;

use tilewright_plugin::kernel::Module;
use tilewright_plugin::layout::Families;
use tilewright_plugin::FactoryError;
use tilewright_plugin::target::{Instruction, TargetDescription};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};

const ARCHITECTURES: &[&str] = &["loom1"];

// Registers the targets with whoever links this crate, and gives the shared library its one symbol.
tilewright_plugin::register_targets! { plugin: "loom", architectures: ARCHITECTURES, create: create }
tilewright_plugin::export_plugin!();

/// The host has read the target's file; the plugin adds what it knows of the architecture.
fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
    let row = instruction::row().map_err(|error| FactoryError::Description(error.to_string()))?;
    Ok(Box::new(Loom { description, instructions: vec![row] }))
}

struct Loom {
    description: TargetDescription,
    instructions: Vec<Instruction>,
}

impl Target for Loom {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &family::LoomFamilies
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        code::compile(module, options)
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Err(DeviceError::NoRuntime("no Loom was ever built; its code runs on the emulator".to_owned()))
    }
}

//! A plugin for an invented GPU, `loom1`, with 16 lanes, a matrix instruction and unusual shared-memory banks. It is
//! built outside of Tilewright's workspace against `tilewright-plugin` alone; the conformance suite tests it unchanged:
//!
//!     cargo build --release
//!     TILEWRIGHT_TARGET_PATH=targets conformance --target loom16 --plugin target/release/libloom_plugin.so
//!
//! `targets/loom16.toml` describes the GPU as data. The modules have its instruction, its layout family and its code
//! generator.

mod code;
mod family;
mod instruction;

use tilewright_plugin::FactoryError;
use tilewright_plugin::kernel::Module;
use tilewright_plugin::layout::Families;
use tilewright_plugin::target::{Instruction, TargetDescription};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};

const ARCHITECTURES: &[&str] = &["loom1"];

// Registers the targets in programs that link this crate, and defines the one symbol of the shared library.
tilewright_plugin::register_targets! { plugin: "loom", architectures: ARCHITECTURES, create: create }
tilewright_plugin::export_plugin!();

/// Creates the target from its description, which the host has read; adds the instruction table.
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
        Err(DeviceError::NoRuntime("there is no Loom hardware; its code runs on the emulator".to_owned()))
    }
}

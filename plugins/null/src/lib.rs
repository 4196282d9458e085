//! A plugin that serves one architecture, `null1`, which has no families of layouts and no instructions of its own: neutral
//! layouts, plans, plain multiply-adds and the emulator work all the same. What is to be filled in says so.
//!
//!     cargo build --release
//!     TILEWRIGHT_TARGET_PATH=$PWD/targets conformance --target null1 --plugin target/release/libnull_plugin.so

use tilewright_plugin::kernel::{Kernel, Module, Op};
use tilewright_plugin::layout::{Families, FamilyError, FamilySpec, Layout};
use tilewright_plugin::FactoryError;
use tilewright_plugin::target::{Instruction, TargetDescription};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Emit, KernelMetadata, Payload, Target};

const ARCHITECTURES: &[&str] = &["null1"];

tilewright_plugin::register_targets! { plugin: "null", architectures: ARCHITECTURES, create: create }
tilewright_plugin::export_plugin!();

/// The host has read the target's file; the plugin adds what it knows of the architecture.
fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
    Ok(Box::new(NullTarget { description, instructions: Vec::new() }))
}

struct NullTarget {
    description: TargetDescription,
    /// Matrix instructions and moves between registers and shared memory, as rows: fill in.
    instructions: Vec<Instruction>,
}

impl Target for NullTarget {
    fn description(&self) -> &TargetDescription {
        &self.description
    }

    fn families(&self) -> &dyn Families {
        &NullFamilies
    }

    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The kernel IR as text: fill in a code generator.
    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        for statement in module.kernels.iter().flat_map(|kernel| kernel.statements()) {
            match &statement.op {
                Op::Instruction { name, .. } if self.instructions.iter().all(|row| row.name != *name) => {
                    return Err(CompileError::Unsupported(format!("there is no instruction `{name}`")));
                }
                _ => {}
            }
        }
        let of = |kernel: &Kernel| KernelMetadata::of(kernel, kernel.shared_bytes(), &self.instructions);
        let mut payloads = Vec::new();
        if options.emit.contains(&Emit::Assembly) {
            let bytes = module.to_string().into_bytes();
            payloads.push(Payload { form: Emit::Assembly, format: "txt".to_owned(), bytes, may_differ: false });
        }
        Ok(Artifact { payloads, kernels: module.kernels.iter().map(of).collect(), taken_by: None })
    }

    /// GPUs on this machine: fill in a driver.
    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Err(DeviceError::NoRuntime("this plugin has no driver yet; kernels run on the emulator".to_owned()))
    }
}

/// Families of layouts that only this vendor has: fill in, with samples of each.
struct NullFamilies;

impl Families for NullFamilies {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn resolve(&self, spec: &FamilySpec, _: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() })
    }
}

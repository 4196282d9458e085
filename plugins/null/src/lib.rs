//! A template of a plugin, for one invented architecture, `null1`. It has no layout families and no instructions, but
//! neutral layouts, plans, FMA dots and the emulator work. Places to complete are marked "fill in".
//!
//!     cargo build --release
//!     TILEWRIGHT_TARGET_PATH=$PWD/targets conformance --target null1 --plugin target/release/libnull_plugin.so

use tilewright_plugin::FactoryError;
use tilewright_plugin::kernel::{Kernel, Module, Op};
use tilewright_plugin::layout::{Families, FamilyError, FamilySpec, Layout};
use tilewright_plugin::target::{Instruction, TargetDescription};
use tilewright_plugin::{
    Artifact, CodeFormat, CodePayload, CompileError, CompileOptions, Device, DeviceError, KernelMetadata, Target,
};

const ARCHITECTURES: &[&str] = &["null1"];

tilewright_plugin::register_targets! { plugin: "null", architectures: ARCHITECTURES, create: create }
tilewright_plugin::export_plugin!();

/// Creates a target from its description, which the host has read from the target file.
fn create(description: TargetDescription) -> Result<Box<dyn Target>, FactoryError> {
    Ok(Box::new(NullTarget { description, instructions: Vec::new() }))
}

struct NullTarget {
    description: TargetDescription,
    /// The instruction table: matrix instructions, and moves between registers and shared memory. Fill in.
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

    /// Returns the kernel IR as text instead of machine code. Fill in a code generator.
    fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
        for statement in module.kernels.iter().flat_map(|kernel| kernel.statements()) {
            match &statement.op {
                Op::Instruction { name, .. } if self.instructions.iter().all(|row| row.name != *name) => {
                    return Err(CompileError::Unsupported(format!("there is no instruction `{name}`")));
                }
                _ => {}
            }
        }
        let of = |kernel: &Kernel| KernelMetadata::new(kernel, kernel.shared_bytes(), &self.instructions);
        let mut payloads = Vec::new();
        if options.emit.contains(&CodeFormat::Assembly) {
            let bytes = module.to_string().into_bytes();
            payloads.push(CodePayload {
                form: CodeFormat::Assembly,
                format: "txt".to_owned(),
                bytes,
                may_differ: false,
            });
        }
        Ok(Artifact { payloads, kernels: module.kernels.iter().map(of).collect(), accepted_by: None })
    }

    /// Reports that there is no driver. Fill in a driver for the GPUs of this machine.
    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        Err(DeviceError::NoRuntime("this plugin has no driver yet; kernels run on the emulator".to_owned()))
    }
}

/// The layout families (named constructors of layouts) of this vendor; none so far. Fill in, with sample layouts of
/// each.
struct NullFamilies;

impl Families for NullFamilies {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn resolve(&self, spec: &FamilySpec, _: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() })
    }
}

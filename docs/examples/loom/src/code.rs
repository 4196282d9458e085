//! Code for the machine: its assembly is the kernel IR as text, since nobody has built an assembler for it.

use tilewright_plugin::kernel::{Module, Op};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Emit, KernelMetadata, Payload};

use crate::instruction;

/// The assembly of a module; other forms there are none.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
    let rows = [instruction::row().map_err(|error| CompileError::Backend(error.to_string()))?];
    // What the machine does not have is said, and not written down as if it had.
    for statement in module.kernels.iter().flat_map(|kernel| kernel.statements()) {
        match &statement.op {
            Op::Instruction { name, .. } if rows.iter().all(|row| row.name != *name) => {
                return Err(CompileError::Unsupported(format!("the machine has no instruction `{name}`")));
            }
            _ => {}
        }
    }
    let mut payloads = Vec::new();
    if options.emit.contains(&Emit::Assembly) {
        let bytes = format!("; loom1\n{module}").into_bytes();
        payloads.push(Payload { form: Emit::Assembly, format: "loom".to_owned(), bytes, may_differ: false });
    }
    let kernels =
        module.kernels.iter().map(|kernel| KernelMetadata::of(kernel, kernel.shared_bytes(), &rows)).collect();
    Ok(Artifact { payloads, kernels, taken_by: None })
}

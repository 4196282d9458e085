//! Generates code: the assembly is the text of the kernel IR, since the invented GPU has no assembler.

use tilewright_plugin::kernel::{Module, Op};
use tilewright_plugin::{Artifact, CodeFormat, CodePayload, CompileError, CompileOptions, KernelMetadata};

use crate::instruction;

/// Compiles a module to assembly, the only supported form.
///
/// # Errors
/// `Unsupported` if the module has an instruction that is not in the table.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Artifact, CompileError> {
    let rows = [instruction::row().map_err(|error| CompileError::Backend(error.to_string()))?];
    for statement in module.kernels.iter().flat_map(|kernel| kernel.statements()) {
        match &statement.op {
            Op::Instruction { name, .. } if rows.iter().all(|row| row.name != *name) => {
                return Err(CompileError::Unsupported(format!("the machine has no instruction `{name}`")));
            }
            _ => {}
        }
    }
    let mut payloads = Vec::new();
    if options.emit.contains(&CodeFormat::Assembly) {
        let bytes = format!("; loom1\n{module}").into_bytes();
        payloads.push(CodePayload { form: CodeFormat::Assembly, format: "loom".to_owned(), bytes, may_differ: false });
    }
    let kernels =
        module.kernels.iter().map(|kernel| KernelMetadata::new(kernel, kernel.shared_bytes(), &rows)).collect();
    Ok(Artifact { payloads, kernels, accepted_by: None })
}

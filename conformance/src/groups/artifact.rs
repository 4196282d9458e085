//! Code of a module with one kernel, looked at from outside.

use tilewright::kernel::Module;
use tilewright::vendor::{Artifact, CompileError, CompileOptions, Emit};

use crate::{Context, Level, Verdict};

/// What is asked for: text to look at, and an object that tools take.
pub(super) fn options() -> CompileOptions {
    CompileOptions { emit: vec![Emit::Assembly, Emit::Object], ..CompileOptions::default() }
}

/// Compiles the module twice: the target must give code, of the launch that was asked for, the same
/// both times. The level says whether a tool of the vendor's took it.
pub(super) fn compiled(context: &Context, module: &Module) -> Verdict {
    let compile = || context.target().compile(module, &options());
    let artifact = match compile() {
        Ok(artifact) => artifact,
        Err(CompileError::Unsupported(reason)) => return Verdict::unsupported(reason),
        Err(CompileError::Plugin(message)) => return Verdict::crash(message),
        Err(error) => return Verdict::fail(Level::Codegen, error.to_string()),
    };
    if let Err(wrong) = fits(module, &artifact) {
        return Verdict::fail(Level::Codegen, wrong);
    }
    match compile() {
        Ok(again) if again == artifact => {}
        Ok(_) => return Verdict::fail(Level::Codegen, "compiling the module again gives other code"),
        Err(error) => return Verdict::fail(Level::Codegen, format!("compiling the module again: {error}")),
    }
    match artifact.taken_by {
        Some(tool) => Verdict::pass(Level::Codegen).with_detail(format!("taken by {tool}")),
        None => Verdict::pass(Level::Layout).with_detail("code was generated; no assembler is here to take it"),
    }
}

/// Whether the artifact is code for the module's kernel.
fn fits(module: &Module, artifact: &Artifact) -> Result<(), String> {
    let [kernel] = &module.kernels[..] else { return Err("one kernel was to be compiled".to_owned()) };
    let [metadata] = &artifact.kernels[..] else {
        return Err(format!("the artifact describes {} kernels, the module has one", artifact.kernels.len()));
    };
    let wanted = (&kernel.name, kernel.launch.lanes, kernel.launch.warps);
    if (&metadata.name, metadata.lanes, metadata.warps) != wanted {
        return Err(format!("the artifact describes {metadata:?}; asked for were {wanted:?}"));
    }
    if metadata.shared_bytes < kernel.shared_bytes() {
        let (has, needs) = (metadata.shared_bytes, kernel.shared_bytes());
        return Err(format!("the artifact has {has} bytes of shared memory, the kernel needs {needs}"));
    }
    let text = artifact.text(Emit::Assembly).ok_or("no assembly text was given")?;
    if !text.contains(&kernel.name) {
        return Err(format!("the assembly does not name the kernel `{}`", kernel.name));
    }
    match artifact.payload(Emit::Object) {
        Some(object) if !object.bytes.is_empty() => Ok(()),
        _ => Err("no object was given".to_owned()),
    }
}

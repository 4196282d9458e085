//! Code of a module with one kernel, looked at from outside.

use tilewright_kernel::Module;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Emit};

use crate::{Context, Level, Verdict};

/// What is asked for: text to look at, and an object that tools take.
pub(super) fn options() -> CompileOptions {
    CompileOptions { emit: vec![Emit::Assembly, Emit::Object], ..CompileOptions::default() }
}

/// Compiles the module twice: the target must give code, of the launch that was asked for, the same
/// both times. The level says whether a tool of the vendor's took it. Where the target says of an object that a tool made
/// it which may give other bytes ([`Payload::may_differ`](tilewright_plugin::Payload)), that it did is told, but no failure.
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
    let mut said = String::new();
    match compile() {
        Ok(again) if again == artifact => {}
        Ok(again) if own(&again) == own(&artifact) => said += ", which makes other objects of the same text",
        Ok(_) => return Verdict::fail(Level::Codegen, "compiling the module again gives other code"),
        Err(error) => return Verdict::fail(Level::Codegen, format!("compiling the module again: {error}")),
    }
    match artifact.taken_by {
        Some(tool) => Verdict::pass(Level::Codegen).with_detail(format!("taken by {tool}{said}")),
        None => Verdict::pass(Level::Layout).with_detail("code was generated; no assembler is here to take it"),
    }
}

/// What of an artifact must be the same each time.
fn own(artifact: &Artifact) -> Artifact {
    let mut own = artifact.clone();
    own.payloads.retain(|payload| !payload.may_differ);
    own
}

/// Whether the artifact is code for the module's kernel.
fn fits(module: &Module, artifact: &Artifact) -> Result<(), String> {
    let [kernel] = &module.kernels[..] else { return Err("one kernel was to be compiled".to_owned()) };
    let [metadata] = &artifact.kernels[..] else {
        return Err(format!("the artifact describes {} kernels, the module has one", artifact.kernels.len()));
    };
    let expected = (&kernel.name, kernel.launch.lanes, kernel.launch.warps);
    if (&metadata.name, metadata.lanes, metadata.warps) != expected {
        return Err(format!("the artifact describes {metadata:?}; asked for were {expected:?}"));
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
        Some(object) if object.bytes.is_empty() => Err("the object is empty".to_owned()),
        // A target whose compiler has no such form leaves it out; no assembler takes the code then.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plugin::Payload;

    fn artifact(text: &str, object: &str, may_differ: bool) -> Artifact {
        let payload = |form, format: &str, text: &str, may_differ| Payload {
            form,
            format: format.to_owned(),
            bytes: text.into(),
            may_differ,
        };
        let payloads =
            vec![payload(Emit::Assembly, "text", text, false), payload(Emit::Object, "object", object, may_differ)];
        Artifact { payloads, kernels: Vec::new(), taken_by: Some("tool".to_owned()) }
    }

    #[test]
    fn objects_are_the_same_unless_the_target_says_that_they_may_differ() {
        let same = |a: &Artifact, b: &Artifact| own(a) == own(b);
        assert!(same(&artifact("a", "x", true), &artifact("a", "y", true)));
        assert!(!same(&artifact("a", "x", true), &artifact("b", "x", true)));
        assert!(!same(&artifact("a", "x", false), &artifact("a", "y", false)), "whoever took it");
    }
}

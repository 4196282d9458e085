//! Compiles a module with one kernel and checks the artifact (the compiled code) without running it.

use tilewright_kernel::Module;
use tilewright_plugin::{Artifact, CodeFormat, CompileError, CompileOptions};

use crate::{Context, EvidenceLevel, Verdict};

/// Returns options that request assembly, for comparisons, and an object, so that an assembler checks the code.
pub(super) fn options() -> CompileOptions {
    CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() }
}

/// Compiles the module twice. Both compilations must give the same code, and launch metadata with the module's sizes.
///
/// The level of the verdict shows whether an assembler, or another tool for the target, accepted the code. An object
/// may differ if a tool that makes it is not deterministic
/// ([`CodePayload::may_differ`](tilewright_plugin::CodePayload)); the detail notes this.
pub(super) fn check_compilation(context: &Context, module: &Module) -> Verdict {
    let compile = || context.target().compile(module, &options());
    let artifact = match compile() {
        Ok(artifact) => artifact,
        Err(CompileError::Unsupported(reason)) => return Verdict::unsupported(reason),
        Err(CompileError::Plugin(message)) => return Verdict::crash(message),
        Err(error) => return Verdict::fail(EvidenceLevel::Codegen, error.to_string()),
    };
    if let Err(wrong) = check_artifact(module, &artifact) {
        return Verdict::fail(EvidenceLevel::Codegen, wrong);
    }
    let mut remark = String::new();
    match compile() {
        Ok(second) if second == artifact => {}
        Ok(second) if reproducible_artifact(&second) == reproducible_artifact(&artifact) => {
            remark += ", with different objects for the same text"
        }
        Ok(_) => return Verdict::fail(EvidenceLevel::Codegen, "a second compilation returns different code"),
        Err(error) => return Verdict::fail(EvidenceLevel::Codegen, format!("the second compilation fails: {error}")),
    }
    match artifact.accepted_by {
        Some(tool) => Verdict::pass(EvidenceLevel::Codegen).with_detail(format!("accepted by {tool}{remark}")),
        None => {
            Verdict::pass(EvidenceLevel::Layout).with_detail("code was generated; this machine has no assembler for it")
        }
    }
}

/// Returns the artifact without the payloads that may differ between compilations of the same module.
fn reproducible_artifact(artifact: &Artifact) -> Artifact {
    let mut own = artifact.clone();
    own.payloads.retain(|payload| !payload.may_differ);
    own
}

/// Checks that the artifact has assembly and launch metadata of the module's only kernel, and no empty object.
fn check_artifact(module: &Module, artifact: &Artifact) -> Result<(), String> {
    let [kernel] = &module.kernels[..] else { return Err("one kernel was to be compiled".to_owned()) };
    let [metadata] = &artifact.kernels[..] else {
        return Err(format!("the artifact describes {} kernels, the module has one", artifact.kernels.len()));
    };
    let expected = (&kernel.name, kernel.launch.lanes, kernel.launch.warps);
    if (&metadata.name, metadata.lanes, metadata.warps) != expected {
        return Err(format!("the artifact describes {metadata:?}; requested {expected:?}"));
    }
    if metadata.shared_bytes < kernel.shared_bytes() {
        let (has, needs) = (metadata.shared_bytes, kernel.shared_bytes());
        return Err(format!("the artifact has {has} bytes of shared memory, the kernel needs {needs}"));
    }
    let text = artifact.payload_text(CodeFormat::Assembly).ok_or("no assembly text was given")?;
    if !text.contains(&kernel.name) {
        return Err(format!("the assembly does not name the kernel `{}`", kernel.name));
    }
    match artifact.payload(CodeFormat::Object) {
        Some(object) if object.bytes.is_empty() => Err("the object is empty".to_owned()),
        // A compiler without objects gives none, and then no assembler has checked the code.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plugin::CodePayload;

    fn artifact(text: &str, object: &str, may_differ: bool) -> Artifact {
        let payload = |form, format: &str, text: &str, may_differ| CodePayload {
            form,
            format: format.to_owned(),
            bytes: text.into(),
            may_differ,
        };
        let payloads = vec![
            payload(CodeFormat::Assembly, "text", text, false),
            payload(CodeFormat::Object, "object", object, may_differ),
        ];
        Artifact { payloads, kernels: Vec::new(), accepted_by: Some("tool".to_owned()) }
    }

    #[test]
    fn artifacts_are_reproducible_unless_the_target_opts_out() {
        let same = |a: &Artifact, b: &Artifact| reproducible_artifact(a) == reproducible_artifact(b);
        assert!(same(&artifact("a", "x", true), &artifact("a", "y", true)));
        assert!(!same(&artifact("a", "x", true), &artifact("b", "x", true)));
        assert!(!same(&artifact("a", "x", false), &artifact("a", "y", false)), "whoever took it");
    }
}

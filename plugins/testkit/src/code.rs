//! Compiles kernels in the tests of plugins.

use crate::prelude::*;

/// Compiles kernels to the given forms; returns the artifact or the error.
pub fn artifact(target: &dyn Target, kernels: Vec<Kernel>, emit: &[CodeFormat]) -> Result<Artifact, CompileError> {
    target.compile(
        &Module { kernels },
        &CompileOptions { emit: emit.to_vec(), optimisation: 2, ..CompileOptions::default() },
    )
}

/// Compiles kernels to assembly; panics with the error if that fails.
pub fn assembly(target: &dyn Target, kernels: Vec<Kernel>) -> String {
    text_of(artifact(target, kernels, &[CodeFormat::Assembly]))
}

/// Compiles kernels to assembly and to an object; the vendor's tools check the object if they are installed. Returns
/// the assembly.
pub fn assembled(target: &dyn Target, kernels: Vec<Kernel>) -> String {
    text_of(artifact(target, kernels, &[CodeFormat::Assembly, CodeFormat::Object]))
}

fn text_of(compiled: Result<Artifact, CompileError>) -> String {
    let artifact = compiled.unwrap_or_else(|error| panic!("{error}"));
    artifact.payload_text(CodeFormat::Assembly).expect("assembly is text").to_owned()
}

/// Compiles kernels, which must fail, and returns the error.
#[track_caller]
pub fn refusal(target: &dyn Target, kernels: Vec<Kernel>) -> CompileError {
    artifact(target, kernels, &[CodeFormat::Assembly, CodeFormat::Object]).expect_err("it is rejected")
}

/// Returns the number of lines of code that begin with `word`.
pub fn count(code: &str, word: &str) -> u64 {
    code.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64
}

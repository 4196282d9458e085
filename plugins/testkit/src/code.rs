//! Kernels as code.

use crate::prelude::*;

/// Kernels in the given forms, or why there is no code.
pub fn artifact(target: &dyn Target, kernels: Vec<Kernel>, emit: &[Emit]) -> Result<Artifact, CompileError> {
    target.compile(&Module { kernels }, &CompileOptions { emit: emit.to_vec(), optimisation: 2 })
}

/// The assembly of kernels.
pub fn assembly(target: &dyn Target, kernels: Vec<Kernel>) -> String {
    text_of(artifact(target, kernels, &[Emit::Assembly]))
}

/// The assembly of kernels of which an object is made too, by the vendor's tools where they are at hand.
pub fn assembled(target: &dyn Target, kernels: Vec<Kernel>) -> String {
    text_of(artifact(target, kernels, &[Emit::Assembly, Emit::Object]))
}

fn text_of(compiled: Result<Artifact, CompileError>) -> String {
    let artifact = compiled.unwrap_or_else(|error| panic!("{error}"));
    artifact.text(Emit::Assembly).expect("assembly is text").to_owned()
}

/// Why there is no code for kernels.
#[track_caller]
pub fn refusal(target: &dyn Target, kernels: Vec<Kernel>) -> CompileError {
    artifact(target, kernels, &[Emit::Assembly, Emit::Object]).expect_err("it is refused")
}

/// How many lines of code begin with a word.
pub fn count(code: &str, word: &str) -> u64 {
    code.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64
}

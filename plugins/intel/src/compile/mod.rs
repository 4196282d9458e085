//! Compiles kernel IR to SPIR-V for the OpenCL environment.
//!
//! Each kernel becomes one entry point with a required sub-group size and work-group size. Shared memory is one
//! variable in work-group memory, and a shared pointer is a 32-bit offset into it. A kernel-IR vector becomes several
//! SPIR-V vectors ("parts") of at most 16 elements, SPIR-V's limit. A type that an architecture cannot compute with,
//! such as `bf16`, is held as an integer of the same width. Tests of this crate validate the output; [`outside`] runs
//! the Khronos validator if it is installed.
//!
//! Assertions and prints are left out, because kernels can neither abort nor print here. Grid dependencies need no
//! code, because kernels of consecutive launches do not overlap.
//!
//! The optimisation level changes nothing here: the driver optimises when it compiles the SPIR-V.

mod arithmetic;
mod atomic;
mod bfloat;
mod block_read;
mod casts;
mod collective;
mod control;
mod emit;
mod emitted;
mod extended;
mod float;
mod instruction;
mod kernel;
mod memory;
pub mod offline;
mod offline_reads;
mod ordered;
pub mod outside;
mod prefetch;

use rspirv::binary::{Assemble, Disassemble};
use tilewright_kernel::Module;
use tilewright_plugin::codegen::{check_kernel_signatures, check_limits, list_kernel_launch_metadata};
use tilewright_plugin::{Artifact, CodeFormat, CodePayload, CompileError, CompileOptions};
use tilewright_target::{Instruction, TargetDescription};

use crate::Architecture;
use emit::Emitter;
use tilewright_intel_device::needs_large_mode;

/// The target of a compilation: its description, instruction table and architecture.
#[derive(Clone, Copy)]
struct CompileTarget<'a> {
    description: &'a TargetDescription,
    instructions: &'a [Instruction],
}

/// Compiles all kernels of a module to one SPIR-V artifact.
///
/// # Errors
/// [`CompileError::Option`] if the optimisation level is above 3, [`CompileError::Unsupported`] if this plugin or the
/// target cannot do what the module requires, [`CompileError::Invalid`] if the module violates a rule, and
/// [`CompileError::Backend`] if no SPIR-V can be built or an installed checker rejects it.
pub fn compile_module(
    description: &TargetDescription,
    instructions: &[Instruction],
    module: &Module,
    options: &CompileOptions,
) -> Result<Artifact, CompileError> {
    if options.optimisation > 3 {
        let message = format!("level {} is requested; levels are 0 to 3", options.optimisation);
        return Err(CompileError::Option { option: "optimisation".to_owned(), message });
    }
    let architecture = Architecture::from_name(&description.architecture).ok_or_else(|| {
        CompileError::Unsupported(format!(
            "this plugin generates no code for architecture `{}`",
            description.architecture
        ))
    })?;
    let target = CompileTarget { description, instructions };
    let mut emitter = Emitter::new(architecture);
    check_kernel_signatures(module)?;
    check_limits(description, module)?;
    for kernel in &module.kernels {
        kernel::lower(target, &mut emitter, kernel)?;
    }
    let spirv = emitter.finish();
    let words = spirv.assemble();
    let payloads = payloads(options, &words, || spirv.disassemble());
    let object = payloads.iter().find(|payload| payload.form == CodeFormat::Object);
    let kernels = list_kernel_launch_metadata(module, instructions)?;
    let is_large = needs_large_mode(&kernels);
    let accepted_by = object.map_or(Ok(None), |object| run_checkers(&object.bytes, architecture, is_large))?;
    Ok(Artifact { payloads, kernels, accepted_by })
}

/// Runs the installed checkers (validator and offline compiler) on SPIR-V and returns the names of those that accepted
/// it; `None` if none is installed. `is_large` selects the large register mode of the offline compiler.
fn run_checkers(spirv: &[u8], architecture: Architecture, is_large: bool) -> Result<Option<String>, CompileError> {
    let tools = [outside::check(spirv)?, offline::check(spirv, architecture, is_large)?];
    let names: Vec<String> = tools.into_iter().flatten().collect();
    Ok((!names.is_empty()).then(|| names.join(" and ")))
}

fn payloads(options: &CompileOptions, words: &[u32], text: impl Fn() -> String) -> Vec<CodePayload> {
    let mut payloads: Vec<CodePayload> = Vec::new();
    for &form in &options.emit {
        let (format, bytes) = match form {
            CodeFormat::Object => ("spv", words.iter().flat_map(|word| word.to_le_bytes()).collect()),
            CodeFormat::Assembly => ("spvasm", text().into_bytes()),
            _ => continue,
        };
        if !payloads.iter().any(|payload| payload.form == form) {
            payloads.push(CodePayload { form, format: format.to_owned(), bytes, may_differ: false });
        }
    }
    payloads
}

//! Kernel IR to SPIR-V, for the OpenCL environment.
//!
//! Each kernel becomes one entry point with a required sub-group size and work-group size. Shared
//! memory is one work-group variable a kernel, and a shared pointer is a 32-bit offset into it.
//! Vectors are held in parts of at most sixteen elements, the most that SPIR-V vectors have.
//! Values that an architecture cannot compute with, `bf16` first of all, are carried as integers
//! of their width. The tests of this crate validate what comes out; [`outside`] asks the Khronos validator, if there is one.
//!
//! Assertions and prints are left out: kernels can neither end a run nor print here. Grids do not overlap.
//!
//! Optimisation is the driver's when it finishes the code; the level changes nothing here.

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
use tilewright_plugin::codegen::{check_limits, check_signatures, kernel_metadata};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Emit, Payload};
use tilewright_target::{Instruction, TargetDescription};

use crate::Architecture;
use emit::Emitter;

/// What a kernel is compiled for.
#[derive(Clone, Copy)]
struct Machine<'a> {
    description: &'a TargetDescription,
    instructions: &'a [Instruction],
}

/// Code for all kernels of a module.
///
/// # Errors
/// [`CompileError`]: see its variants for whose fault each is.
pub fn compile(
    description: &TargetDescription,
    instructions: &[Instruction],
    module: &Module,
    options: &CompileOptions,
) -> Result<Artifact, CompileError> {
    if options.optimisation > 3 {
        let message = format!("level {} asked for, levels are 0 to 3", options.optimisation);
        return Err(CompileError::Option { option: "optimisation".to_owned(), message });
    }
    let architecture = Architecture::named(&description.architecture).ok_or_else(|| {
        CompileError::Unsupported(format!("this plugin makes no code for architecture `{}`", description.architecture))
    })?;
    let machine = Machine { description, instructions };
    let mut emitter = Emitter::new(architecture);
    check_signatures(module)?;
    check_limits(description, module)?;
    for kernel in &module.kernels {
        kernel::lower(machine, &mut emitter, kernel)?;
    }
    let spirv = emitter.finish();
    let words = spirv.assemble();
    let payloads = payloads(options, &words, || spirv.disassemble());
    let object = payloads.iter().find(|payload| payload.form == Emit::Object);
    let taken_by = object.map_or(Ok(None), |object| taken_by(&object.bytes, architecture))?;
    Ok(Artifact { payloads, kernels: kernel_metadata(module, instructions)?, taken_by })
}

/// The tools at hand that took the SPIR-V, by name.
fn taken_by(spirv: &[u8], architecture: Architecture) -> Result<Option<String>, CompileError> {
    let tools = [outside::check(spirv)?, offline::check(spirv, architecture)?];
    let names: Vec<String> = tools.into_iter().flatten().collect();
    Ok((!names.is_empty()).then(|| names.join(" and ")))
}

fn payloads(options: &CompileOptions, words: &[u32], text: impl Fn() -> String) -> Vec<Payload> {
    let mut payloads: Vec<Payload> = Vec::new();
    for &form in &options.emit {
        let (format, bytes) = match form {
            Emit::Object => ("spv", words.iter().flat_map(|word| word.to_le_bytes()).collect()),
            Emit::Assembly => ("spvasm", text().into_bytes()),
            _ => continue,
        };
        if !payloads.iter().any(|payload| payload.form == form) {
            payloads.push(Payload { form, format: format.to_owned(), bytes, may_differ: false });
        }
    }
    payloads
}

//! Generates code for NVIDIA GPUs: kernel IR through LLVM to PTX, then to a cubin if the vendor's assembler is
//! installed.
//!
//! Output forms (of `CompileOptions`): `Intermediate` is LLVM IR and `Assembly` is PTX. `Object` is a cubin, or PTX if
//! `ptxas` is not found; the CUDA driver loads either, and the payload's format names it.

mod asynchronous;
mod atomic;
mod bulk;
mod capability;
mod chained_dots;
mod conversion;
mod fragments;
mod group;
mod instruction;
pub(crate) mod lines;
mod live_words;
mod load_loops;
mod mbarrier;
mod predicated;
mod ptx;
mod registers;
mod segment;
mod spills;
mod tensor;
mod warp_reductions;

use std::borrow::Cow;

use tilewright_kernel::Module;
use tilewright_llvm::{GeneratedCode, LlvmOutputKind};
use tilewright_plugin::codegen::{check_compilable_as_device_functions, check_limits, list_kernel_launch_metadata};
use tilewright_plugin::{Artifact, CodeFormat, CodePayload, CompileError, CompileOptions, check_module_tensor_maps};
use tilewright_target::{Instruction, Optimization, TargetDescription};

use crate::object;
use ptx::Ptx;

/// Compiles a kernel-IR module for a target, to the output forms that the options request.
pub(crate) fn compile(
    target: &TargetDescription,
    rows: &[Instruction],
    module: &Module,
    options: &CompileOptions,
) -> Result<Artifact, CompileError> {
    check_limits(target, module)?;
    check_module_tensor_maps(rows, module)?;
    let dialect = Ptx {
        target,
        rows,
        version: instruction::ptx_version(&target.architecture, module),
        tensor: tensor::is_used(module),
        groups: group::is_used(module),
        disabled: options.disabled,
    };
    let mut forms = Vec::new();
    for emit in &options.emit {
        match emit {
            CodeFormat::Intermediate => forms.push(LlvmOutputKind::Intermediate),
            // `ptxas` assembles the object from the PTX text.
            CodeFormat::Assembly | CodeFormat::Object => forms.push(LlvmOutputKind::Assembly),
            CodeFormat::Functions => {
                check_compilable_as_device_functions(target, module)?;
                forms.push(LlvmOutputKind::Functions);
            }
            _ => {}
        }
    }
    let enables = |optimization| !options.disabled.contains(optimization);
    let has_reductions = enables(Optimization::WarpReductions)
        && capability::capability(&target.architecture) >= warp_reductions::CAPABILITY;
    let fused = if has_reductions { warp_reductions::fuse(module) } else { Cow::Borrowed(module) };
    let code = tilewright_llvm::compile_module(&dialect, &fused, options.optimisation, &forms)?;
    let copies_fragments = enables(Optimization::FragmentCopies);
    let payloads = payloads(target, code, &options.emit, copies_fragments)?;
    let assembled = payloads.iter().any(|payload| payload.form == CodeFormat::Object && payload.format == OF_PTXAS);
    let accepted_by = assembled.then(|| "ptxas".to_owned());
    Ok(Artifact { payloads, kernels: list_kernel_launch_metadata(module, rows)?, accepted_by })
}

/// The payload format of objects that `ptxas` writes. Two runs may write different bytes: versions 12.9 and 13.4 number
/// uniform registers of some `sm_100a` kernels differently from run to run.
const OF_PTXAS: &str = "cubin";

fn payloads(
    target: &TargetDescription,
    code: GeneratedCode,
    emit: &[CodeFormat],
    copies_fragments: bool,
) -> Result<Vec<CodePayload>, CompileError> {
    let mut payloads = Vec::new();
    let payload = |form, format: &str, bytes| CodePayload {
        form,
        format: format.to_owned(),
        bytes,
        may_differ: format == OF_PTXAS,
    };
    if let Some(text) = code.intermediate {
        payloads.push(payload(CodeFormat::Intermediate, "ll", text.into_bytes()));
    }
    if let Some(bitcode) = code.functions {
        payloads.push(payload(CodeFormat::Functions, "bc", bitcode));
    }
    let Some(ptx) = code.assembly.map(lines::keep_lines_only) else {
        return Ok(payloads);
    };
    let ptx = if copies_fragments { fragments::copy_fragments(ptx) } else { ptx };
    if emit.contains(&CodeFormat::Object) {
        payloads.push(match object::assemble(&target.architecture, &ptx)? {
            Some(cubin) => payload(CodeFormat::Object, OF_PTXAS, cubin),
            None => payload(CodeFormat::Object, "ptx", ptx.clone()),
        });
    }
    if emit.contains(&CodeFormat::Assembly) {
        payloads.push(payload(CodeFormat::Assembly, "ptx", ptx));
    }
    payloads.sort_by_key(|payload| payload.form);
    Ok(payloads)
}

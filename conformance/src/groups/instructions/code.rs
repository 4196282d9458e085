//! Checks that instructions compile, each in a kernel that issues it once.

use tilewright_kernel::{Builder, Module, Op, StaticLaunchConfig};
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::CompileError;
use tilewright_target::Instruction;
use tilewright_verify::kernels::build_instruction_kernel_with_tensor_memory;

use super::super::artifact;
use crate::{Context, EvidenceLevel, Verdict};

/// Compiles the instruction's kernel twice and compares the code; see [`artifact::check_compilation`].
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let target = context.target();
    let plan_context = PlanContext::new(target.description()).with_instructions(target.instructions());
    match build_instruction_kernel_with_tensor_memory("issue", row, plan_context) {
        Ok(kernel) => artifact::check_compilation(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(EvidenceLevel::Layout, wrong.to_string()),
    }
}

/// Checks that a kernel with an instruction that is in no target's table is rejected as unsupported, with the
/// instruction's name.
pub(super) fn unknown(context: &Context) -> Verdict {
    const NAME: &str = "no.such.row";
    let lanes = context.target().description().lanes.default;
    let mut builder = Builder::new("unknown", StaticLaunchConfig::new(lanes, 1), &[]);
    builder.effect(Op::Instruction { name: NAME.to_owned(), operands: Vec::new() });
    let module = Module { kernels: vec![builder.finish()] };
    match context.target().compile(&module, &artifact::options()) {
        Err(CompileError::Unsupported(message)) if message.contains(NAME) => Verdict::pass(EvidenceLevel::Layout),
        Err(CompileError::Plugin(message)) => Verdict::crash(message),
        other => {
            Verdict::fail(EvidenceLevel::Codegen, format!("expected that `{NAME}` is unsupported, found {other:?}"))
        }
    }
}

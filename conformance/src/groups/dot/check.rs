//! Checks of a dot (matrix multiply): its kernel computes correct results on the emulator and on a device, and
//! compiles.

use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_plan::mma;
use tilewright_plan::mma::{MmaError, MmaPlan, MmaProblem};
use tilewright_plan::movement::PlanContext;
use tilewright_target::TargetDescription;
use tilewright_verify::kernels::build_mma_kernel;
use tilewright_verify::{CheckFailure, build_mma_plan_cases, check_all_emulated};

use super::super::artifact;
use super::super::emulated::merge_verdicts;
use super::super::executed::{not_built, on_device};
use crate::{Case, Context, EvidenceLevel, Verdict};

/// Returns the number of warps for a dot of shape [M, N, K] with `bits`-bit accumulator elements: four, or one if M * N
/// is below 256. The number is doubled while a lane would hold more than 64 words of the accumulator, up to the
/// target's limit.
pub(super) fn warps([m, n, _]: [u64; 3], bits: u32, target: &TargetDescription) -> u32 {
    let words = m * n * u64::from(bits.div_ceil(32));
    let mut warps = if m * n < 256 { 1 } else { 4 };
    while words > 64 * u64::from(target.lanes.default * warps)
        && target.lanes.default * warps < target.limits.lanes_per_block
    {
        warps *= 2;
    }
    warps
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}

/// Returns the cheapest plan for an MMA problem, or the verdict if there is none.
pub(in crate::groups) fn planned(context: &Context, problem: &MmaProblem) -> Result<MmaPlan, Verdict> {
    mma::plan_mma(problem, plan_context(context)).map_err(|error| match error {
        MmaError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => Verdict::fail(EvidenceLevel::Layout, error.to_string()),
    })
}

/// Runs the plan's kernel on the emulator with inputs of three kinds: elements that can be summed exactly, any elements
/// and, for scaled dots, some NaN scales.
pub(super) fn check_on_emulator(context: &Context, problem: &MmaProblem) -> Verdict {
    let plan = match planned(context, problem) {
        Ok(plan) => plan,
        Err(verdict) => return verdict,
    };
    let cases = build_mma_plan_cases(&plan, plan_context(context));
    match cases.and_then(|cases| check_all_emulated(&cases, plan_context(context))) {
        Ok(_) => Verdict::pass(EvidenceLevel::Emulated).with_detail(format!("by {}", plan.atom_name())),
        Err(wrong @ (CheckFailure::Row(_) | CheckFailure::Invalid(_))) => {
            Verdict::fail(EvidenceLevel::Layout, wrong.to_string())
        }
        Err(wrong) => Verdict::fail(EvidenceLevel::Emulated, format!("by {}: {wrong}", plan.atom_name())),
    }
}

/// Returns a case that runs the plan's kernel on a device, with the same inputs as on the emulator.
pub(super) fn device_dot_case(
    name: String,
    problem: impl Fn(&Context) -> Result<MmaProblem, Verdict> + Clone + Send + Sync + 'static,
) -> Case {
    let packed = problem.clone();
    let check = move |context: &Context| {
        let plan = problem(context).and_then(|problem| planned(context, &problem))?;
        let cases = build_mma_plan_cases(&plan, plan_context(context)).map_err(not_built)?;
        let verdict = on_device(context, &cases);
        let detail = format!("by {}: {}", plan.atom_name(), verdict.detail);
        Ok(verdict.with_detail(detail))
    };
    Case::new(name, move |context| merge_verdicts(check(context))).with_test_cases(move |context| {
        build_mma_plan_cases(&planned(context, &packed(context)?)?, plan_context(context)).map_err(not_built)
    })
}

/// Compiles the plan's kernel twice and compares the code; see [`artifact::check_compilation`].
pub(super) fn compiled(context: &Context, problem: &MmaProblem) -> Verdict {
    let plan = match planned(context, problem) {
        Ok(plan) => plan,
        Err(verdict) => return verdict,
    };
    let kernel = match build_mma_kernel(&plan, false, plan_context(context)) {
        Ok(kernel) => kernel,
        Err(error) => return Verdict::fail(EvidenceLevel::Layout, error.to_string()),
    };
    let module = Module { kernels: vec![kernel] };
    if let Err(error) = kernel::verify(&module) {
        return Verdict::fail(EvidenceLevel::Layout, error.to_string());
    }
    let verdict = artifact::check_compilation(context, &module);
    let detail = format!("by {}: {}", plan.atom_name(), verdict.detail);
    verdict.with_detail(detail)
}

//! Checks of layout conversions on the emulator, and as code that an assembler accepts.

use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::build_conversion_kernel;
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionPlan, MovementError, PlanContext, RejectedCandidate};
use tilewright_verify::{TestCase, build_conversion_case, check_emulated};

use super::super::artifact;
use super::super::executed::not_built;
use super::ConversionCase;
use crate::{Context, EvidenceLevel, Verdict};

/// Runs every candidate plan of a layout conversion on the emulator, not only the cheapest.
///
/// Each register of each lane must get the element that the destination layout gives it. The executed operations must
/// equal the plan's counts, and be no fewer than the plan's lower bound.
pub fn check_emulated_plans(context: &Context, conversion: &ConversionCase) -> Verdict {
    let (src, dst) = match conversion.layouts(context) {
        Ok(layouts) => layouts,
        Err(verdict) => return verdict,
    };
    let bits = conversion.tensor.setting.element.bits();
    let plan_context = plan_context(context);
    let plans = match movement::conversion_candidates(&src, &dst, bits, plan_context) {
        Ok((plans, rejected)) if plans.is_empty() => {
            return Verdict::unsupported(RejectedCandidate::list_reasons(&rejected));
        }
        Ok((plans, _)) => plans,
        Err(error) => return Verdict::fail(EvidenceLevel::Layout, error.to_string()),
    };
    for plan in &plans {
        let case = build_conversion_case([&src, &dst], bits, plan, plan_context);
        if let Err(wrong) = case.and_then(|case| check_emulated(&case, plan_context)) {
            return Verdict::fail(EvidenceLevel::Emulated, format!("path {}: {wrong}", plan.path));
        }
    }
    let best = plans.iter().min_by(|a, b| a.compare_cost(b));
    match best.and_then(above_bound) {
        None => Verdict::pass(EvidenceLevel::Emulated),
        Some(reason) => Verdict::quality(EvidenceLevel::Emulated, reason),
    }
}

/// Builds the kernel of the best plan, which checks that each register of each lane gets the destination layout's
/// element.
///
/// # Errors
/// The verdict of the case if a layout cannot be built, the conversion has no plan, or its kernel is too large to
/// compile.
pub fn build_best_plan_test(context: &Context, conversion: &ConversionCase) -> Result<Vec<TestCase>, Verdict> {
    let ((src, dst), plan) = best_plan(context, conversion)?;
    let case =
        build_conversion_case([&src, &dst], conversion.tensor.setting.element.bits(), &plan, plan_context(context));
    case.map(|case| vec![case]).map_err(not_built)
}

/// Returns the source layout, the destination layout, and the cheapest plan of the conversion.
fn best_plan(
    context: &Context,
    conversion: &ConversionCase,
) -> Result<((LinearLayout, LinearLayout), ConversionPlan), Verdict> {
    // A kernel that is not compiled, as it is too large, is not run either.
    module(context, conversion)?;
    let (src, dst) = conversion.layouts(context)?;
    let plan = movement::plan_conversion(&src, &dst, conversion.tensor.setting.element.bits(), plan_context(context));
    Ok(((src, dst), plan.map_err(|error| Verdict::fail(EvidenceLevel::Layout, error.to_string()))?))
}

/// Max number of operations of a kernel that is compiled, to limit the time of a case.
const MOST_OPERATIONS: usize = 2000;

/// Returns a planning context with all instructions of the target.
fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}

fn above_bound(plan: &ConversionPlan) -> Option<String> {
    plan.stats.above_bound.as_ref().map(|reason| format!("path {}: {reason}", plan.path))
}

/// Compiles the best plan's kernel twice; both compilations must give the same code. The level of the verdict shows
/// whether an assembler accepted the code.
pub fn check_reproducible_compilation(context: &Context, conversion: &ConversionCase) -> Verdict {
    let module = match module(context, conversion) {
        Ok(module) => module,
        Err(verdict) => return verdict,
    };
    artifact::check_compilation(context, &module)
}

fn module(context: &Context, conversion: &ConversionCase) -> Result<Module, Verdict> {
    let failed = |message: String| Verdict::fail(EvidenceLevel::Layout, message);
    let (src, dst) = conversion.layouts(context)?;
    let bits = conversion.tensor.setting.element.bits();
    fits_registers(context, &src, bits)?;
    fits_registers(context, &dst, bits)?;
    let plan = movement::plan_conversion(&src, &dst, bits, plan_context(context)).map_err(|error| match error {
        MovementError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => failed(error.to_string()),
    })?;
    let kernel = build_conversion_kernel("convert", [&src, &dst], bits, &plan, plan_context(context))
        .map_err(|error| failed(error.to_string()))?;
    let operations = kernel.statements().len();
    if operations > MOST_OPERATIONS {
        let reason =
            format!("its kernel has more than {MOST_OPERATIONS} operations, for which code generators take minutes");
        return Err(Verdict::skip(reason));
    }
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module).map_err(|error| failed(error.to_string()))?;
    Ok(module)
}

/// Fails unless the elements that a lane holds in the layout fit the registers. Others would spill to memory, so no
/// program needs such a conversion.
fn fits_registers(context: &Context, layout: &LinearLayout, bits: u32) -> Result<(), Verdict> {
    let needed = (u64::from(bits) << layout.in_bits(Dim::REGISTER)).div_ceil(32);
    let limit = context.target().description().limits.registers_per_lane;
    if needed <= u64::from(limit) {
        return Ok(());
    }
    Err(Verdict::unsupported(format!("a lane would need {needed} registers of 32 bits; it has {limit} at most")))
}

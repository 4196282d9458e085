//! Conversions shown on the emulator, and as code that an assembler takes.

use tilewright_kernel as kernel;
use tilewright_kernel::Module;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::conversion_kernel;
use tilewright_plan::movement;
use tilewright_plan::movement::{MovementError, Plan, PlanContext, Rejected};
use tilewright_verify::{TestCase, check_emulated, conversion_case};

use super::super::artifact;
use super::super::executed::not_built;
use super::ConversionCase;
use crate::{Context, Level, Verdict};

/// Runs every plan that the planner weighs: each register of each lane must hold what the
/// destination layout says, and what is executed must be what the plan counts, never below the
/// plan's bound.
pub fn emulated(context: &Context, conversion: &ConversionCase) -> Verdict {
    let (src, dst) = match conversion.layouts(context) {
        Ok(layouts) => layouts,
        Err(verdict) => return verdict,
    };
    let bits = conversion.tensor.setting.element.bits();
    let plan_context = plan_context(context);
    let plans = match movement::candidates(&src, &dst, bits, plan_context) {
        Ok((plans, rejected)) if plans.is_empty() => {
            return Verdict::unsupported(Rejected::list(&rejected));
        }
        Ok((plans, _)) => plans,
        Err(error) => return Verdict::fail(Level::Layout, error.to_string()),
    };
    for plan in &plans {
        let case = conversion_case([&src, &dst], bits, plan, plan_context);
        if let Err(wrong) = case.and_then(|case| check_emulated(&case, plan_context)) {
            return Verdict::fail(Level::Emulated, format!("path {}: {wrong}", plan.path));
        }
    }
    let best = plans.iter().min_by(|a, b| a.compare(b));
    match best.and_then(above_bound) {
        None => Verdict::pass(Level::Emulated),
        Some(reason) => Verdict::quality(Level::Emulated, reason),
    }
}

/// The kernel of the best plan: each register of each lane must hold what the destination layout says.
///
/// # Errors
/// The verdict where there is none.
pub fn test_cases(context: &Context, conversion: &ConversionCase) -> Result<Vec<TestCase>, Verdict> {
    let ((src, dst), plan) = chosen(context, conversion)?;
    let case = conversion_case([&src, &dst], conversion.tensor.setting.element.bits(), &plan, plan_context(context));
    case.map(|case| vec![case]).map_err(not_built)
}

/// The layouts, and the best plan.
fn chosen(context: &Context, conversion: &ConversionCase) -> Result<((LinearLayout, LinearLayout), Plan), Verdict> {
    // What is not compiled does not run.
    module(context, conversion)?;
    let (src, dst) = conversion.layouts(context)?;
    let plan = movement::convert(&src, &dst, conversion.tensor.setting.element.bits(), plan_context(context));
    Ok(((src, dst), plan.map_err(|error| Verdict::fail(Level::Layout, error.to_string()))?))
}

/// Kernels of more operations than this are not compiled.
const MOST_OPERATIONS: usize = 2000;

/// All that the target has.
fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::of(context.target().description()).with_instructions(context.target().instructions())
}

fn above_bound(plan: &Plan) -> Option<String> {
    plan.stats.above_bound.as_ref().map(|reason| format!("path {}: {reason}", plan.path))
}

/// Compiles the best plan's kernel twice: the target must give code, of the launch that was
/// asked for, the same both times. The level says whether a tool of the vendor's took it.
pub fn compiled(context: &Context, conversion: &ConversionCase) -> Verdict {
    let module = match module(context, conversion) {
        Ok(module) => module,
        Err(verdict) => return verdict,
    };
    artifact::compiled(context, &module)
}

fn module(context: &Context, conversion: &ConversionCase) -> Result<Module, Verdict> {
    let failed = |message: String| Verdict::fail(Level::Layout, message);
    let (src, dst) = conversion.layouts(context)?;
    let bits = conversion.tensor.setting.element.bits();
    fits_registers(context, &src, bits)?;
    fits_registers(context, &dst, bits)?;
    let plan = movement::convert(&src, &dst, bits, plan_context(context)).map_err(|error| match error {
        MovementError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => failed(error.to_string()),
    })?;
    let kernel = conversion_kernel("convert", [&src, &dst], bits, &plan, plan_context(context))
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

/// Whether a lane can hold its part of the layout at all; what it cannot would go to memory, which is
/// no conversion that anyone would ask for.
fn fits_registers(context: &Context, layout: &LinearLayout, bits: u32) -> Result<(), Verdict> {
    let needed = (u64::from(bits) << layout.in_bits(Dim::REGISTER)).div_ceil(32);
    let limit = context.target().description().limits.registers_per_lane;
    if needed <= u64::from(limit) {
        return Ok(());
    }
    Err(Verdict::unsupported(format!("a lane would hold {needed} registers of 32 bits; it has {limit} at most")))
}

//! Group `dot`: products of whole tiles of every pair of types, planned from the target's data, shown on the
//! emulator element by element and as code that a tool takes.

mod list;

use tilewright::contract::{self, ContractError, Contraction, Question};
use tilewright::kernel::{self, Module};
use tilewright::lower::contraction_kernel;
use tilewright::movement::Means;
use tilewright::pipeline::{Disproof, prove_contraction};
use tilewright::target::{Number, TargetDescription};

use super::artifact;
use crate::{Case, Context, Group, Level, Verdict};

pub use list::{Dot, PAIRS, plain, small, table_5};

/// The group `dot`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dots;

impl Group for Dots {
    fn name(&self) -> &str {
        "dot"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let target = context.target().description();
        let mut cases = Vec::new();
        for (list, dots) in [("table-5", table_5()), ("plain", plain()), ("small", small())] {
            for dot in dots {
                let named = |way: &str| format!("dot/{way}/{list}/{dot}/w{}", warps(&dot, target));
                cases.push(case(named("emulated"), dot, emulated));
                cases.push(case(named("code"), dot, compiled));
            }
        }
        cases
    }
}

fn case(name: String, dot: Dot, check: fn(&Context, &Dot) -> Verdict) -> Case {
    Case::new(name, move |context| check(context, &dot))
}

/// Four warps, of less than 16 x 16 one; twice as many while a lane would hold more than 64 words of the result.
fn warps(dot: &Dot, target: &TargetDescription) -> u32 {
    let [m, n, _] = dot.shape;
    let words = m * n * number(dot.accumulator).map_or(1, |number| u64::from(number.bits().div_ceil(32)));
    let mut warps = if m * n < 256 { 1 } else { 4 };
    while words > 64 * u64::from(target.lanes.default * warps)
        && target.lanes.default * warps < target.limits.lanes_per_block
    {
        warps *= 2;
    }
    warps
}

fn number(name: &str) -> Result<Number, Verdict> {
    Number::named(name).ok_or_else(|| Verdict::fail(Level::Layout, format!("`{name}` is no element type")))
}

fn means(context: &Context) -> Means<'_> {
    Means::of(context.target().description()).with_instructions(context.target().instructions())
}

fn planned(context: &Context, dot: &Dot) -> Result<Contraction, Verdict> {
    let target = context.target().description();
    let types = [number(dot.a)?, number(dot.b)?, number(dot.accumulator)?];
    let question = Question::new(dot.shape, types, target.lanes.default, warps(dot, target));
    contract::plan(&question, means(context)).map_err(|error| match error {
        ContractError::Impossible { reasons } => Verdict::unsupported(reasons),
        error => Verdict::fail(Level::Layout, error.to_string()),
    })
}

/// Runs the plan's kernel on the emulator: once with sums that are exact, once with any elements.
fn emulated(context: &Context, dot: &Dot) -> Verdict {
    let plan = match planned(context, dot) {
        Ok(plan) => plan,
        Err(verdict) => return verdict,
    };
    match prove_contraction(&plan, means(context)) {
        Ok(_) => Verdict::pass(Level::Emulated).with_detail(format!("by {}", plan.unit_name())),
        Err(wrong @ (Disproof::Row(_) | Disproof::Invalid(_))) => Verdict::fail(Level::Layout, wrong.to_string()),
        Err(wrong) => Verdict::fail(Level::Emulated, format!("by {}: {wrong}", plan.unit_name())),
    }
}

/// Compiles the plan's kernel twice; see [`artifact::compiled`].
fn compiled(context: &Context, dot: &Dot) -> Verdict {
    let plan = match planned(context, dot) {
        Ok(plan) => plan,
        Err(verdict) => return verdict,
    };
    let kernel = match contraction_kernel("dot", &plan, false, means(context)) {
        Ok(kernel) => kernel,
        Err(error) => return Verdict::fail(Level::Layout, error.to_string()),
    };
    let module = Module { kernels: vec![kernel] };
    if let Err(error) = kernel::verify(&module) {
        return Verdict::fail(Level::Layout, error.to_string());
    }
    let verdict = artifact::compiled(context, &module);
    let detail = format!("by {}: {}", plan.unit_name(), verdict.detail);
    verdict.with_detail(detail)
}

//! Group `dot-scaled`: products of factors with scales, and of those types without, planned from the target's data,
//! shown on the emulator element by element and as code that a tool takes.

use tilewright_plan::contract::{MmaProblem, Scale};
use tilewright_target::ElementType;

use super::scaled_list::{Factor, ScaledDot, scaled};
use super::{check, number};
use crate::{Case, Context, Group, Level, Verdict};

/// The group `dot-scaled`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScaledDots;

/// Bits of the sums.
const SUM_BITS: u32 = 32;

impl Group for ScaledDots {
    fn name(&self) -> &str {
        "dot-scaled"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let target = context.target().description();
        let mut cases = Vec::new();
        for dot in scaled() {
            let named = |way: &str| format!("dot-scaled/{way}/{dot}/w{}", check::warps(dot.shape, SUM_BITS, target));
            cases.push(case(named("emulated"), dot, check::emulated));
            cases.push(case(named("code"), dot, check::compiled));
            if context.devices().is_some() {
                cases.push(check::executed(named("device"), move |context| problem(context, &dot)));
            }
        }
        cases
    }
}

fn case(name: String, dot: ScaledDot, check: fn(&Context, &MmaProblem) -> Verdict) -> Case {
    Case::new(name, move |context| {
        problem(context, &dot).map_or_else(|verdict| verdict, |requested| check(context, &requested))
    })
}

fn problem(context: &Context, dot: &ScaledDot) -> Result<MmaProblem, Verdict> {
    let target = context.target().description();
    let types: [ElementType; 3] = [number(dot.a.element)?, number(dot.b.element)?, number("f32")?];
    let warps = check::warps(dot.shape, SUM_BITS, target);
    let problem = MmaProblem::new(dot.shape, types, target.lanes.default, warps);
    Ok(problem.with_scales([scale(dot.a)?, scale(dot.b)?]))
}

fn scale(factor: Factor) -> Result<Option<Scale>, Verdict> {
    let Some(name) = factor.scale else { return Ok(None) };
    let unknown = || Verdict::fail(Level::Layout, format!("`{name}` is no type of scales"));
    Scale::named(name).map(Some).ok_or_else(unknown)
}

//! Group `dot-scaled` of the suite: dots of operands with block scales, and of the same element types without scales,
//! planned from the target's description. They are checked on the emulator element by element and as code that an
//! assembler accepts.

use tilewright_plan::mma::{BlockScale, MmaProblem};
use tilewright_target::ElementType;

use super::scaled_list::{ScaledDotProblem, ScaledOperandType, list_scaled_dots};
use super::{check, element_type};
use crate::{Case, CaseGroup, Context, EvidenceLevel, Verdict};

/// The group `dot-scaled` of the conformance suite: cases on dots of operands with block scales.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScaledDots;

/// Width of an accumulator element in bits.
const SUM_BITS: u32 = 32;

impl CaseGroup for ScaledDots {
    fn name(&self) -> &str {
        "dot-scaled"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let target = context.target().description();
        let mut cases = Vec::new();
        for dot in list_scaled_dots() {
            let named = |kind: &str| format!("dot-scaled/{kind}/{dot}/w{}", check::warps(dot.shape, SUM_BITS, target));
            cases.push(case(named("emulated"), dot, check::check_on_emulator));
            cases.push(case(named("code"), dot, check::compiled));
            if context.tested_device().is_some() {
                cases.push(check::device_dot_case(named("device"), move |context| problem(context, &dot)));
            }
        }
        cases
    }
}

fn case(name: String, dot: ScaledDotProblem, check: fn(&Context, &MmaProblem) -> Verdict) -> Case {
    Case::new(name, move |context| {
        problem(context, &dot).map_or_else(|verdict| verdict, |requested| check(context, &requested))
    })
}

fn problem(context: &Context, dot: &ScaledDotProblem) -> Result<MmaProblem, Verdict> {
    let target = context.target().description();
    let types: [ElementType; 3] = [element_type(dot.a.element)?, element_type(dot.b.element)?, element_type("f32")?];
    let warps = check::warps(dot.shape, SUM_BITS, target);
    let problem = MmaProblem::new(dot.shape, types, target.lanes.default, warps);
    Ok(problem.with_scales([scale(dot.a)?, scale(dot.b)?]))
}

fn scale(operand: ScaledOperandType) -> Result<Option<BlockScale>, Verdict> {
    let Some(name) = operand.scale else { return Ok(None) };
    let unknown = || Verdict::fail(EvidenceLevel::Layout, format!("`{name}` is not a scale type"));
    BlockScale::from_name(name).map(Some).ok_or_else(unknown)
}

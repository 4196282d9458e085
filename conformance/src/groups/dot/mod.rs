//! Group `dot` of the suite: dots (matrix multiplies) of tiles of every pair of element types, planned from the
//! target's description. They are checked on the emulator element by element, as code that an assembler accepts, and on
//! a device.

mod check;
mod scaled;
mod scaled_list;

use tilewright_plan::mma::MmaProblem;
use tilewright_target::{ElementType, TargetDescription};

use crate::{Case, CaseGroup, Context, EvidenceLevel, Verdict};

pub(super) use check::planned;
pub use scaled::ScaledDots;
pub use scaled_list::{ScaledDotProblem, ScaledOperandType, list_scaled_dots};
pub use tilewright_verify::dot_list::{
    DotCase, TABLE_5_TYPE_PAIRS, list_small_dots, list_sub_byte_dots, list_table_5_dots, list_uncast_dots,
};

/// The group `dot` of the conformance suite: cases on dots (matrix multiplies).
#[derive(Debug, Clone, Copy, Default)]
pub struct Dots;

impl CaseGroup for Dots {
    fn name(&self) -> &str {
        "dot"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let target = context.target().description();
        let mut cases = Vec::new();
        let lists = [
            ("table-5", list_table_5_dots()),
            ("plain", list_uncast_dots()),
            ("small", list_small_dots()),
            ("narrow", list_sub_byte_dots()),
        ];
        for (list, dots) in lists {
            for dot in dots {
                let named = |kind: &str| format!("dot/{kind}/{list}/{dot}/w{}", warps(&dot, target));
                cases.push(case(named("emulated"), dot, emulated));
                cases.push(case(named("code"), dot, compiled));
                if context.tested_device().is_some() {
                    cases.push(check::device_dot_case(named("device"), move |context| problem(context, &dot)));
                }
            }
        }
        cases
    }
}

fn case(name: String, dot: DotCase, check: fn(&Context, &DotCase) -> Verdict) -> Case {
    Case::new(name, move |context| check(context, &dot))
}

fn element_type(name: &str) -> Result<ElementType, Verdict> {
    ElementType::from_name(name)
        .ok_or_else(|| Verdict::fail(EvidenceLevel::Layout, format!("`{name}` is not an element type")))
}

/// Returns the number of warps for a dot by the rule of [`check::warps`], from its shape and accumulator type.
fn warps(dot: &DotCase, target: &TargetDescription) -> u32 {
    let bits = element_type(dot.accumulator).map_or(32, ElementType::bits);
    check::warps(dot.shape, bits, target)
}

fn problem(context: &Context, dot: &DotCase) -> Result<MmaProblem, Verdict> {
    let target = context.target().description();
    let types = [element_type(dot.a)?, element_type(dot.b)?, element_type(dot.accumulator)?];
    Ok(MmaProblem::new(dot.shape, types, target.lanes.default, warps(dot, target)))
}

fn emulated(context: &Context, dot: &DotCase) -> Verdict {
    problem(context, dot).map_or_else(|verdict| verdict, |problem| check::check_on_emulator(context, &problem))
}

fn compiled(context: &Context, dot: &DotCase) -> Verdict {
    problem(context, dot).map_or_else(|verdict| verdict, |problem| check::compiled(context, &problem))
}

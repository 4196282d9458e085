//! Measured dots (matrix multiplies) of a scaled `e2m1` operand and an operand of another type.

use std::sync::Arc;

use conformance_pack::FigurePoint;
use tilewright_plan::mma::{BlockScale, MmaPlan, MmaProblem};
use tilewright_plan::movement::PlanContext;
use tilewright_target::ElementType;
use tilewright_verify::{TestCase, build_mma_plan_cases, check_all_emulated};

use super::super::dot::planned;
use super::super::executed::not_built;
use super::super::law::law_failure;
use super::FigureVariant;
use crate::{Context, EvidenceLevel, Verdict};

/// One variant of a measured dot: shape, operand type, and the order of K in memory.
#[derive(Debug, Clone, Copy)]
struct DotVariant {
    shape: [u64; 3],
    other: &'static str,
    /// Whether operands are permuted along K in memory, so that each lane's elements are contiguous and load faster.
    is_k_permuted: bool,
}

const SHAPES: [[u64; 3]; 4] = [[64, 64, 64], [64, 64, 128], [128, 64, 128], [128, 128, 128]];
const OTHERS: [&str; 3] = ["f16", "bf16", "e4m3"];
const WARPS: u32 = 4;

/// Returns the variants of all dots that are measured on any target.
pub(super) fn all(_context: &Context) -> Vec<Arc<dyn FigureVariant>> {
    let mut all: Vec<Arc<dyn FigureVariant>> = Vec::new();
    for shape in SHAPES {
        for other in OTHERS {
            all.extend(
                [false, true].map(|is_k_permuted| {
                    Arc::new(DotVariant { shape, other, is_k_permuted }) as Arc<dyn FigureVariant>
                }),
            );
        }
    }
    all
}

impl DotVariant {
    fn plan(&self, context: &Context) -> Result<MmaPlan, Verdict> {
        let number = |name: &str| {
            ElementType::from_name(name).ok_or_else(|| law_failure(format!("`{name}` is not an element type")))
        };
        let scale = BlockScale::from_name("e8m0").ok_or_else(|| law_failure("`e8m0` is not a scale type"))?;
        let types = [number("e2m1")?, number(self.other)?, number("f32")?];
        let lanes = context.target().description().lanes.default;
        let problem = MmaProblem::new(self.shape, types, lanes, WARPS).with_scales([Some(scale), None]);
        planned(context, &problem.with_k_permuted([self.is_k_permuted; 2]))
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}

impl FigureVariant for DotVariant {
    fn figure(&self) -> FigurePoint {
        let [m, n, k] = self.shape;
        FigurePoint {
            name: "product".to_owned(),
            point: format!("e2m1.e8m0-{}/{m}x{n}x{k}/w{WARPS}", self.other),
            variant: if self.is_k_permuted { "shuffled" } else { "plain" }.to_owned(),
            is_base: !self.is_k_permuted,
        }
    }

    fn check_kernel(&self, context: &Context) -> Result<Verdict, Verdict> {
        let plan = self.plan(context)?;
        let cases = build_mma_plan_cases(&plan, plan_context(context)).map_err(not_built)?;
        let report = check_all_emulated(&cases, plan_context(context))
            .map_err(|wrong| Verdict::fail(EvidenceLevel::Emulated, wrong.to_string()))?;
        let (cycles, counts) = (plan.cost.cycles(), report.counts);
        Ok(Verdict::pass(EvidenceLevel::Emulated).with_detail(format!(
            "predicted {cycles:.0} cycles by {}; executed {} wavefronts loaded, {} shuffles",
            plan.atom_name(),
            counts.wavefronts_loaded,
            counts.shuffles
        )))
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        build_mma_plan_cases(&self.plan(context)?, plan_context(context)).map_err(not_built)
    }
}

//! Products of a factor of `e2m1` with scales and one of another type.

use std::sync::Arc;

use conformance_pack::Figure;
use tilewright_plan::contract::{Contraction, MmaProblem, Scale};
use tilewright_plan::movement::PlanContext;
use tilewright_target::ElementType;
use tilewright_verify::{TestCase, check_all_emulated, contraction_cases};

use super::super::dot::planned;
use super::super::executed::not_built;
use super::super::law::broken;
use super::Way;
use crate::{Context, Level, Verdict};

/// One way of one product.
#[derive(Debug, Clone, Copy)]
struct Product {
    shape: [u64; 3],
    other: &'static str,
    /// Whether K is shuffled in memory so that lanes read what they multiply side by side.
    is_shuffled: bool,
}

const SHAPES: [[u64; 3]; 4] = [[64, 64, 64], [64, 64, 128], [128, 64, 128], [128, 128, 128]];
const OTHERS: [&str; 3] = ["f16", "bf16", "e4m3"];
const WARPS: u32 = 4;

/// All that are shown for a target.
pub(super) fn all(_context: &Context) -> Vec<Arc<dyn Way>> {
    let mut all: Vec<Arc<dyn Way>> = Vec::new();
    for shape in SHAPES {
        for other in OTHERS {
            all.extend(
                [false, true].map(|is_shuffled| Arc::new(Product { shape, other, is_shuffled }) as Arc<dyn Way>),
            );
        }
    }
    all
}

impl Product {
    fn plan(&self, context: &Context) -> Result<Contraction, Verdict> {
        let number =
            |name: &str| ElementType::named(name).ok_or_else(|| broken(format!("`{name}` is no element type")));
        let scale = Scale::named("e8m0").ok_or_else(|| broken("`e8m0` is no type of scales"))?;
        let types = [number("e2m1")?, number(self.other)?, number("f32")?];
        let lanes = context.target().description().lanes.default;
        let problem = MmaProblem::new(self.shape, types, lanes, WARPS).with_scales([Some(scale), None]);
        planned(context, &MmaProblem { shuffled: [self.is_shuffled; 2], ..problem })
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::of(context.target().description()).with_instructions(context.target().instructions())
}

impl Way for Product {
    fn figure(&self) -> Figure {
        let [m, n, k] = self.shape;
        Figure {
            name: "product".to_owned(),
            point: format!("e2m1.e8m0-{}/{m}x{n}x{k}/w{WARPS}", self.other),
            way: if self.is_shuffled { "shuffled" } else { "plain" }.to_owned(),
            is_base: !self.is_shuffled,
        }
    }

    fn shown(&self, context: &Context) -> Result<Verdict, Verdict> {
        let plan = self.plan(context)?;
        let cases = contraction_cases(&plan, plan_context(context)).map_err(not_built)?;
        let report = check_all_emulated(&cases, plan_context(context))
            .map_err(|wrong| Verdict::fail(Level::Emulated, wrong.to_string()))?;
        let (cycles, counts) = (plan.cost.cycles(), report.counts);
        Ok(Verdict::pass(Level::Emulated).with_detail(format!(
            "predicted {cycles:.0} cycles by {}; executed {} wavefronts loaded, {} exchanges",
            plan.unit_name(),
            counts.wavefronts_loaded,
            counts.exchanges
        )))
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        contraction_cases(&self.plan(context)?, plan_context(context)).map_err(not_built)
    }
}

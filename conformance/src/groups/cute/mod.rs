//! Group `cute` of the suite: operations on CuTe layouts match the known answers or fail with a counterexample, also on
//! the target's sample layouts in CuTe notation. Each sample survives the conversion to CuTe notation and back. Values
//! are compared coordinate by coordinate.

mod answers;
mod bridge;
mod operations;

use tilewright_layout::cute::{ComposedLayout, from_linear};
use tilewright_layout::{LinearLayout, SampleLayout};

use super::known;
use super::law::{LawResult, case, law_failure, resolve};
use super::samples::usual;
use crate::{Case, CaseGroup, Context, Verdict};

/// The group `cute` of the conformance suite: cases on CuTe operations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cute;

impl CaseGroup for Cute {
    fn name(&self) -> &str {
        "cute"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = known::cases("cute", &context.answers().cute, answers::check);
        for (sample, setting) in usual(context) {
            for (law, check) in LAWS {
                let of = sample.clone();
                cases.push(case(format!("cute/{law}/{}/{setting}", sample.name), move |context| check(context, &of)));
            }
        }
        cases
    }
}

type Law = fn(&Context, &SampleLayout) -> LawResult;

const LAWS: [(&str, Law); 4] = [
    ("bridge", bridge::there_and_back),
    ("composition", operations::compositions),
    ("inverse", operations::inverses),
    ("division", operations::divisions),
];

/// Shape of the tensor that the sample layouts are for.
const SHAPE: [u64; 2] = [64, 32];

fn linear(context: &Context, sample: &SampleLayout) -> Result<LinearLayout, Verdict> {
    resolve(context, &sample.spec, &SHAPE).map(|layout| layout.linear().clone())
}

/// Returns the sample's linear layout and its CuTe notation, both as maps from positions to elements.
fn composed(context: &Context, sample: &SampleLayout) -> Result<(LinearLayout, ComposedLayout), Verdict> {
    let linear = linear(context, sample)?;
    let composed = from_linear(&linear).map_err(|error| law_failure(format!("{error}\n{linear}")))?;
    Ok((linear, composed))
}

//! Group `cute`: CuTe's operations give what is known or refuse with a counterexample, also on the
//! layouts that the target's families are in CuTe's notation; and each of those goes over the bridge
//! and back unchanged. Values are compared coordinate by coordinate.

mod answers;
mod bridge;
mod operations;

use tilewright_layout::cute::{ComposedLayout, from_linear};
use tilewright_layout::{LinearLayout, Sample};

use super::known;
use super::law::{Checked, broken, case, resolve};
use super::samples::usual;
use crate::{Case, Context, Group, Verdict};

/// The group `cute`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cute;

impl Group for Cute {
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

type Law = fn(&Context, &Sample) -> Checked;

const LAWS: [(&str, Law); 4] = [
    ("bridge", bridge::there_and_back),
    ("composition", operations::compositions),
    ("inverse", operations::inverses),
    ("division", operations::divisions),
];

/// The tensor that samples are laid out over.
const SHAPE: [u64; 2] = [64, 32];

fn linear(context: &Context, sample: &Sample) -> Result<LinearLayout, Verdict> {
    resolve(context, &sample.spec, &SHAPE).map(|layout| layout.linear().clone())
}

/// The sample's layout in CuTe's notation: from its positions to its elements.
fn composed(context: &Context, sample: &Sample) -> Result<(LinearLayout, ComposedLayout), Verdict> {
    let linear = linear(context, sample)?;
    let composed = from_linear(&linear).map_err(|error| broken(format!("{error}\n{linear}")))?;
    Ok((linear, composed))
}

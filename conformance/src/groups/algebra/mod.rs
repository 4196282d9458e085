//! Group `algebra` of the suite: operations on linear layouts match the known answers and obey their laws, on sample
//! layouts of the target's families. Every law is checked against the layouts' bases, position by position, never
//! against another call of the operation that is checked.

mod answers;
mod direct_sum;
mod inverses;
mod unary;

use tilewright_layout::{LayoutError, LinearLayout, SampleLayout};

use super::law::{LawResult, case, law_failure, require, resolve};
use super::samples::usual;
use super::walk::element_table;
use super::{KernelConfig, known};
use crate::{Case, CaseGroup, Context, Verdict};

/// The group `algebra` of the conformance suite: cases on operations on linear layouts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Algebra;

impl CaseGroup for Algebra {
    fn name(&self) -> &str {
        "algebra"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = known::cases("algebra", &context.answers().algebra, answers::check);
        for (sample, setting) in usual(context) {
            for (law, check) in LAWS {
                let of = sample.clone();
                let name = format!("algebra/{law}/{}/{setting}", sample.name);
                cases.push(case(name, move |context| check(&linear(context, &of)?)));
            }
            let name = format!("algebra/witness/{}/{setting}", sample.name);
            cases.push(case(name, move |context| witness(context, &sample, setting)));
        }
        cases
    }
}

type Law = fn(&LinearLayout) -> LawResult;

const LAWS: [(&str, Law); 7] = [
    ("identity", unary::identity),
    ("composition", unary::composition),
    ("parts", unary::sublayouts),
    ("sum", direct_sum::sum),
    ("division", direct_sum::division),
    ("inverse", inverses::inverse),
    ("queries", inverses::queries),
];

/// Shape of the tensor that the sample layouts are for.
const SHAPE: [u64; 2] = [64, 32];

fn linear(context: &Context, sample: &SampleLayout) -> Result<LinearLayout, Verdict> {
    resolve(context, &sample.spec, &SHAPE).map(|layout| layout.linear().clone())
}

/// Checks `invert_and_compose` of a sample layout and the next sample that can be built, in both directions.
fn witness(context: &Context, sample: &SampleLayout, setting: KernelConfig) -> LawResult {
    let sample_layout = linear(context, sample)?;
    let samples = context.sample_layouts(setting.sample_use());
    let at = samples.iter().position(|other| other.name == sample.name).unwrap_or(0);
    let following = samples.iter().cycle().skip(at + 1).take(samples.len().saturating_sub(1));
    // A sample that cannot be built is skipped here; the cases of that sample report it.
    let Some(other) = following.filter_map(|other| linear(context, other).ok()).next() else { return Ok(()) };
    inverses::witness(&sample_layout, &other)?;
    inverses::witness(&other, &sample_layout)
}

/// Returns the result of an operation that must succeed, or a failing verdict with the error.
fn expect_layout(result: Result<LinearLayout, LayoutError>) -> Result<LinearLayout, Verdict> {
    result.map_err(|error| law_failure(error.to_string()))
}

/// Returns the packed element (coordinates in one number) at every position of a layout.
fn elements(layout: &LinearLayout) -> Result<Vec<u64>, Verdict> {
    element_table(layout).map_err(law_failure)
}

/// Checks that a layout maps every position to the expected element; `what` names the layout in the message.
fn maps(what: &str, layout: &LinearLayout, expected: &[u64]) -> LawResult {
    let found = elements(layout)?;
    require(found.len() == expected.len(), || {
        format!("{what} has {} positions, expected {}\n{layout}", found.len(), expected.len())
    })?;
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(at) => {
            Err(law_failure(format!("{what}: position {at} holds {}, expected {}\n{layout}", found[at], expected[at])))
        }
    }
}

//! Group `algebra`: the operations on linear layouts give what is known, and keep their laws on the
//! layouts that the target's own families build. Every law is checked against the bases, position by
//! position, never against the operation itself.

mod answers;
mod inverses;
mod sums;
mod unary;

use tilewright_layout::{LayoutError, LinearLayout, Sample};

use super::law::{Checked, broken, case, require, resolve};
use super::samples::usual;
use super::walk::table;
use super::{Setting, known};
use crate::{Case, Context, Group, Verdict};

/// The group `algebra`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Algebra;

impl Group for Algebra {
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

type Law = fn(&LinearLayout) -> Checked;

const LAWS: [(&str, Law); 7] = [
    ("identity", unary::identity),
    ("composition", unary::composition),
    ("parts", unary::parts),
    ("sum", sums::sum),
    ("division", sums::division),
    ("inverse", inverses::inverse),
    ("queries", inverses::queries),
];

/// The tensor that samples are laid out over.
const SHAPE: [u64; 2] = [64, 32];

fn linear(context: &Context, sample: &Sample) -> Result<LinearLayout, Verdict> {
    resolve(context, &sample.spec, &SHAPE).map(|layout| layout.linear().clone())
}

/// Both ways between a sample and the one that is listed next.
fn witness(context: &Context, sample: &Sample, setting: Setting) -> Checked {
    let own = linear(context, sample)?;
    let samples = context.samples(setting.sample_use());
    let at = samples.iter().position(|other| other.name == sample.name).unwrap_or(0);
    let following = samples.iter().cycle().skip(at + 1).take(samples.len().saturating_sub(1));
    // A neighbour that cannot be built is shown by its own cases.
    let Some(other) = following.filter_map(|other| linear(context, other).ok()).next() else { return Ok(()) };
    inverses::witness(&own, &other)?;
    inverses::witness(&other, &own)
}

/// An operation that should have a result.
fn made(result: Result<LinearLayout, LayoutError>) -> Result<LinearLayout, Verdict> {
    result.map_err(|error| broken(error.to_string()))
}

/// The elements of all positions.
fn elements(layout: &LinearLayout) -> Result<Vec<u64>, Verdict> {
    table(layout).map_err(broken)
}

/// Whether a layout is one map, by every position.
fn maps(what: &str, layout: &LinearLayout, expected: &[u64]) -> Checked {
    let found = elements(layout)?;
    require(found.len() == expected.len(), || {
        format!("{what} has {} positions, expected {}\n{layout}", found.len(), expected.len())
    })?;
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(at) => {
            Err(broken(format!("{what}: position {at} holds {}, expected {}\n{layout}", found[at], expected[at])))
        }
    }
}

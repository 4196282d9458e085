//! Pairs of samples: what loads use, what the target's own families are, what reductions leave.

use tilewright::layout::families::Neutral;
use tilewright::layout::{Families, FamilySpec, Layout, Sample};

use super::super::Setting;
use super::{Conversion, Endpoint};
use crate::Context;

/// As many as there are widths of elements and numbers of warps: a Latin square of the three.
const SHAPES: [[u64; 2]; 4] = [[16, 16], [32, 64], [64, 128], [128, 128]];
const LENGTHS: [u64; 4] = [16, 64, 128, 256];

pub(super) fn pairs(context: &Context) -> Vec<Conversion> {
    let mut conversions = Vec::new();
    for setting in Setting::all(context) {
        let step = (setting.warp_step() + setting.element_step()) % SHAPES.len();
        for (source, target) in of_matrices(context, setting) {
            conversions.push(Conversion::between(source, target, &SHAPES[step], setting));
        }
        for (source, target) in of_rows(context, setting) {
            conversions.push(Conversion::between(source, target, &[LENGTHS[step]], setting));
        }
    }
    conversions
}

impl From<&Sample> for Endpoint {
    fn from(sample: &Sample) -> Self {
        Self { name: sample.name.clone(), spec: sample.spec.clone() }
    }
}

/// The samples that distribute a tensor over lanes, the neutral ones and the target's own. One that
/// cannot be resolved is kept: its conversions show it.
fn samples(context: &Context, setting: Setting) -> (Vec<Sample>, Vec<Sample>) {
    let memory = |sample: &Sample| {
        matches!(context.layout(&sample.spec, &SHAPES[3]), Ok(Layout::Memory(_) | Layout::TensorMemory(_)))
    };
    let neutral: Vec<_> = Neutral.samples(setting.sample_use()).into_iter().map(|sample| sample.name).collect();
    let distributed = context.samples(setting.sample_use()).into_iter().filter(|sample| !memory(sample));
    distributed.partition(|sample| neutral.contains(&sample.name))
}

/// Pairs for tensors of two axes: each neutral layout to the next; from the first to each of the
/// target's own and back; and from each to those that derive from it, as a result becomes an operand.
fn of_matrices(context: &Context, setting: Setting) -> Vec<(Endpoint, Endpoint)> {
    let (neutral, own) = samples(context, setting);
    let following = neutral.iter().cycle().skip(1);
    let mut pairs: Vec<_> = neutral.iter().zip(following).collect();
    if let Some(first) = neutral.first() {
        pairs.extend(own.iter().flat_map(|sample| [(first, sample), (sample, first)]));
    }
    let derives = |sample: &Sample, from: &Sample| sample.spec.parent.as_deref() == Some(&from.spec);
    pairs.extend(own.iter().flat_map(|from| own.iter().filter(|to| derives(to, from)).map(move |to| (from, to))));
    pairs.into_iter().map(|(source, target)| (source.into(), target.into())).collect()
}

/// Pairs for tensors of one axis: a slice of each layout that derives from no other, along either
/// axis, to a blocked row and back.
fn of_rows(context: &Context, setting: Setting) -> Vec<(Endpoint, Endpoint)> {
    let (neutral, own) = samples(context, setting);
    let row = || Endpoint { name: "blocked-row".to_owned(), spec: blocked_row(setting) };
    let mut pairs = Vec::new();
    for sample in neutral.iter().take(1).chain(&own).filter(|sample| sample.spec.parent.is_none()) {
        for axis in [0, 1] {
            let spec = FamilySpec::new("slice").with("dim", axis).of(sample.spec.clone());
            let slice = Endpoint { name: format!("slice{axis}-of-{}", sample.name), spec };
            pairs.extend([(slice.clone(), row()), (row(), slice)]);
        }
    }
    pairs
}

fn blocked_row(setting: Setting) -> FamilySpec {
    FamilySpec::new("blocked")
        .with("size_per_thread", [1i64])
        .with("threads_per_warp", [i64::from(setting.lanes)])
        .with("warps_per_cta", [i64::from(setting.warps)])
        .with("order", [0i64])
}

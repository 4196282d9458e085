//! Checks that each layout family is tested at all: it occurs in a sample layout or in a known answer. No other check
//! would notice a family that occurs in neither.

use std::collections::BTreeSet;

use tilewright_layout::{Families, FamilyParameterValue, FamilySpec, SampleLayout, spec_from_json};

use super::super::KernelConfig;
use super::super::law::case_name_part;
use crate::{Case, Context, EvidenceLevel, Verdict};

/// Returns a case for each family of the target's plugin and each vendor-neutral family.
pub(super) fn cases(context: &Context) -> Vec<Case> {
    let case = |name: String| {
        Case::new(format!("families/shown/{}", case_name_part(&name)), move |context| shown(context, &name))
    };
    context.families().names().into_iter().map(case).collect()
}

fn shown(context: &Context, name: &str) -> Verdict {
    let samples = samples(context);
    let asking = samples.iter().filter(|sample| mentions_family(&sample.spec, name)).map(|sample| &sample.name);
    let asking = asking.collect::<BTreeSet<_>>().len();
    let of_family = |families: &str| families.split("-of-").any(|family| family == name);
    let layouts = &context.answers().layouts;
    let answers: usize = layouts.iter().filter(|(families, _)| of_family(families)).map(|(_, rows)| rows.len()).sum();
    if asking + answers > 0 {
        return Verdict::pass(EvidenceLevel::Layout)
            .with_detail(format!("in {asking} samples and {answers} known answers"));
    }
    match other_name(context, &samples, name) {
        Some(other) => Verdict::pass(EvidenceLevel::Layout).with_detail(format!("names the same layouts as `{other}`")),
        None => Verdict::skip("no sample and no known answer uses the family"),
    }
}

fn samples(context: &Context) -> Vec<SampleLayout> {
    KernelConfig::all(context).iter().flat_map(|setting| context.sample_layouts(setting.sample_use())).collect()
}

/// Whether a family occurs in a spec: as the spec's family, in its parent, or in a parameter.
pub(super) fn mentions_family(spec: &FamilySpec, name: &str) -> bool {
    let inside =
        |value: &FamilyParameterValue| matches!(value, FamilyParameterValue::Spec(spec) if mentions_family(spec, name));
    spec.name == name
        || spec.parent.as_deref().is_some_and(|parent| mentions_family(parent, name))
        || spec.attributes.values().any(inside)
}

/// Returns another family with the same layouts, so that `name` is an alias and need not be tested; `None` if there is
/// none.
fn other_name(context: &Context, samples: &[SampleLayout], name: &str) -> Option<String> {
    let of_samples = samples.iter().map(|sample| (sample.spec.clone(), vec![128, 64]));
    let of_answers = context.answers().layouts.values().filter_map(|rows| {
        let row = rows.first()?.parse_json();
        let shape = row["shape"].as_array()?.iter().map(serde_json::Value::as_u64).collect::<Option<Vec<_>>>()?;
        Some((spec_from_json(&row["params"]).ok()?, shape))
    });
    let is_other = |(spec, shape): (FamilySpec, Vec<u64>)| {
        let renamed = FamilySpec { name: name.to_owned(), ..spec.clone() };
        let layout = context.build_layout(&renamed, &shape).ok()?;
        (context.build_layout(&spec, &shape).ok()? == layout).then_some(spec.name)
    };
    of_samples.chain(of_answers).find_map(is_other)
}

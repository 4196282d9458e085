//! Group `families` of the suite: layout families (named constructors of layouts, such as `blocked`) match the known
//! answers and obey the laws of their kind, and invalid requests are rejected. The families are those of the target's
//! plugin and the vendor-neutral ones. They are checked by layout algebra and by enumerating all positions.

mod answers;
mod definition;
mod laws;
mod notation;
mod refusals;
mod shown;

use tilewright_layout::{Layout, SampleLayout};

use super::KernelConfig;
use super::law::{LawResult, case};
use super::samples::usual;
use crate::{Case, CaseGroup, Context};

/// The group `families` of the conformance suite: cases on layout families (named constructors of layouts).
#[derive(Debug, Clone, Copy, Default)]
pub struct FamiliesGroup;

impl CaseGroup for FamiliesGroup {
    fn name(&self) -> &str {
        "families"
    }

    /// Returns the start of a case's name up to the family or sample, such as `families/growth/blocked-rows`; never
    /// `None`.
    fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
        let end = name.match_indices('/').nth(2).map_or(name.len(), |(at, _)| at);
        Some(&name[..end])
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = answers::cases(context);
        cases.extend(shown::cases(context));
        cases.extend(definitions(context));
        for (sample, setting) in usual(context) {
            let more = OF_DISTRIBUTED.iter().filter(|_| is_distributed(context, &sample));
            for &(law, check) in LAWS.iter().chain(more) {
                let of = sample.clone();
                let name = format!("families/{law}/{}/{setting}", sample.name);
                cases.push(case(name, move |context| check(context, &of)));
            }
        }
        cases
    }
}

type Law = fn(&Context, &SampleLayout) -> LawResult;

const LAWS: [(&str, Law); 6] = [
    ("notation", laws::round_trip),
    ("bases", laws::spelled_out),
    ("refusals/unknown", refusals::unknown),
    ("refusals/types", refusals::types),
    ("refusals/missing", refusals::missing),
    ("refusals/shapes", refusals::shapes),
];
const OF_DISTRIBUTED: [(&str, Law); 2] = [("growth", laws::growth), ("slices", laws::slices)];

/// Shapes of tensors, from smaller than most tiles to many tiles. There are as many shapes as element widths, so that
/// the cases combine every shape with every width and with every number of warps (a Latin square).
const SHAPES: [[u64; 2]; 4] = [[16, 16], [32, 128], [128, 64], [128, 128]];

fn is_distributed(context: &Context, sample: &SampleLayout) -> bool {
    matches!(context.build_layout(&sample.spec, &SHAPES[3]), Ok(Layout::Distributed(_)))
}

/// Returns cases that check the definition of every sample's layout for every number of lanes and warps.
fn definitions(context: &Context) -> Vec<Case> {
    let of_setting = |setting: KernelConfig| {
        let shape = SHAPES[(setting.warp_step() + setting.element_step()) % SHAPES.len()];
        let of_sample = move |sample: SampleLayout| {
            let name = format!("families/definition/{}/{}x{}/{setting}", sample.name, shape[0], shape[1]);
            case(name, move |context| definition::definition(context, &sample, &shape, setting))
        };
        context.sample_layouts(setting.sample_use()).into_iter().map(of_sample)
    };
    KernelConfig::all(context).into_iter().flat_map(of_setting).collect()
}

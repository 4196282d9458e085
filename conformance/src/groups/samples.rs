//! The sample layouts of a target's families that laws (properties of layouts) are checked on.

use tilewright_layout::SampleLayout;

use super::KernelConfig;
use crate::Context;

/// Max number of warps for laws whose difficulty does not depend on the number of warps.
const USUAL_WARPS: u32 = 4;

/// Returns every sample layout for every element width and number of lanes, with the largest number of warps up to
/// four.
pub(super) fn usual(context: &Context) -> Vec<(SampleLayout, KernelConfig)> {
    let settings = KernelConfig::all(context);
    let usual = |setting: &KernelConfig| {
        let most = context.warp_counts(setting.lanes).filter(|&warps| warps <= USUAL_WARPS).max();
        Some(setting.warps) == most
    };
    let of_setting = |setting: KernelConfig| {
        context.sample_layouts(setting.sample_use()).into_iter().map(move |sample| (sample, setting))
    };
    settings.into_iter().filter(usual).flat_map(of_setting).collect()
}

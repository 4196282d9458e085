//! The samples of a target's families in the settings that laws are shown in.

use tilewright_layout::Sample;

use super::Setting;
use crate::Context;

/// Most warps for laws that no number of warps makes harder.
const USUAL_WARPS: u32 = 4;

/// Every sample of every width of element and choice of lanes, for a usual number of warps.
pub(super) fn usual(context: &Context) -> Vec<(Sample, Setting)> {
    let settings = Setting::all(context);
    let usual = |setting: &Setting| {
        let most = context.warp_counts(setting.lanes).filter(|&warps| warps <= USUAL_WARPS).max();
        Some(setting.warps) == most
    };
    let of_setting =
        |setting: Setting| context.samples(setting.sample_use()).into_iter().map(move |sample| (sample, setting));
    settings.into_iter().filter(usual).flat_map(of_setting).collect()
}

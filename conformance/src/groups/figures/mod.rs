//! Group `figures`: the comparisons that seed 000 measures, each way of each point as a case of its own, right on the
//! emulator with as many wavefronts and exchanges as planned, and to be timed wherever a device is.
//!
//! - `transpose` (Figure 2): tiles of 8-bit elements from rows to columns through swizzled shared memory, against rows that
//!   are padded by a vector.
//! - `product` (Figure 6): factors of `e2m1` with scales by others, with K shuffled in memory, against memory as it is.
//! - `conversion` (Figure 7): between layouts whose elements stay in their warps by exchanges, against through shared memory.
//! - `gather` (Figure 8): along lines that lie within a warp by exchanges, against through shared memory.
//!
//! Movements are repeated in one launch, each time of what the last left, so that they and not the launch are timed.

mod movement;
mod product;

use std::sync::Arc;

use conformance_pack::Figure;
use tilewright_verify::{Predicted, TestCase};

use super::emulated::either;
use super::executed::device_case;
use crate::{Case, Context, Group, Trials, Verdict};

/// The group.
#[derive(Debug, Clone, Copy, Default)]
pub struct FiguresGroup;

/// One way at one point of a figure.
trait Way: Send + Sync {
    /// Its place.
    fn figure(&self) -> Figure;

    /// What is shown on the emulator.
    ///
    /// # Errors
    /// The verdict where there is no such way.
    fn shown(&self, context: &Context) -> Result<Verdict, Verdict>;

    /// The kernels that show it on a device.
    ///
    /// # Errors
    /// The verdict where there are none.
    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict>;
}

impl Group for FiguresGroup {
    fn name(&self) -> &'static str {
        "figures"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let ways = movement::all(context).into_iter().chain(product::all(context));
        ways.flat_map(|way| cases(context, way)).collect()
    }
}

fn cases(context: &Context, way: Arc<dyn Way>) -> Vec<Case> {
    let Figure { name, point, way: word, .. } = way.figure();
    let named = |on: &str| format!("figures/{on}{name}/{point}/{word}");
    let (shown, executed) = (Arc::clone(&way), Arc::clone(&way));
    let mut cases = vec![Case::new(named(""), move |context| either(shown.shown(context)))];
    if context.devices().is_some() {
        let case = device_case(named("device/"), move |context| executed.test_cases(context));
        cases.push(
            case.with_trials(move |context| {
                Ok(Trials { trials: way.test_cases(context)?, figure: Some(way.figure()) })
            }),
        );
    }
    cases
}

/// What a plan says, in words.
fn said(predicted: &Predicted) -> String {
    let counts = predicted.counts.map_or(String::new(), |counts| {
        let (stored, loaded) = (counts.wavefronts_stored, counts.wavefronts_loaded);
        format!(", wavefronts {stored} stored and {loaded} loaded, {} exchanges", counts.exchanges)
    });
    format!("predicted {:.0} cycles{counts}, {} bytes of shared memory", predicted.cycles, predicted.shared_bytes)
}

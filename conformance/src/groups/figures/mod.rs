//! Group `figures` of the suite: the measurements of the Linear Layouts paper. Each variant (such as a kind of plan) at
//! each point (such as a shape) of a figure is a case, checked on the emulator for correct results with the planned
//! wavefronts and shuffles, and timed on devices.
//!
//! - `transpose` (Figure 2): tiles of 8-bit elements from rows to columns through swizzled shared memory, against
//!   shared memory with each row padded by one vector (the elements of one access).
//! - `product` (Figure 6): dots of a scaled `e2m1` operand, with K permuted in memory, against memory in order.
//! - `conversion` (Figure 7): conversions within warps by shuffles, against shared memory.
//! - `gather` (Figure 8): gathers along axes within a warp by shuffles, against shared memory.
//!
//! A kernel repeats its movement, each time on the result of the last, so that the launch overhead is a small part of
//! the time.

mod mma;
mod movement;

use std::sync::Arc;

use conformance_pack::FigurePoint;
use tilewright_verify::{PredictedStats, TestCase};

use super::emulated::merge_verdicts;
use super::executed::device_case;
use crate::{Case, CaseGroup, CaseKernels, Context, Verdict};

/// The group `figures` of the conformance suite: cases on measurements of the Linear Layouts paper.
#[derive(Debug, Clone, Copy, Default)]
pub struct FiguresGroup;

/// One variant at one point of a figure, such as a conversion by shuffles for one shape.
trait FigureVariant: Send + Sync {
    /// Returns the name of the figure, the point in it and the name of the variant.
    fn figure(&self) -> FigurePoint;

    /// Checks the variant's kernel on the emulator.
    ///
    /// # Errors
    /// The verdict of the case if the target does not support the variant.
    fn check_kernel(&self, context: &Context) -> Result<Verdict, Verdict>;

    /// Returns the kernels that check and time the variant on a device.
    ///
    /// # Errors
    /// The verdict of the case if it has no kernels.
    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict>;
}

impl CaseGroup for FiguresGroup {
    fn name(&self) -> &'static str {
        "figures"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let variants = movement::all(context).into_iter().chain(mma::all(context));
        variants.flat_map(|variant| cases(context, variant)).collect()
    }
}

fn cases(context: &Context, variant: Arc<dyn FigureVariant>) -> Vec<Case> {
    let FigurePoint { name, point, variant: word, .. } = variant.figure();
    let named = |on: &str| format!("figures/{on}{name}/{point}/{word}");
    let (shown, executed) = (Arc::clone(&variant), Arc::clone(&variant));
    let mut cases = vec![Case::new(named(""), move |context| merge_verdicts(shown.check_kernel(context)))];
    if context.tested_device().is_some() {
        let case = device_case(named("device/"), move |context| executed.test_cases(context));
        cases.push(case.with_test_cases(move |context| {
            Ok(CaseKernels { test_cases: variant.test_cases(context)?, figure: Some(variant.figure()) })
        }));
    }
    cases
}

/// Formats the predictions of a plan (cycles, shared memory, operations) as text for a case's detail.
fn prediction_text(predicted: &PredictedStats) -> String {
    let counts = predicted.counts.map_or(String::new(), |counts| {
        let (stored, loaded) = (counts.wavefronts_stored, counts.wavefronts_loaded);
        format!(", wavefronts {stored} stored and {loaded} loaded, {} shuffles", counts.shuffles)
    });
    format!("predicted {:.0} cycles{counts}, {} bytes of shared memory", predicted.cycles, predicted.shared_bytes)
}

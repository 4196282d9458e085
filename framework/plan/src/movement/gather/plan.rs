//! Plans gathers along one axis.

use super::exchanges;
use super::exchanges::Exchanges;
use super::problem::Question;
use super::shared;
use super::shared::Shared;
use crate::movement::check::check_element;
use crate::movement::{MovementError, Path, PlanStats, Rejected, cost, slots};
use tilewright_kernel::{Builder, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// How elements are gathered.
#[derive(Debug, Clone)]
pub struct Gather {
    /// By what way: [`Path::Shuffle`] or [`Path::Shared`].
    pub path: Path,
    /// Counts, memory and cost. Wavefronts loaded are those of loads without conflicts: how many there are more depends on
    /// the indices, so no bound is given.
    pub stats: PlanStats,
    /// Wavefronts of all loads of a warp, the mean over indices drawn evenly.
    pub expected_wavefronts: f64,
    steps: Steps,
}

#[derive(Debug, Clone)]
enum Steps {
    Exchanges(Exchanges),
    Shared(Box<Shared>),
}

/// The cheapest gather: the result, in the layout `indices`, holds at each place the element of the
/// source's line that the index at that place names. The index counts along `axis`; all other axes
/// are the same in both tensors.
///
/// # Errors
/// [`MovementError`]: no such axis, tensors of other shapes or blocks, elements of no known width; no
/// way that is open.
pub fn gather(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<Gather, MovementError> {
    let (ways, rejected) = gathers(src, indices, axis, element_bits, target)?;
    let reasons = || rejected.iter().map(|way| way.reason.as_str()).collect::<Vec<_>>().join("; ");
    ways.into_iter().next().ok_or_else(|| MovementError::impossible(reasons()))
}

/// The ways that [`gather`] weighs, the best first, and those that are closed with the reasons.
///
/// # Errors
/// [`MovementError`]: no such axis, tensors of other shapes or blocks, elements of no known width.
pub fn gathers(
    src: &LinearLayout,
    indices: &LinearLayout,
    axis: Dim,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<(Vec<Gather>, Vec<Rejected<Path>>), MovementError> {
    let problem = Question::new(src, indices, axis, check_element(element_bits)?)?;
    let by_shuffles =
        exchanges::plan(&problem, target).map(|(exchanges, counts)| (Steps::Exchanges(exchanges), counts));
    let by_memory = shared::plan(&problem, target).map(|(shared, counts)| (Steps::Shared(Box::new(shared)), counts));
    let (mut open, mut rejected) = (Vec::new(), Vec::new());
    for (path, way) in [(Path::Shuffle, by_shuffles), (Path::Shared, by_memory)] {
        match way {
            Ok((steps, counts)) => {
                let cost = cost(&counts, 1 << problem.warp_bits, 1, target);
                let mut stats = PlanStats { counts, cost, ..PlanStats::default() };
                let mut expected_wavefronts = 0.0;
                if let Steps::Shared(shared) = &steps {
                    (stats.shared_bytes, stats.shared_bits) = (shared.bytes, shared.shared_bits());
                    expected_wavefronts = shared.expected_wavefronts;
                }
                open.push(Gather { path, stats, expected_wavefronts, steps });
            }
            Err(reason) => rejected.push(Rejected { candidate: path, reason }),
        }
    }
    open.sort_by(|a: &Gather, b| {
        a.expected_slots().total_cmp(&b.expected_slots()).then(a.stats.cost.total_cmp(&b.stats.cost))
    });
    Ok((open, rejected))
}

impl Gather {
    /// The [`slots`] of the counts, with the wavefronts of loads as they are to be expected.
    #[must_use]
    pub fn expected_slots(&self) -> f64 {
        let counts = &self.stats.counts;
        slots(counts) - counts.wavefronts_loaded as f64 + self.expected_wavefronts
    }

    /// Writes the gather's kernel IR. `src` holds one scalar integer of the element's width for each
    /// source register, `indices` an `i32` below the axis's size for each register of the indices; the
    /// result holds the elements likewise.
    ///
    /// # Panics
    /// Where there are not as many values as the layouts have registers.
    pub fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        match &self.steps {
            Steps::Exchanges(exchanges) => exchanges.emit(builder, src, indices),
            Steps::Shared(shared) => shared.emit(builder, src, indices),
        }
    }
}

//! Chooses the layout of a tensor in shared memory from its accesses.

use super::accessor::{LayoutPrefixConstraint, SharedLayoutSearchOptions, SharedMemoryAccessor};
use super::choice::{RankedSharedLayouts, SharedLayoutKind};
use super::copies::{self, Copied};
use super::functor;
use super::linear;
use super::lower_bound;
use super::padding;
use super::problem::SharedLayoutProblem;
use super::weigh::Weigher;
use crate::movement::{MovementError, PlanContext};
use tilewright_layout::f2::Columns;
use tilewright_target::TargetDescription;

/// Chooses the shared-memory layout of a tensor of elements of `element_bits` bits for these accessors, and returns all
/// candidates. Accesses are plain or by instructions of the context's table. The bytes are limited by the constraints;
/// the context's `scratch_bytes` is ignored.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{SharedMemoryAccessor, SharedLayoutSearchOptions, choose_shared_layout};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // 8x8 words on a machine of 8 lanes and 8 banks: rows are stored, columns are loaded.
/// let part = |of, axis| LinearLayout::identity(8, of, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 1)?.direct_sum(&part(Dim::REGISTER, 0)?)?;
/// let columns = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let accessors = [SharedMemoryAccessor::store(rows), SharedMemoryAccessor::load(columns)];
/// let choice = choose_shared_layout(&accessors, 32, &SharedLayoutSearchOptions::default(), &target)?;
/// assert_eq!((choice.chosen().weighted_wavefronts(), choice.wavefronts_above_bound()), (16, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MovementError`] if there is no accessor, if the accessors have different tensors (an accessor may have a part of
/// the elements), if several are copies or a copy loads, if the target does not support their layouts or the element
/// width, or if no layout meets the constraints.
pub fn choose_shared_layout<'a>(
    accessors: &[SharedMemoryAccessor],
    element_bits: u32,
    constraints: &SharedLayoutSearchOptions,
    context: impl Into<PlanContext<'a>>,
) -> Result<RankedSharedLayouts, MovementError> {
    let context = context.into();
    let problem = SharedLayoutProblem::new(accessors, element_bits, context.target, &vec![context; accessors.len()])?;
    let shared = lower_bound::cheapest_variants(&problem);
    let mut weigher = Weigher::new(&problem, constraints)?;
    match problem.copy {
        None => search_sharing(&mut weigher, &shared, &problem.bases(), (&[], &[])),
        Some((at, copy)) => {
            let copy = Copied::new(&problem, at, copy)?;
            let straight = copy.straight(&problem);
            weigher.plain(&straight);
            padding::search(&mut weigher, &straight, copy.chunk_bits());
            copies::search(&mut weigher, &copy);
            // For comparison only: the best layout for a copy whose lanes could give an address each, which this copy
            // cannot use.
            linear::search(&mut weigher, &[], &[]);
        }
    }
    weigher.choice()
}

/// As [`choose_shared_layout`], for memory that begins with the elements of `begin`, and with a plan context for each
/// accessor; no accessor may be a copy.
///
/// # Errors
/// As [`choose_shared_layout`]; also if an element in `begin` is not in the tensor or depends linearly on earlier ones.
pub(crate) fn choose_shared_layout_with_prefix<'a>(
    accessors: &'a [SharedMemoryAccessor],
    element_bits: u32,
    begin: &LayoutPrefixConstraint,
    constraints: &SharedLayoutSearchOptions,
    target: &'a TargetDescription,
    context: &[PlanContext<'a>],
) -> Result<RankedSharedLayouts, MovementError> {
    let problem = SharedLayoutProblem::new(accessors, element_bits, target, context)?;
    let low = problem.prefix_columns(begin)?;
    let shared = lower_bound::cheapest_variants(&problem);
    let mut weigher = Weigher::new(&problem, constraints)?;
    let bases = problem.bases_from(&low);
    search_sharing(&mut weigher, &shared, &bases, (&low[..begin.kept], &low[..begin.together]));
    weigher.choice()
}

/// Computes the min wavefronts of one accessor over all memory layouts.
///
/// # Errors
/// As [`choose_shared_layout`].
pub(crate) fn wavefront_lower_bound(
    accessor: &SharedMemoryAccessor,
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<u64, MovementError> {
    let problem = SharedLayoutProblem::new(std::slice::from_ref(accessor), element_bits, context.target, &[context])?;
    let min_wavefronts = problem.sides.first().and_then(|side| lower_bound::by_any_sharing(&problem, side));
    min_wavefronts.ok_or_else(|| MovementError::impossible("no access divides the layout"))
}

/// Compares layouts of all kinds for accessors without copies: first for the problem without work sharing, then for
/// each problem of `shared`, whose threads share the work of replicas. `low` has the lists `kept` and `together` of
/// [`search_all`].
fn search_sharing<'a>(
    weigher: &mut Weigher<'a>,
    shared: &'a [SharedLayoutProblem<'a>],
    bases: &[Columns],
    low: (&[u64], &[u64]),
) {
    search_all(weigher, bases, low);
    for problem in shared {
        if weigher.continue_with(problem) {
            search_all(weigher, bases, low);
        }
    }
}

/// Compares layouts of all kinds for accessors without copies. The elements `kept` stay at the first offset bits in
/// their order; the elements `together` stay at the first offset bits in any order.
fn search_all(weigher: &mut Weigher<'_>, bases: &[Columns], (kept, together): (&[u64], &[u64])) {
    weigher.plain(bases);
    // A swizzle xors higher offset bits into lower ones and changes no bit below its lowest target bit.
    functor::search(weigher, bases, kept.len() as u32);
    linear::search(weigher, kept, together);
    if weigher.constraints.kinds.contains(&SharedLayoutKind::Padding) || kept.is_empty() {
        padding::search(weigher, bases, kept.len() as u32);
    }
}

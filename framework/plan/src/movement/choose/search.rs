//! Chooses the layout of a tensor in shared memory from its accesses.

use super::accessor::{Accessor, Begin, Constraints};
use super::choice::{Kind, MemoryChoice};
use super::copies::{self, Copied};
use super::functor;
use super::least;
use super::linear;
use super::padding;
use super::problem::Question;
use super::weigh::Weigher;
use crate::movement::{MovementError, PlanContext};
use tilewright_layout::f2::Columns;
use tilewright_target::TargetDescription;

/// The best layout in shared memory of a tensor of elements of `element_bits` bits for those who access
/// it, and its rivals, by the given means, such as `&TargetDescription`: plain accesses, or rows of the
/// instruction table. How many bytes it may take is said by the constraints, not by the means.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{Accessor, Constraints, choose_shared_layout};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/machines/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // 8x8 words on a machine of 8 lanes and 8 banks: rows are stored, columns are loaded.
/// let part = |of, axis| LinearLayout::identity(8, of, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 1)?.direct_sum(&part(Dim::REGISTER, 0)?)?;
/// let columns = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let accessors = [Accessor::store(rows), Accessor::load(columns)];
/// let choice = choose_shared_layout(&accessors, 32, &Constraints::default(), &target)?;
/// assert_eq!((choice.chosen().wavefronts(), choice.gap()), (16, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MovementError`]: no accessors, layouts that are not of one tensor or not for the target, widths
/// that no element has, and constraints that no layout meets.
pub fn choose_shared_layout<'a>(
    accessors: &[Accessor],
    element_bits: u32,
    constraints: &Constraints,
    context: impl Into<PlanContext<'a>>,
) -> Result<MemoryChoice, MovementError> {
    let context = context.into();
    let problem = Question::new(accessors, element_bits, context.target, &vec![context; accessors.len()])?;
    let mut weigher = Weigher::new(&problem, constraints)?;
    match problem.copy {
        None => search_all(&mut weigher, &problem.bases(), (&[], &[])),
        Some((at, copy)) => {
            let copy = Copied::new(&problem, at, copy)?;
            let straight = copy.straight(&problem);
            weigher.plain(&straight);
            padding::search(&mut weigher, &straight, copy.chunk_bits());
            copies::search(&mut weigher, &copy);
            // What memory could do if lanes gave addresses of their own: known, but not for this copy.
            linear::search(&mut weigher, &[], &[]);
        }
    }
    weigher.choice()
}

/// As [`choose_shared_layout`], where memory begins in a given way and each accessor, none of which is a copy, has means of
/// its own.
///
/// # Errors
/// As [`choose_shared_layout`]; a beginning whose elements depend on each other.
pub(crate) fn choose_memory_begun<'a>(
    accessors: &'a [Accessor],
    element_bits: u32,
    begin: &Begin,
    constraints: &Constraints,
    target: &'a TargetDescription,
    context: &[PlanContext<'a>],
) -> Result<MemoryChoice, MovementError> {
    let problem = Question::new(accessors, element_bits, target, context)?;
    let low = problem.begun(begin)?;
    let mut weigher = Weigher::new(&problem, constraints)?;
    search_all(&mut weigher, &problem.bases_from(&low), (&low[..begin.kept], &low[..begin.together]));
    weigher.choice()
}

/// The wavefronts that one accessor takes at least, whatever the layout of memory.
///
/// # Errors
/// As [`choose_shared_layout`].
pub(crate) fn least_wavefronts(
    accessor: &Accessor,
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<u64, MovementError> {
    let problem = Question::new(std::slice::from_ref(accessor), element_bits, context.target, &[context])?;
    let least = problem.sides.first().and_then(|side| least::by_any(&problem, side));
    least.ok_or_else(|| MovementError::impossible("no access divides the layout"))
}

/// Layouts of all kinds for accessors of which none is a copy; the first elements stay as they are `kept`, those `together`
/// the first ones.
fn search_all(weigher: &mut Weigher<'_>, bases: &[Columns], (kept, together): (&[u64], &[u64])) {
    weigher.plain(bases);
    // A swizzle adds lower bits of the offset to higher ones: what lies together below a bit stays so.
    functor::search(weigher, bases, kept.len() as u32);
    linear::search(weigher, kept, together);
    if weigher.constraints.kinds.contains(&Kind::Padding) || kept.is_empty() {
        padding::search(weigher, bases, kept.len() as u32);
    }
}

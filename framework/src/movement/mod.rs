//! Floor 5: plans for moving data, from target data alone.
//!
//! A [`Plan`] is a value: what to do, what it costs, and why no plan can do better. [`convert`]
//! weighs the candidates for a conversion between two distributed layouts and gives the cheapest;
//! [`Plan::emit`] writes the kernel IR. The counts come from the layouts alone, before anything is
//! emitted; those of the emulator come from the addresses that were executed, and must be equal.
//!
//! May import `f2`, `layout`, `target`, `kernel`; never `vendor` or `emulator`.

mod address;
mod bound;
mod conflicts;
mod conversion;
mod exchange;
mod local;
mod plan;
mod price;
mod rounds;
mod shared;
mod spread;
mod swizzle;

use crate::layout::LinearLayout;
use crate::target::TargetDescription;

pub use address::{LinearAddress, Thread};
pub use bound::Bound;
pub use conflicts::{BankModel, ConflictError, Conflicts, conflicts};
pub use conversion::{Conversion, MovementError};
pub use plan::{Path, Plan, Rejected, SharedBits};
pub use price::cost;
pub use rounds::Rounds;
pub use swizzle::Swizzle;

/// The cheapest plan that converts a tensor of elements of `element_bits` bits from layout `src`
/// to layout `dst` on `target`.
///
/// # Errors
/// [`MovementError`]: layouts that are not of one tensor, or that the target cannot hold; widths
/// that no element has; conversions that no candidate can do.
pub fn convert(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<Plan, MovementError> {
    let (plans, rejected) = candidates(src, dst, element_bits, target)?;
    let cheapest = plans.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    cheapest.ok_or_else(|| MovementError::Impossible {
        reasons: rejected.iter().map(|r| format!("{}: {}", r.path, r.reason)).collect::<Vec<_>>().join("; "),
    })
}

/// The plans that [`convert`] weighs, the cheapest on each path, and the ways that are closed with
/// the reasons.
///
/// # Errors
/// [`MovementError`]: layouts that are not of one tensor, or that the target cannot hold; widths
/// that no element has.
pub fn candidates(
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<(Vec<Plan>, Vec<Rejected>), MovementError> {
    let conversion = Conversion::new(src, dst, element_bits, target)?;
    let mut plans: Vec<Plan> = Vec::new();
    let mut rejected = Vec::new();
    let ways = [
        (Path::Register, local::plan(&conversion, target)),
        (Path::Shuffle, exchange::plan(&conversion, target)),
        (Path::Shared, shared::plan(&conversion, target)),
    ];
    let mut weigh = |plan: Plan| match plans.iter_mut().find(|known| known.path == plan.path) {
        Some(known) if known.cost <= plan.cost => {}
        Some(known) => *known = plan,
        None => plans.push(plan),
    };
    for (path, way) in ways {
        match way {
            Ok(plan) => weigh(plan),
            Err(reason) => rejected.push(Rejected { path, reason }),
        }
    }
    spread::plans(&conversion, target).into_iter().for_each(&mut weigh);
    Ok((plans, rejected))
}

//! Plans conversions by shuffles.

use super::search;
use super::shuffles::Exchanges;
use super::words::WORD_BITS;
use crate::movement::bound;
use crate::movement::convert::plan::{Path, Plan, Steps};
use crate::movement::price::cost;
use crate::movement::{Conversion, PlanStats};
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// The best way that takes fewer wavefront slots than `most`.
pub(crate) fn plan(conversion: &Conversion, target: &TargetDescription, most: f64) -> Result<Plan, String> {
    let exchange_bits = target.index_exchange_bits().ok_or("the target has no exchange by lane index")?;
    if exchange_bits != WORD_BITS {
        return Err(format!("exchanges of {exchange_bits} bits; words of {WORD_BITS} are planned"));
    }
    let origin = conversion.origin.as_ref().ok_or("elements cross blocks")?;
    if origin.crosses_warps(conversion.lane_mask()) {
        return Err("a warp needs elements of other warps".to_owned());
    }
    let best = search::best(conversion, origin, target, most)?;
    Ok(priced(conversion, best, target))
}

fn priced(conversion: &Conversion, exchanges: Exchanges, target: &TargetDescription) -> Plan {
    let counts = exchanges.counts();
    let bound = bound::of_exchanges(conversion, target);
    // The table's selects are of 32 bits.
    let issued = Counts { selects: counts.selects * exchanges.parts(), ..counts };
    let cost = cost(&issued, conversion.warps(), exchanges.stages(), target);
    Plan {
        path: if counts.exchanges == 0 { Path::Register } else { Path::Shuffle },
        stats: PlanStats { counts, cost, ..PlanStats::default() }
            .with_bound(bound, || exchanges.why_above(bound.exchanges)),
        steps: Steps::Exchanges(Box::new(exchanges)),
    }
}

//! The candidates for a contraction, and the best of them.
//!
//! Weighed are all rows of the instruction table, each as it is and with the factors exchanged, and plain
//! multiply-adds with lanes side by side in every way; each with the warps shared out in every way.
//! The least cycles win; among those as good ([`AS_GOOD`]) the fewest issues, then the fewest registers, then, in a chain of
//! products, a result whose lanes are those of a factor, then one that is not transposed. Then, among the orders of K and the ways that are still equal, that whose factors reach their layouts in the
//! fewest wavefront slots wins; among equals the first in the table, in the order in which the unit counts.

use std::cmp::Ordering;

use crate::movement::{PlanContext, Rejected, TensorTable, check_block, convert};
use tilewright_layout::{Dim, LinearLayout};

use super::plan::Contraction;
use super::unit::Unit;
use super::{ContractError, ContractionCost, MmaProblem};

/// Cycles up to so many times the least are as good as these: the least part that is one over a power of two within which the
/// figures give what is published. Products of four warps, at the full rate, are to win wherever they fit (Linear Layouts,
/// 6.1; a warp's own reach 62.9 % of the peak, Luo et al.); where half of the warps make copies they come to 560 cycles by h100's
/// figures, a warp's own to 553.4: 1.2 % less, and 1/64 is 1.6 %.
const AS_GOOD: f64 = 1.0 + 1.0 / 64.0;

/// A way to multiply, with the warps shared out best.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaCandidate {
    /// The instruction's row, or what else multiplies.
    pub unit: String,
    /// Whether its first factor is `b`.
    pub transposed: bool,
    /// Warps along M and N.
    pub warps: [u64; 2],
    /// Elements of K at a time.
    pub chunk: u64,
    /// What it costs.
    pub cost: ContractionCost,
}

/// The best plan for a question.
///
/// # Errors
/// [`ContractError`]: sizes that no layout has; a product that no unit of the target can do.
pub fn plan<'a>(problem: &MmaProblem, context: impl Into<PlanContext<'a>>) -> Result<Contraction, ContractError> {
    let context = context.into();
    let (mut weighed, refused) = weigh(problem, context)?;
    if let Some(required) = &problem.required {
        weighed = best_of_each_side(weighed);
        for plan in &mut weighed {
            let way = convert(&plan.c, required, problem.accumulator.bits(), context)?;
            plan.cost.conversion_cycles = way.stats.cost;
        }
        sort(&mut weighed);
    }
    let Some(best) = weighed.first() else {
        return Err(ContractError::Impossible { reasons: Rejected::summary(&refused) });
    };
    let equals = weighed.iter().take_while(|plan| compare(plan, best).is_eq());
    let mut chosen: Option<(f64, Contraction)> = None;
    for plan in equals {
        let (slots, plan) = with_best_width(plan, context)?;
        if chosen.as_ref().is_none_or(|(least, _)| slots < *least) {
            chosen = Some((slots, plan));
        }
    }
    Ok(chosen.map_or_else(|| best.clone(), |(_, plan)| plan))
}

/// The ways that [`plan`] weighs, the best first, and those that are closed.
///
/// # Errors
/// [`ContractError::Shape`], [`ContractError::Threads`], [`ContractError::Layout`].
pub fn candidates<'a>(
    problem: &MmaProblem,
    context: impl Into<PlanContext<'a>>,
) -> Result<(Vec<MmaCandidate>, Vec<Rejected<String>>), ContractError> {
    let (weighed, refused) = weigh(problem, context.into())?;
    let candidate = |plan: &Contraction| MmaCandidate {
        unit: plan.unit_name().to_owned(),
        transposed: plan.is_transposed(),
        warps: plan.warps(),
        chunk: plan.chunk(),
        cost: plan.cost,
    };
    Ok((weighed.iter().map(candidate).collect(), refused))
}

fn weigh(
    problem: &MmaProblem,
    context: PlanContext<'_>,
) -> Result<(Vec<Contraction>, Vec<Rejected<String>>), ContractError> {
    problem.check()?;
    let target = context.target;
    check_block(problem.lanes.into(), problem.warps.into(), target)?;
    let (mut plans, mut refused) = (Vec::new(), Vec::new());
    let mut table = TensorTable::of(context.instructions, target);
    let requested = |name: &str| problem.unit.as_deref().is_none_or(|unit| unit == name);
    for row in context.instructions.iter().filter(|row| requested(&row.name)) {
        let mut refuse = |reason| refused.push(Rejected { candidate: row.name.clone(), reason });
        let units = match Unit::of_row(row, problem, target, &mut table) {
            // Ways to registers differ only for what wants the sums there.
            Ok(mut units) if problem.required.is_none() => {
                units.truncate(1);
                units
            }
            Ok(units) => units,
            Err(reason) => {
                refuse(reason);
                continue;
            }
        };
        let mut reason = None;
        let units = units.into_iter().flat_map(|unit| unit.swap_ab().into_iter().chain([unit]));
        for unit in units.filter(|unit| unit.is_so(problem)) {
            let way = unit.fits(problem).and_then(|()| best_split(problem, &unit, least_of(&plans), context));
            match way {
                Ok(plan) => plans.push(plan),
                // One reason a row is enough.
                Err(why) if !unit.transposed && reason.is_none() => reason = Some(why),
                Err(_) => {}
            }
        }
        reason.into_iter().for_each(&mut refuse);
    }
    for rows in (0..=problem.lanes.trailing_zeros()).rev() {
        let unit = Unit::plain(problem, rows, target);
        if !requested(unit.name()) || !unit.is_so(problem) {
            continue;
        }
        match unit.fits(problem).and_then(|()| best_split(problem, &unit, least_of(&plans), context)) {
            Ok(plan) => plans.push(plan),
            Err(reason) if rows == 0 => refused.push(Rejected { candidate: unit.name().to_owned(), reason }),
            Err(_) => {}
        }
    }
    sort(&mut plans);
    Ok((plans, refused))
}

/// The least cycles of these plans, with what is as good.
fn least_of(plans: &[Contraction]) -> f64 {
    plans.iter().map(|plan| plan.cost.cycles() * AS_GOOD).fold(f64::INFINITY, f64::min)
}

/// The best way to share out the warps; all along M where the result is another product's factor. The ways of factors that another
/// product has made are looked at where the plan may still be the best, of less than so many cycles.
fn best_split(problem: &MmaProblem, unit: &Unit, most: f64, context: PlanContext<'_>) -> Result<Contraction, String> {
    // Warps that issue together are along M.
    let warps = problem.warps.trailing_zeros().saturating_sub(unit.group);
    let least = if problem.chained { warps } else { 0 };
    let (mut best, mut reason): (Option<Contraction>, _) = (None, String::new());
    let said = problem.warp_partition.map(|shared| shared.warps[0].trailing_zeros().saturating_sub(unit.group));
    let ways = said.map_or(least..=warps, |rows| rows.min(warps)..=rows.min(warps));
    for rows in ways.rev() {
        let plan = Contraction::new(problem, unit, [rows, warps - rows], context.target);
        let plan = plan.and_then(|plan| {
            let beaten = plan.cost.cycles() > most || best.as_ref().is_some_and(|best| compare(best, &plan).is_lt());
            Ok(if beaten { plan } else { plan.with_ways(context)? })
        });
        match plan {
            Ok(plan) if best.as_ref().is_none_or(|best| compare(&plan, best).is_lt()) => best = Some(plan),
            Ok(_) => {}
            Err(ContractError::Impossible { reasons }) => reason = reasons,
            Err(other) => reason = other.to_string(),
        }
    }
    best.ok_or(reason)
}

/// The best first.
fn sort(plans: &mut [Contraction]) {
    plans.sort_by(compare);
    let most = plans.first().map_or(0.0, |best| best.cost.cycles() * AS_GOOD);
    let as_good = plans.partition_point(|plan| plan.cost.cycles() <= most);
    plans[..as_good].sort_by(compare_as_good);
}

fn compare(a: &Contraction, b: &Contraction) -> Ordering {
    a.cost.cycles().total_cmp(&b.cost.cycles()).then_with(|| compare_as_good(a, b))
}

/// Ways whose cycles are as good.
fn compare_as_good(a: &Contraction, b: &Contraction) -> Ordering {
    let by_issues = a.cost.issues.cmp(&b.cost.issues);
    by_issues
        .then(a.cost.registers.cmp(&b.cost.registers))
        .then(goes_on(b).cmp(&goes_on(a)))
        .then(a.is_transposed().cmp(&b.is_transposed()))
        .then(a.unit.scales.is_some().cmp(&b.unit.scales.is_some()))
}

/// Whether the next product of a chain, by the same unit, finds its first factor where the sums are: lanes that differ in the
/// row differ there in the row, and those that differ in the column along K.
fn goes_on(plan: &Contraction) -> bool {
    let axes = |layout: &LinearLayout| -> Vec<Vec<Dim>> {
        let moved = |basis: &u64| layout.outs().unpack(*basis).filter(|(_, at)| *at != 0).map(|(dim, _)| dim).collect();
        layout.columns_of(Dim::LANE).iter().map(moved).collect()
    };
    plan.problem.linked && axes(&plan.c) == axes(&plan.a)
}

/// Of the ways as they are and of those with the factors exchanged the best one each, and its equals that have the sums
/// in other registers.
fn best_of_each_side(weighed: Vec<Contraction>) -> Vec<Contraction> {
    let mut kept: Vec<Contraction> = Vec::new();
    for plan in weighed {
        let side = || kept.iter().filter(|known| known.is_transposed() == plan.is_transposed());
        if side().all(|known| compare(known, &plan).is_eq() && known.c != plan.c) {
            kept.push(plan);
        }
    }
    kept
}

/// The same plan in the order of K whose factors are the cheapest to bring, with the slots of that.
fn with_best_width(best: &Contraction, context: PlanContext<'_>) -> Result<(f64, Contraction), ContractError> {
    let slots = |plan: &Contraction| -> Result<f64, ContractError> { Ok(plan.operand_load_slots(context)?) };
    let of_width = |width: u32| -> Result<Contraction, ContractError> {
        Ok(keep_conversion(best.with_width(width, context.target)?, best).with_ways(context)?)
    };
    let widths = best.widths();
    if let Some(required) = best.problem.k_width {
        let width = required.trailing_zeros();
        if !widths.contains(&width) {
            let most = widths.iter().max().map_or(1, |&width| 1u64 << width);
            let reasons = format!("{}: a lane holds {most} elements of K at most, not {required}", best.unit_name());
            return Err(ContractError::Impossible { reasons });
        }
        let plan = of_width(width)?;
        // Where all is said, there is nothing to compare it with.
        return Ok((if plan.problem.warp_partition.is_some() { 0.0 } else { slots(&plan)? }, plan));
    }
    let widest = context.target.global.access_bits.iter().copied().max().unwrap_or(8);
    let narrow = best.problem.a.bits().min(best.problem.b.bits());
    let mut chosen: Option<(f64, Contraction)> = None;
    for (number, width) in widths.into_iter().enumerate() {
        if number > 0 && narrow << width > widest {
            continue;
        }
        let plan = of_width(width)?;
        if number > 0 && plan.order == best.order {
            continue;
        }
        let slots = slots(&plan)?;
        if chosen.as_ref().is_none_or(|(least, _)| slots < *least) {
            chosen = Some((slots, plan));
        }
    }
    match chosen {
        Some(chosen) => Ok(chosen),
        None => Ok((slots(best)?, best.clone())),
    }
}

fn keep_conversion(mut plan: Contraction, from: &Contraction) -> Contraction {
    plan.cost.conversion_cycles = from.cost.conversion_cycles;
    plan
}

//! Enumerates and ranks the candidates for an MMA.
//!
//! Candidates are all matrix instructions, each as it is and with A and B swapped, and plain multiply-adds for each
//! number of lanes along M; each with every warp partition. The fewest cycles win. Among candidates that are as good
//! ([`AS_GOOD`]) the order is: the fewest issues; the fewest registers; in a chain of MMAs, an accumulator whose lanes
//! are those of operand A; no swap of A and B; an instruction without scales. Among the remaining equals and the orders
//! of K, the plan wins whose operands reach their layouts in the fewest cycles; then the first instruction in the
//! table, in its own order of K.

use std::cmp::Ordering;

use crate::movement::{
    PlanContext, RejectedCandidate, TensorMemoryMoveTable, check_block_fits_target, plan_conversion,
};
use tilewright_layout::{Dim, LinearLayout, find_similar_name};
use tilewright_target::{Instruction, TargetDescription};

use super::mma_atom::{MmaAtom, TypeChecks};
use super::plan::MmaPlan;
use super::{MmaCost, MmaError, MmaProblem};

/// Candidates count as equally good if they take at most this many times the fewest cycles. The limit is the smallest
/// `1 + 1/2^n` with which the cost model reproduces published results: MMAs of four warps (PTX `wgmma`), at the full
/// rate, must win wherever they fit (Linear Layouts, 6.1; MMAs of one warp reach 62.9 % of the peak, Luo et al.). With
/// the costs of h100, if half of the warps compute replicas, MMAs of four warps take 560 cycles and MMAs of one warp
/// 553.4, which is 1.2 % less; 1/64 is 1.6 %.
const AS_GOOD: f64 = 1.0 + 1.0 / 64.0;

/// A candidate for an MMA, with its best warp partition.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaCandidate {
    /// The name of the MMA atom: of the instruction, or of the plain multiply-adds.
    pub atom: String,
    /// Whether A and B are swapped: the atom's first operand is `b`.
    pub transposed: bool,
    /// Number of warps along M and along N.
    pub warps: [u64; 2],
    /// Number of elements of K that are multiplied at a time (one chunk).
    pub chunk: u64,
    /// The cost of the candidate's plan, in cycles and registers.
    pub cost: MmaCost,
}

/// Returns the best plan for an MMA problem.
///
/// # Errors
/// [`MmaError::Impossible`] if no atom of the target solves the problem; [`MmaError::Movement`] if the target does not
/// support the block's lanes or warps, or if a conversion or an operand load has no plan; [`MmaError::Shape`],
/// [`MmaError::Size`], [`MmaError::Threads`] or [`MmaError::Scale`] if the problem itself is invalid (see the
/// variants).
///
/// # Examples
/// ```
/// use tilewright_plan::mma::{MmaProblem, plan_mma};
/// use tilewright_target::ElementType;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // The context has no instruction table, so the plan takes fused multiply-adds.
/// let f32 = ElementType::from_name("f32").ok_or("no type")?;
/// let plan = plan_mma(&MmaProblem::new([8, 8, 8], [f32; 3], 8, 1), &target)?;
/// assert_eq!((plan.instruction(), plan.warp_partition()), (None, [1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_mma<'a>(problem: &MmaProblem, context: impl Into<PlanContext<'a>>) -> Result<MmaPlan, MmaError> {
    let context = context.into();
    context.cached_mma(problem, || plan_new_mma(problem, context))
}

/// Plans an MMA problem that no cache has; see [`plan_mma`].
fn plan_new_mma(problem: &MmaProblem, context: PlanContext<'_>) -> Result<MmaPlan, MmaError> {
    let (mut weighed, refused) = weigh(problem, context)?;
    if let Some(required) = &problem.result_layout {
        weighed = best_of_each_side(weighed);
        for plan in &mut weighed {
            let cheapest = plan_conversion(&plan.c, required, problem.accumulator.bits(), context)?;
            plan.cost.conversion_cycles = cheapest.stats.cost;
        }
        sort(&mut weighed);
    }
    let Some(best) = weighed.first() else {
        return Err(MmaError::Impossible { reasons: RejectedCandidate::summarize_reasons(&refused) });
    };
    let equals = weighed.iter().take_while(|plan| compare(plan, best).is_eq());
    let mut chosen: Option<(f64, MmaPlan)> = None;
    for plan in equals {
        let (price, plan) = with_best_width(plan, context)?;
        if chosen.as_ref().is_none_or(|(lowest, _)| price < *lowest) {
            chosen = Some((price, plan));
        }
    }
    Ok(chosen.map_or_else(|| best.clone(), |(_, plan)| plan))
}

/// Returns the candidates that [`plan_mma`] compares, best first, and the rejected ones with the reasons.
///
/// # Errors
/// [`MmaError::Movement`] if the target does not support the block's lanes or warps; [`MmaError::Impossible`] if the
/// required warp partition does not fit the block; [`MmaError::Shape`], [`MmaError::Size`], [`MmaError::Threads`] or
/// [`MmaError::Scale`] if the problem itself is invalid (see the variants).
///
/// # Examples
/// ```
/// use tilewright_plan::mma::{MmaProblem, mma_candidates};
/// use tilewright_target::ElementType;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let f32 = ElementType::from_name("f32").ok_or("no type")?;
/// let (candidates, _) = mma_candidates(&MmaProblem::new([8, 8, 8], [f32; 3], 8, 1), &target)?;
/// assert!(candidates.iter().all(|candidate| candidate.warps == [1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn mma_candidates<'a>(
    problem: &MmaProblem,
    context: impl Into<PlanContext<'a>>,
) -> Result<(Vec<MmaCandidate>, Vec<RejectedCandidate<String>>), MmaError> {
    let (weighed, refused) = weigh(problem, context.into())?;
    let candidate = |plan: &MmaPlan| MmaCandidate {
        atom: plan.atom_name().to_owned(),
        transposed: plan.is_transposed(),
        warps: plan.warp_partition(),
        chunk: plan.chunk_elements(),
        cost: plan.cost,
    };
    Ok((weighed.iter().map(candidate).collect(), refused))
}

/// Returns the plans, best first, and the rejected candidates with the reasons: first those whose types fit, the nearest
/// first.
pub(super) fn weigh(
    problem: &MmaProblem,
    context: PlanContext<'_>,
) -> Result<(Vec<MmaPlan>, Vec<RejectedCandidate<String>>), MmaError> {
    problem.check()?;
    let target = context.target;
    check_block_fits_target(problem.lanes.into(), problem.warps.into(), target)?;
    let (mut plans, mut refused, mut near): (Vec<MmaPlan>, _, _) = (Vec::new(), Vec::new(), Vec::new());
    let split = |atom: &MmaAtom, plans: &[MmaPlan]| best_split(problem, atom, min_cycles_of(plans), context);
    for (name, atoms) in instruction_atoms(problem, context) {
        let atoms = match atoms {
            Ok(atoms) => atoms,
            Err(reason) => {
                refused.push(RejectedCandidate { candidate: name.to_owned(), reason });
                continue;
            }
        };
        let mut reason = None;
        for atom in atoms.iter().filter(|atom| atom.has_partition(problem)) {
            match split(atom, &plans) {
                Ok(plan) => plans.push(plan),
                // One reason for each instruction is enough.
                Err(why) if !atom.transposed && reason.is_none() => reason = Some(why),
                Err(_) => {}
            }
        }
        near.extend(reason.map(|why| (name.to_owned(), why)));
    }
    for atom in multiply_add_atoms(problem, target).filter(|atom| atom.has_partition(problem)) {
        match split(&atom, &plans) {
            Ok(plan) => plans.push(plan),
            Err(why) if atom.lanes_along_rows() == 1 => near.push((atom.name().to_owned(), why)),
            Err(_) => {}
        }
    }
    sort(&mut plans);
    let mut rejected: Vec<_> = nearest_first(near).into_iter().chain(refused).collect();
    if plans.is_empty() && rejected.is_empty() {
        rejected.push(without_atoms(problem, context));
    }
    Ok((plans, rejected))
}

/// Max number of instructions that an error proposes.
const MAX_PROPOSED: usize = 4;

/// Returns the reason why a problem has no atom to try: it names an unknown one, or a warp partition that none has.
fn without_atoms(problem: &MmaProblem, context: PlanContext<'_>) -> RejectedCandidate<String> {
    match &problem.atom {
        Some(named) if !context.instructions.iter().any(|row| row.name == *named) => RejectedCandidate {
            candidate: named.clone(),
            reason: format!(
                "{} has no such instruction; {}",
                context.target.name,
                propose_instructions(named, problem, context)
            ),
        },
        named => RejectedCandidate {
            candidate: named.clone().unwrap_or_else(|| "all instructions".to_owned()),
            reason: "no plan has the required warp partition with this order of A and B".to_owned(),
        },
    }
}

/// Proposes the instruction of the problem's element types with the name most similar to `named`, or the first ones.
fn propose_instructions(named: &str, problem: &MmaProblem, context: PlanContext<'_>) -> String {
    let mut types = TypeChecks::default();
    let rows = context.instructions.iter();
    let known = rows.filter(|row| row.mma_shape().is_some() && types.check(row, problem).is_ok());
    let known: Vec<&str> = known.map(|row| &*row.name).collect();
    let proposed = known.iter().take(MAX_PROPOSED).copied().collect::<Vec<_>>().join(", ");
    match (find_similar_name(named, known.iter().copied()), known.len()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, 0) => "none multiplies these element types".to_owned(),
        (None, count) if count > MAX_PROPOSED => {
            format!("for these element types it has {proposed} and {} more", count - MAX_PROPOSED)
        }
        (None, _) => format!("for these element types it has {proposed}"),
    }
}

/// Returns the rejected atoms, those that need the fewest registers first, with the reasons. The reason of the nearest
/// atoms states the remedy.
fn nearest_first(mut rejected: Vec<(String, MmaError)>) -> Vec<RejectedCandidate<String>> {
    let registers = |why: &MmaError| if let MmaError::Registers { needed, .. } = why { *needed } else { u64::MAX };
    rejected.sort_by_key(|(_, why)| registers(why));
    let fewest = rejected.first().map_or(u64::MAX, |(_, why)| registers(why));
    let candidate = |(candidate, why): (String, MmaError)| {
        let reason = match why {
            MmaError::Registers { needed, .. } if needed == fewest => {
                format!("{why}; more warps or a smaller tile take fewer")
            }
            MmaError::Impossible { reasons } => reasons,
            why => why.to_string(),
        };
        RejectedCandidate { candidate, reason }
    };
    rejected.into_iter().map(candidate).collect()
}

/// Returns, for each instruction that a problem allows, its atoms, each as it is and with A and B swapped, or the
/// reason why it has none.
pub(super) fn instruction_atoms<'a>(
    problem: &'a MmaProblem,
    context: PlanContext<'a>,
) -> impl Iterator<Item = (&'a str, Result<Vec<MmaAtom>, String>)> {
    let mut table = TensorMemoryMoveTable::new(context.instructions, context.target);
    let mut types = TypeChecks::default();
    let requested = |row: &&Instruction| problem.atom.as_deref().is_none_or(|atom| atom == row.name);
    context.instructions.iter().filter(requested).map(move |row| {
        let atoms = types.check(row, problem).and_then(|()| MmaAtom::of_row(row, problem, context.target, &mut table));
        // The atoms of one instruction differ only by their moves from tensor memory to registers, which matter only if
        // a result layout is required.
        let most = if problem.result_layout.is_none() { 1 } else { usize::MAX };
        let both = |atom: MmaAtom| atom.swap_ab().into_iter().chain([atom]);
        (row.name.as_str(), atoms.map(|atoms| atoms.into_iter().take(most).flat_map(both).collect()))
    })
}

/// Returns the plain multiply-adds that a problem allows, for each number of lanes along M.
pub(super) fn multiply_add_atoms<'a>(
    problem: &'a MmaProblem,
    target: &'a TargetDescription,
) -> impl Iterator<Item = MmaAtom> {
    let atoms = (0..=problem.lanes.trailing_zeros()).rev().map(|rows| MmaAtom::of_multiply_adds(problem, rows, target));
    atoms.filter(|atom| problem.atom.as_deref().is_none_or(|requested| requested == atom.name()))
}

/// Returns the fewest cycles of these plans, times [`AS_GOOD`].
fn min_cycles_of(plans: &[MmaPlan]) -> f64 {
    plans.iter().map(|plan| plan.cost.cycles() * AS_GOOD).fold(f64::INFINITY, f64::min)
}

/// Returns the atom's plan with the warp partition that takes the fewest cycles; all warps are along M if the result is
/// the operand of another MMA. Conversions of operands that another MMA produced are expensive to plan, so they are
/// priced only if the plan takes at most `most` cycles without them. The error is the reason why no partition is
/// possible.
fn best_split(problem: &MmaProblem, atom: &MmaAtom, most: f64, context: PlanContext<'_>) -> Result<MmaPlan, MmaError> {
    atom.check(problem).map_err(|reasons| MmaError::Impossible { reasons })?;
    // Warps that issue together are along M.
    let warps = problem.warps.trailing_zeros().saturating_sub(atom.group);
    let min_row_bits = if problem.chained { warps } else { 0 };
    let (mut best, mut reason): (Option<MmaPlan>, _) = (None, MmaError::Impossible { reasons: String::new() });
    let explicit_rows =
        problem.warp_partition.map(|shared| shared.warps[0].trailing_zeros().saturating_sub(atom.group));
    let row_warp_bits = explicit_rows.map_or(min_row_bits..=warps, |rows| rows.min(warps)..=rows.min(warps));
    for rows in row_warp_bits.rev() {
        let plan = MmaPlan::new(problem, atom, [rows, warps - rows], context.target);
        let plan = plan.and_then(|plan| {
            let beaten = plan.cost.cycles() > most || best.as_ref().is_some_and(|best| compare(best, &plan).is_lt());
            Ok(if beaten { plan } else { plan.with_conversion_cycles(context)? })
        });
        match plan {
            Ok(plan) if best.as_ref().is_none_or(|best| compare(&plan, best).is_lt()) => best = Some(plan),
            Ok(_) => {}
            Err(why) => reason = why,
        }
    }
    best.ok_or(reason)
}

/// Sorts plans, the best first.
fn sort(plans: &mut [MmaPlan]) {
    plans.sort_by(compare);
    let most = plans.first().map_or(0.0, |best| best.cost.cycles() * AS_GOOD);
    let as_good = plans.partition_point(|plan| plan.cost.cycles() <= most);
    plans[..as_good].sort_by(compare_as_good);
}

fn compare(a: &MmaPlan, b: &MmaPlan) -> Ordering {
    a.cost.cycles().total_cmp(&b.cost.cycles()).then_with(|| compare_as_good(a, b))
}

/// Ranks two plans whose cycles count as equally good; the better one compares less.
fn compare_as_good(a: &MmaPlan, b: &MmaPlan) -> Ordering {
    let by_issues = a.cost.issues.cmp(&b.cost.issues);
    by_issues
        .then(a.cost.registers.cmp(&b.cost.registers))
        .then(has_chained_lanes(b).cmp(&has_chained_lanes(a)))
        .then(a.is_transposed().cmp(&b.is_transposed()))
        .then(a.atom.scales.is_some().cmp(&b.atom.scales.is_some()))
}

/// Whether the accumulator's lanes are those of operand A, so that the next MMA of a chain with the same atom needs no
/// shuffle: lane bits along the rows of the accumulator are along the rows of A, and lane bits along its columns are
/// along K.
fn has_chained_lanes(plan: &MmaPlan) -> bool {
    let axes = |layout: &LinearLayout| -> Vec<Vec<Dim>> {
        let moved = |basis: &u64| layout.outs().unpack(*basis).filter(|(_, at)| *at != 0).map(|(dim, _)| dim).collect();
        layout.columns_of(Dim::LANE).iter().map(moved).collect()
    };
    plan.problem.in_chain && axes(&plan.c) == axes(&plan.a)
}

/// Keeps the best plan without a swap of A and B and the best plan with it; also the equally good plans of the same
/// orientation whose accumulator has another layout. `weighed` has the best plan first.
fn best_of_each_side(weighed: Vec<MmaPlan>) -> Vec<MmaPlan> {
    let mut kept: Vec<MmaPlan> = Vec::new();
    for plan in weighed {
        let side = || kept.iter().filter(|known| known.is_transposed() == plan.is_transposed());
        if side().all(|known| compare(known, &plan).is_eq() && known.c != plan.c) {
            kept.push(plan);
        }
    }
    kept
}

/// Returns the variant of `best` whose operand loads take the fewest cycles of a warp, after these cycles. Variants
/// differ by the number of consecutive elements of K in a lane (`k_width`). If the problem fixes that number and the
/// warp partition, the only variant is returned with 0 cycles.
fn with_best_width(best: &MmaPlan, context: PlanContext<'_>) -> Result<(f64, MmaPlan), MmaError> {
    let price = |plan: &MmaPlan| -> Result<f64, MmaError> { Ok(plan.operand_load_price(context)?) };
    let of_width = |width: u32| -> Result<MmaPlan, MmaError> {
        Ok(keep_conversion(best.with_width(width, context.target)?, best).with_conversion_cycles(context)?)
    };
    let widths = best.widths();
    if let Some(required) = best.problem.k_width {
        let width = required.trailing_zeros();
        if !widths.contains(&width) {
            let most = widths.iter().max().map_or(1, |&width| 1u64 << width);
            let reasons = format!("{}: a lane has at most {most} elements of K, not {required}", best.atom_name());
            return Err(MmaError::Impossible { reasons });
        }
        let plan = of_width(width)?;
        // If the problem also fixes the warp partition, there is no other plan with which to compare the price.
        return Ok((if plan.problem.warp_partition.is_some() { 0.0 } else { price(&plan)? }, plan));
    }
    let mut chosen: Option<(f64, MmaPlan)> = None;
    for (index, plan) in best.in_each_order(context.target)?.into_iter().enumerate() {
        if index > 0 && plan.order == best.order {
            continue;
        }
        let plan = keep_conversion(plan, best).with_conversion_cycles(context)?;
        let price = price(&plan)?;
        if chosen.as_ref().is_none_or(|(lowest, _)| price < *lowest) {
            chosen = Some((price, plan));
        }
    }
    match chosen {
        Some(chosen) => Ok(chosen),
        None => Ok((price(best)?, best.clone())),
    }
}

fn keep_conversion(mut plan: MmaPlan, from: &MmaPlan) -> MmaPlan {
    plan.cost.conversion_cycles = from.cost.conversion_cycles;
    plan
}

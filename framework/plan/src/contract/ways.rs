//! Ways to multiply that a program around the product chooses between.
//!
//! [`super::plan`] finds the way of the least cycles for factors that are row-major in memory. In a program they come from
//! elsewhere, too, under masks, or from other products; so ways are listed here that are worth a look, and what each costs
//! there is for the engine to weigh.

use crate::movement::{PlanContext, TensorTable};
use tilewright_layout::LinearLayout;
use tilewright_target::TargetDescription;

use super::plan::Contraction;
use super::tiling::Tiling;
use super::unit::Unit;
use super::{ContractError, MmaProblem, WarpPartition};

/// Ways whose products alone take more than so many times the cycles of the best plan are not listed.
const SLOWEST: f64 = 2.0;

/// What a question says to get other plans than the best one, in which lanes hold both factors: those whose factors are
/// brought from memory in the fewest wavefront slots first, `most` at most.
///
/// # Errors
/// [`ContractError::Movement`], [`ContractError::Layout`].
pub fn ways(
    problem: &MmaProblem,
    best: &Contraction,
    most: usize,
    context: PlanContext<'_>,
) -> Result<Vec<MmaProblem>, ContractError> {
    let limit = best.cost.cycles() * SLOWEST;
    let mut found: Vec<(f64, Contraction)> = Vec::new();
    let mut fed = [Vec::new(), Vec::new()];
    for unit in units(problem, context) {
        for plan in warp_partition(problem, &unit, limit, context.target) {
            for plan in ordered(&plan, context.target)? {
                let is_known = |known: &Contraction| known.a == plan.a && known.b == plan.b && known.c == plan.c;
                if !is_known(best) && !found.iter().any(|(_, known)| is_known(known)) {
                    found.push((plan.own_slots(context.target) + operand_load_slots(&plan, &mut fed, context)?, plan));
                }
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    found.truncate(most);
    Ok(found.iter().map(|(_, plan)| plan.explicit_problem()).collect())
}

/// Wavefront slots in which both factors of a plan reach their layouts; many plans share those.
fn operand_load_slots(
    plan: &Contraction,
    fed: &mut [Vec<(LinearLayout, f64)>; 2],
    context: PlanContext<'_>,
) -> Result<f64, ContractError> {
    let mut slots = 0.0;
    for (side, (layout, known)) in [&plan.a, &plan.b].into_iter().zip(fed).enumerate() {
        slots += match known.iter().find(|(known, _)| known == layout) {
            Some((_, known)) => *known,
            None => {
                let found = plan.operand_load_slots_of(side, context)?;
                known.push((layout.clone(), found));
                found
            }
        };
    }
    Ok(slots)
}

/// The units that take both factors from registers and leave the sums there, each also with the factors exchanged.
fn units(problem: &MmaProblem, context: PlanContext<'_>) -> Vec<Unit> {
    let mut table = TensorTable::of(context.instructions, context.target);
    let mut found = Vec::new();
    for row in context.instructions {
        let Ok(units) = Unit::of_row(row, problem, context.target, &mut table) else { continue };
        found.extend(units.into_iter().take(1).flat_map(|unit| unit.swap_ab().into_iter().chain([unit])));
    }
    found.extend((0..=problem.lanes.trailing_zeros()).map(|rows| Unit::plain(problem, rows, context.target)));
    found.retain(|unit| !unit.reads_memory() && unit.tensor.is_none() && unit.fits(problem).is_ok());
    found
}

/// A unit with the warps shared out in each way, and with as many columns side by side as a lane may have.
fn warp_partition(problem: &MmaProblem, unit: &Unit, limit: f64, target: &TargetDescription) -> Vec<Contraction> {
    let (k, warps) = (problem.bits()[2], problem.warps.trailing_zeros().saturating_sub(unit.group));
    let widest = target.global.access_bits.iter().copied().max().unwrap_or(8);
    let mut plans = Vec::new();
    for rows in (0..=warps).rev() {
        let tiling = Tiling::new(unit, problem, [rows, warps - rows], k);
        let issues = tiling.repeats().iter().sum::<u32>();
        let turns = problem.warps.div_ceil(unit.pipes);
        if f64::from(issues).exp2() * unit.cycles * f64::from(turns) > limit {
            continue;
        }
        let columns = (0..=tiling.repeats()[1]).filter(|beside| problem.b.stored_bits() << beside <= widest);
        for beside in columns {
            let n_width = (beside > 0 && unit.scales.is_none()).then_some(1 << beside);
            let requested = MmaProblem { n_width, ..problem.clone() };
            plans.extend(Contraction::new(&requested, unit, [rows, warps - rows], target));
        }
    }
    plans.retain(|plan| plan.cost.issue_cycles + plan.cost.cast_cycles <= limit);
    plans
}

/// A plan with K in each order whose neighbours one access brings.
fn ordered(plan: &Contraction, target: &TargetDescription) -> Result<Vec<Contraction>, ContractError> {
    let widest = target.global.access_bits.iter().copied().max().unwrap_or(8);
    let narrow = plan.problem.a.bits().min(plan.problem.b.bits());
    let widths =
        plan.widths().into_iter().enumerate().filter(|&(number, width)| number == 0 || narrow << width <= widest);
    widths.map(|(_, width)| plan.with_width(width, target)).collect()
}

impl Contraction {
    /// The question whose answer is this plan.
    #[must_use]
    pub fn explicit_problem(&self) -> MmaProblem {
        let lanes = self.unit.row.is_none().then(|| self.unit.lanes_along_rows());
        let warp_partition = Some(WarpPartition { swap_ab: self.is_transposed(), warps: self.warps(), lanes });
        let counts_k = self.unit.scales.is_some() || self.unit.reads_memory();
        let k_width = (!counts_k).then(|| self.k_width());
        MmaProblem { unit: Some(self.unit_name().to_owned()), warp_partition, k_width, ..self.problem.clone() }
    }

    /// What multiplying and casting take of a warp, in the time of wavefronts of shared memory.
    #[must_use]
    pub fn own_slots(&self, target: &TargetDescription) -> f64 {
        let slot = target.costs.shared_load_wavefront.cycles * f64::from(self.problem.warps);
        (self.cost.issue_cycles + self.cost.cast_cycles) / slot
    }
}

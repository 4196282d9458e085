//! Alternatives to the best plan, for layout assignment to choose between.
//!
//! [`super::plan_mma`] ranks plans for operands that lie densely in global memory or that a known MMA produced. In a
//! program, operands may also come from masked loads or other computations; this module lists plans that may be better
//! there, and layout assignment prices them in context.

use crate::movement::{PlanContext, TensorMemoryMoveTable};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

use super::mma_atom::{MmaAtom, TypeChecks};
use super::plan::MmaPlan;
use super::tiling::Tiling;
use super::{MmaCost, MmaError, MmaProblem, WarpPartition};

/// Max cycles of the MMAs and casts of a listed alternative, as a multiple of the total cycles of the best plan.
const SLOWEST: f64 = 2.0;

/// Returns alternatives to `best` with both operands in registers, each as a problem that only this alternative solves:
/// first `best` with each other order of K, then at most `most` plans of other layouts. These are sorted by the
/// predicted time of MMAs and operand loads, but the quickest plan of each warp partition comes before all others.
///
/// # Errors
/// [`MmaError::Movement`] if an operand load has no plan; [`MmaError::Layout`] if an atom's layouts cannot be composed.
pub fn mma_alternatives(
    problem: &MmaProblem,
    best: &MmaPlan,
    most: usize,
    context: PlanContext<'_>,
) -> Result<Vec<MmaProblem>, MmaError> {
    let limit = best.cost.cycles() * SLOWEST;
    let mut own = ordered(best, context.target)?;
    own.retain(|plan| !has_places_of(best, plan));
    let mut found: Vec<(f64, MmaPlan)> = Vec::new();
    let mut fed = [Vec::new(), Vec::new()];
    for atom in atoms(problem, context) {
        for plan in warp_partition(problem, &atom, limit, context.target) {
            for plan in ordered(&plan, context.target)? {
                if own.iter().chain([best]).any(|known| has_places_of(known, &plan)) {
                    continue;
                }
                match found.iter_mut().find(|(_, known)| has_places_of(known, &plan)) {
                    Some((price, known)) if plan.warp_issue_cycles() < known.warp_issue_cycles() => {
                        *price += plan.warp_issue_cycles() - known.warp_issue_cycles();
                        *known = plan;
                    }
                    Some(_) => {}
                    None => {
                        let loads = operand_load_price(&plan, &mut fed, context)?;
                        found.push((plan.warp_issue_cycles() + loads, plan));
                    }
                }
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    // The quickest plan of each warp partition comes first: the program around the dot may compute replicas of
    // operands.
    let mut partitions = Vec::new();
    let is_later = |(_, plan): &(f64, MmaPlan)| {
        let own = (plan.warp_partition(), plan.is_transposed());
        let is_known = partitions.contains(&own);
        partitions.push(own);
        is_known
    };
    found.sort_by_cached_key(is_later);
    found.truncate(most);
    Ok(own.iter().chain(found.iter().map(|(_, plan)| plan)).map(MmaPlan::to_explicit_problem).collect())
}

/// Whether both plans give every lane the same elements of both operands and of the result, in any order of registers:
/// then only the instructions differ.
fn has_places_of(one: &MmaPlan, other: &MmaPlan) -> bool {
    let sorted = |layout: &LinearLayout| {
        let mut columns = layout.columns_of(Dim::REGISTER).to_vec();
        columns.sort_unstable();
        columns
    };
    let same = |one: &LinearLayout, other: &LinearLayout| {
        let is_equal = |dim| one.columns_of(dim) == other.columns_of(dim);
        one.outs() == other.outs() && is_equal(Dim::LANE) && is_equal(Dim::WARP) && sorted(one) == sorted(other)
    };
    same(&one.a, &other.a) && same(&one.b, &other.b) && same(&one.c, &other.c)
}

/// Returns the cycles that a warp takes for the loads of both operands of a plan. `fed` caches the cycles for each
/// layout of A (index 0) and of B (1), since many plans share layouts.
fn operand_load_price(
    plan: &MmaPlan,
    fed: &mut [Vec<(LinearLayout, f64)>; 2],
    context: PlanContext<'_>,
) -> Result<f64, MmaError> {
    let mut price = 0.0;
    for (side, (layout, known)) in [&plan.a, &plan.b].into_iter().zip(fed).enumerate() {
        price += match known.iter().find(|(known, _)| known == layout) {
            Some((_, known)) => *known,
            None => {
                let found = plan.operand_load_price_of(side, context)?;
                known.push((layout.clone(), found));
                found
            }
        };
    }
    Ok(price)
}

/// Returns the atoms that take both operands from registers and leave the accumulator there, each also with A and B
/// swapped.
fn atoms(problem: &MmaProblem, context: PlanContext<'_>) -> Vec<MmaAtom> {
    let mut table = TensorMemoryMoveTable::new(context.instructions, context.target);
    let (mut types, mut found) = (TypeChecks::default(), Vec::new());
    for row in context.instructions {
        let atoms = types.check(row, problem);
        let Ok(atoms) = atoms.and_then(|()| MmaAtom::of_row(row, problem, context.target, &mut table)) else {
            continue;
        };
        found.extend(atoms.into_iter().take(1).flat_map(|atom| atom.swap_ab().into_iter().chain([atom])));
    }
    found.extend(
        (0..=problem.lanes.trailing_zeros()).map(|rows| MmaAtom::of_multiply_adds(problem, rows, context.target)),
    );
    found.retain(|atom| !atom.reads_memory() && atom.tensor.is_none() && atom.check(problem).is_ok());
    found
}

/// Returns the plans of an atom whose MMAs and casts take at most `limit` cycles: one for each warp partition and each
/// number of consecutive columns of the result in a lane (`n_width`).
fn warp_partition(problem: &MmaProblem, atom: &MmaAtom, limit: f64, target: &TargetDescription) -> Vec<MmaPlan> {
    let (k, warps) = (problem.bits()[2], problem.warps.trailing_zeros().saturating_sub(atom.group));
    let widest = target.global.access_bits.iter().copied().max().unwrap_or(8);
    let mut plans = Vec::new();
    for rows in (0..=warps).rev() {
        let tiling = Tiling::new(atom, problem, [rows, warps - rows], k);
        let issues = tiling.repeats().iter().sum::<u32>();
        let warps_per_pipe = problem.warps.div_ceil(atom.pipes);
        if f64::from(issues).exp2() * atom.cycles * f64::from(warps_per_pipe) > limit {
            continue;
        }
        let columns = (0..=tiling.repeats()[1]).filter(|beside| problem.b.stored_bits() << beside <= widest);
        for beside in columns {
            let n_width = (beside > 0 && atom.scales.is_none()).then_some(1 << beside);
            let requested = MmaProblem { n_width, ..problem.clone() };
            plans.extend(MmaPlan::new(&requested, atom, [rows, warps - rows], target));
        }
    }
    plans.retain(|plan| plan.cost.issue_cycles + plan.cost.cast_cycles <= limit);
    plans
}

/// Returns variants of a plan with other orders of K: one for each number of consecutive elements of K in a lane that
/// one access can load.
fn ordered(plan: &MmaPlan, target: &TargetDescription) -> Result<Vec<MmaPlan>, MmaError> {
    let widest = target.global.access_bits.iter().copied().max().unwrap_or(8);
    let narrow = plan.problem.a.bits().min(plan.problem.b.bits());
    let widths =
        plan.widths().into_iter().enumerate().filter(|&(index, width)| index == 0 || narrow << width <= widest);
    widths.map(|(_, width)| plan.with_width(width, target)).collect()
}

impl MmaPlan {
    /// Returns the problem that only this plan solves: the problem of this plan with its atom, warp partition and
    /// `k_width` fixed.
    #[must_use]
    pub fn to_explicit_problem(&self) -> MmaProblem {
        let lanes = self.atom.row.is_none().then(|| self.atom.lanes_along_rows());
        let warp_partition = Some(WarpPartition { swap_ab: self.is_transposed(), warps: self.warp_partition(), lanes });
        let counts_k = self.atom.scales.is_some() || self.atom.reads_memory();
        let k_width = (!counts_k).then(|| self.k_width());
        MmaProblem { atom: Some(self.atom_name().to_owned()), warp_partition, k_width, ..self.problem.clone() }
    }

    /// Returns the cycles of a compute unit that one warp's MMAs and casts take: on the matrix pipes, in issue slots,
    /// and for casts. It is the block's cycles divided by its number of warps.
    #[must_use]
    pub fn warp_issue_cycles(&self) -> f64 {
        let MmaCost { issue_cycles, slot_cycles, cast_cycles, .. } = self.cost;
        (issue_cycles + slot_cycles + cast_cycles) / f64::from(self.problem.warps)
    }
}

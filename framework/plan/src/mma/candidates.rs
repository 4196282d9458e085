//! Candidate plans of a dot, for layout assignment and for the search of explicit-memory programs to choose between.
//!
//! [`super::plan_mma`] ranks plans for operands that lie densely in global memory or that a known MMA produced. In a
//! program, operands may also come from masked loads, other computations or shared memory, and other plans may be
//! better there. This module lists them, each as a problem that only this plan solves, and callers predict the time of
//! the program with each. A [`CandidateSpace`] states which choices are open; one rule ([`is_beaten`]) drops candidates
//! that no program can prefer.

use crate::movement::{PlanContext, RejectedCandidate};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{CanonicalLayoutStride, Instruction, InstructionOperand, MemoryOperand, TargetDescription};

use super::choose::{instruction_atoms, multiply_add_atoms, weigh};
use super::mma_atom::MmaAtom;
use super::plan::MmaPlan;
use super::tiling::Tiling;
use super::{MmaCost, MmaError, MmaProblem, WarpPartition, plan_mma};
use crate::constraint::InstructionOperandLayouts;

/// Max ratio of a candidate's cycles to those of a faster one, if it is a candidate only because its lanes hold other
/// elements.
const MOST_CYCLES: f64 = 2.0;

/// The choices that are open for a dot.
#[derive(Debug, Clone, PartialEq)]
pub enum CandidateSpace<'p> {
    /// The layouts of operands and accumulator, all in registers: the plan `best` with each other order of K, then at
    /// most `most` plans of other layouts (instructions, orientations, warp partitions, `n_width` and orders of K).
    RegisterLayouts {
        /// The plan that is best alone; it is no candidate itself.
        best: &'p MmaPlan,
        /// Max number of plans of other layouts.
        most: usize,
    },
    /// The instruction and the numbers of adjacent elements in a lane; operands are read from where the problem has
    /// them.
    Instructions {
        /// Numbers of adjacent elements of K in a lane (`k_width`).
        k_widths: Vec<u64>,
        /// Whether an instruction to which none of `k_widths` applies is planned in its own order of K.
        any_k_width: bool,
        /// Numbers of adjacent columns in a lane (`n_width`); the first one decides which instructions are possible.
        n_widths: Vec<Option<u64>>,
        /// Whether each candidate has a variant in which warps keep whole rows ([`MmaProblem::chained`]), which comes
        /// before all others.
        keeps_rows: bool,
        /// Whether each candidate has a variant with each other warp partition, after all others.
        partitions: bool,
    },
}

/// A candidate plan of a dot.
#[derive(Debug, Clone, PartialEq)]
pub struct DotCandidate {
    /// The problem that only this plan solves.
    pub problem: MmaProblem,
    /// The cost of the plan.
    pub cost: MmaCost,
    /// For operands A and B, whether the MMA reads the operand from shared memory.
    pub smem_operands: [bool; 2],
    /// The warp partition of the plan.
    pub warp_partition: WarpPartition,
}

/// The candidate plans of a dot, the most promising first, and the rejected atoms with the reasons.
pub type DotCandidates = (Vec<DotCandidate>, Vec<RejectedCandidate<String>>);

/// Returns the candidate plans of a dot within `space`, and the rejected atoms with the reasons. The list may be empty.
///
/// # Errors
/// [`MmaError::Movement`] if an operand load has no plan; [`MmaError::Layout`] if an atom's layouts cannot be composed;
/// otherwise as [`super::mma_candidates`].
pub fn dot_candidates(
    problem: &MmaProblem,
    space: &CandidateSpace<'_>,
    context: PlanContext<'_>,
) -> Result<DotCandidates, MmaError> {
    match space {
        CandidateSpace::RegisterLayouts { best, most } => register_layouts(problem, best, *most, context),
        CandidateSpace::Instructions { k_widths, any_k_width, n_widths, keeps_rows, partitions } => {
            let widths = (&k_widths[..], *any_k_width);
            let (mut found, rejected) = instructions(problem, widths, n_widths, *keeps_rows, context)?;
            if *partitions {
                found.extend(with_other_partitions(&found, context));
            }
            Ok((found, rejected))
        }
    }
}

/// The properties of a candidate that decide which loads and stores serve it.
#[derive(PartialEq)]
struct Served<'m> {
    /// The role (`a` or `b`) of each operand that it reads from shared memory, and the axis along which the operand is
    /// contiguous.
    in_shared: Vec<(&'m str, Option<usize>)>,
    /// The elements that lanes and warps hold, for each operand in registers; empty if any loads serve.
    lane_elements: Vec<Vec<Vec<u64>>>,
}

/// Whether a candidate is worse than another: it costs as much or more, and the same loads and stores serve it, or it
/// costs more than [`MOST_CYCLES`] times as much.
fn is_beaten((cost, served): (&MmaCost, &Served<'_>), (other, others): (&MmaCost, &Served<'_>)) -> bool {
    let is_alike = || served.lane_elements.is_empty() || served.lane_elements == others.lane_elements;
    let is_slow = cost.cycles() > MOST_CYCLES * other.cycles();
    other.cycles() <= cost.cycles()
        && other.issues <= cost.issues
        && served.in_shared == others.in_shared
        && (is_slow || is_alike())
}

impl<'m> Served<'m> {
    /// Returns the properties of the instruction `name`; plain multiply-adds are served by any loads.
    fn of_instruction(name: &str, context: PlanContext<'m>) -> Self {
        let row = context.instructions.iter().find(|row| row.name == name);
        let (mut in_shared, mut lane_elements) = (Vec::new(), Vec::new());
        for operand in row.into_iter().flat_map(|row| &row.operands) {
            match operand {
                InstructionOperand::Memory(memory) => in_shared.push((memory.role.as_str(), contiguous_axis(memory))),
                InstructionOperand::Register { layout, .. } if layout.ins().contains(Dim::LANE) => {
                    lane_elements.push(layout.bases_of(Dim::LANE));
                }
                _ => {}
            }
        }
        Self { in_shared, lane_elements }
    }

    /// Returns the properties of a plan with all operands in registers: the elements of every lane, in any order of
    /// registers.
    fn of_plan(plan: &MmaPlan) -> Self {
        let elements = |layout: &LinearLayout| {
            let mut registers = layout.columns_of(Dim::REGISTER).to_vec();
            registers.sort_unstable();
            vec![registers, layout.columns_of(Dim::LANE).to_vec(), layout.columns_of(Dim::WARP).to_vec()]
        };
        Self { in_shared: Vec::new(), lane_elements: [&plan.a, &plan.b, &plan.c].map(elements).to_vec() }
    }
}

/// Returns the axis along which an operand in shared memory is contiguous.
fn contiguous_axis(memory: &MemoryOperand) -> Option<usize> {
    let beside = CanonicalLayoutStride::Bytes(u64::from(memory.bits / 8));
    let first = memory.layouts.first()?;
    first.axes.iter().position(|steps| steps.first().is_some_and(|step| step.stride == beside))
}

/// Returns the candidates of [`CandidateSpace::Instructions`]. The order is: whole rows, `n_width`, instruction,
/// `k_width`.
fn instructions(
    problem: &MmaProblem,
    k_widths: (&[u64], bool),
    n_widths: &[Option<u64>],
    keeps_rows: bool,
    context: PlanContext<'_>,
) -> Result<DotCandidates, MmaError> {
    let first = problem.clone().with_n_width(n_widths.first().copied().flatten());
    let chained = |problem: MmaProblem| problem.with_chained(true).with_in_chain(true);
    // The instruction that is fastest for chained dots is kept, even if others are faster for a single dot.
    let in_chain = if keeps_rows { weigh(&chained(first.clone()), context)?.0 } else { Vec::new() };
    let (weighed, mut rejected) = weigh(problem, context)?;
    let kept = in_chain.first().map(MmaPlan::atom_name);
    let mut found = unbeaten(&first, &weighed, kept, k_widths, &mut rejected, context);
    let alone = found.len();
    for &n_width in n_widths.iter().skip(1) {
        let with_columns =
            |known: &DotCandidate| plan_pinned(known.problem.clone().with_n_width(n_width), context).ok();
        let more: Vec<DotCandidate> = found[..alone].iter().filter_map(with_columns).collect();
        found.extend(more);
    }
    if keeps_rows {
        let keep_rows = |free: &DotCandidate| {
            let problem = chained(free.problem.clone());
            // If warps cannot keep whole rows, the warp partition is chosen freely, which costs the same.
            plan_pinned(problem.clone(), context).unwrap_or(DotCandidate { problem, ..free.clone() })
        };
        let rows: Vec<DotCandidate> = found.iter().map(keep_rows).collect();
        found.splice(0..0, rows);
    }
    Ok((found, rejected))
}

/// Returns the candidates of each instruction in `weighed` that no other beats, the best first, and of the instruction
/// `kept`; adds the others to `rejected`.
fn unbeaten(
    problem: &MmaProblem,
    weighed: &[MmaPlan],
    kept: Option<&str>,
    k_widths: (&[u64], bool),
    rejected: &mut Vec<RejectedCandidate<String>>,
    context: PlanContext<'_>,
) -> Vec<DotCandidate> {
    let mut found: Vec<DotCandidate> = Vec::new();
    let mut known: Vec<(MmaCost, Served<'_>)> = Vec::new();
    for plan in weighed {
        let name = plan.atom_name();
        if found.iter().any(|candidate| candidate.problem.atom.as_deref() == Some(name)) {
            continue;
        }
        // An instruction with a higher cost is kept if it reads other operands from shared memory, or if its lanes hold
        // other elements, which other loads and stores serve.
        let served = Served::of_instruction(name, context);
        let beaten = known.iter().any(|(cost, others)| is_beaten((&plan.cost, &served), (cost, others)));
        let candidates = match beaten && kept != Some(name) {
            true => Err("another instruction is as fast, and the same loads and stores serve it".to_owned()),
            false => of_each_k_width(&problem.clone().with_atom(name.to_owned()), k_widths, context),
        };
        match candidates {
            Ok(candidates) if candidates.is_empty() => {}
            Ok(candidates) => {
                known.push((plan.cost, served));
                found.extend(candidates);
            }
            Err(reason) => rejected.push(RejectedCandidate { candidate: name.to_owned(), reason }),
        }
    }
    found
}

/// Returns the candidates of a problem that names its atom: one for each possible `k_width`. If none is possible,
/// because the instruction distributes K over lanes, or if both operands are in shared memory, the only candidate is
/// planned without a `k_width`.
fn of_each_k_width(
    problem: &MmaProblem,
    (widths, any): (&[u64], bool),
    context: PlanContext<'_>,
) -> Result<Vec<DotCandidate>, String> {
    let any_width = plan_pinned(problem.clone(), context);
    if any_width.as_ref().is_ok_and(|candidate| candidate.smem_operands == [true; 2]) {
        return any_width.map(|candidate| vec![candidate]);
    }
    let planned = |&width: &u64| plan_pinned(problem.clone().with_k_width(width), context).ok();
    let found: Vec<DotCandidate> = widths.iter().filter_map(planned).collect();
    match any_width {
        Ok(candidate) if found.is_empty() && any => Ok(vec![candidate]),
        Err(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

/// Plans a problem that names its atom.
///
/// # Errors
/// The reason if there is no plan, if the instruction's accumulator is not in registers, or if the instruction cannot
/// read an operand as it is stored in shared memory.
fn plan_pinned(problem: MmaProblem, context: PlanContext<'_>) -> Result<DotCandidate, String> {
    let named = |row: &&Instruction| problem.atom.as_ref() == Some(&row.name);
    if let Some(row) = context.instructions.iter().find(named) {
        InstructionOperandLayouts::from_instruction(row).map_err(|error| error.to_string())?;
    }
    let plan = plan_mma(&problem, context).map_err(|error| error.to_string())?;
    let smem_operands = [&plan.a, &plan.b].map(|operand| operand.ins().contains(Dim::OFFSET));
    for side in (0..2).filter(|&side| smem_operands[side]) {
        plan.check_operand_in_shared(side).map_err(|error| error.to_string())?;
    }
    Ok(DotCandidate { warp_partition: plan.own_partition(), problem, cost: plan.cost, smem_operands })
}

/// Returns the variants of MMA candidates with each warp partition that no candidate of the same instruction and lanes
/// has, with A and B swapped or not.
fn with_other_partitions(candidates: &[DotCandidate], context: PlanContext<'_>) -> Vec<DotCandidate> {
    let has_lanes_of = |one: &MmaProblem, other: &MmaProblem| {
        (&one.atom, one.k_width, one.n_width) == (&other.atom, other.k_width, other.n_width)
    };
    let mut found: Vec<DotCandidate> = Vec::new();
    for of in candidates.iter().filter(|of| of.warp_partition.lanes.is_none()) {
        let bits = 0..=of.problem.warps.trailing_zeros();
        let splits = bits.map(|along_n| [u64::from(of.problem.warps >> along_n), 1 << along_n]);
        for (warps, swap_ab) in splits.flat_map(|warps| [(warps, false), (warps, true)]) {
            let partition = WarpPartition { swap_ab, warps, lanes: None };
            let is_known =
                |other: &DotCandidate| other.warp_partition == partition && has_lanes_of(&other.problem, &of.problem);
            if !candidates.iter().chain(&found).any(is_known) {
                let problem = of.problem.clone().with_chained(false).with_warp_partition(Some(partition));
                found.extend(plan_pinned(problem, context).ok());
            }
        }
    }
    found
}

/// Returns the candidates of [`CandidateSpace::RegisterLayouts`]: first `best` with each other order of K, then the
/// others by the predicted time of MMAs and operand loads, but the quickest plan of each warp partition comes before
/// all others.
fn register_layouts(
    problem: &MmaProblem,
    best: &MmaPlan,
    most: usize,
    context: PlanContext<'_>,
) -> Result<DotCandidates, MmaError> {
    let (atoms, rejected) = register_atoms(problem, context);
    let own: Vec<MmaPlan> = best.in_each_order(context.target)?;
    let own: Vec<MmaPlan> = own.into_iter().filter(|plan| Served::of_plan(plan) != Served::of_plan(best)).collect();
    let known: Vec<Served<'_>> = own.iter().chain([best]).map(Served::of_plan).collect();
    let mut found: Vec<(Served<'_>, MmaPlan)> = Vec::new();
    for atom in &atoms {
        for partition in of_each_partition(problem, atom, best.cost.cycles() * MOST_CYCLES, context.target) {
            for plan in partition.in_each_order(context.target)? {
                let served = Served::of_plan(&plan);
                let beats =
                    |(other, others): &(Served<'_>, MmaPlan)| is_beaten((&plan.cost, &served), (&others.cost, other));
                if known.contains(&served) || found.iter().any(beats) {
                    continue;
                }
                found.retain(|(other, others)| !is_beaten((&others.cost, other), (&plan.cost, &served)));
                found.push((served, plan));
            }
        }
    }
    let found = cheapest_of_each_partition(found.into_iter().map(|(_, plan)| plan), context)?;
    let candidate = |plan: &MmaPlan| DotCandidate {
        problem: plan.to_explicit_problem(),
        cost: plan.cost,
        smem_operands: [false; 2],
        warp_partition: plan.own_partition(),
    };
    Ok((own.iter().chain(found.iter().take(most)).map(candidate).collect(), rejected))
}

/// Sorts plans by the predicted time of MMAs and operand loads. The quickest plan of each warp partition comes before
/// all others, because the program around the dot may compute replicas of operands.
fn cheapest_of_each_partition(
    plans: impl Iterator<Item = MmaPlan>,
    context: PlanContext<'_>,
) -> Result<Vec<MmaPlan>, MmaError> {
    let mut loads = [Vec::new(), Vec::new()];
    let mut found = Vec::new();
    for plan in plans {
        found.push((plan.warp_issue_cycles() + operand_load_price(&plan, &mut loads, context)?, plan));
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut partitions = Vec::new();
    let is_later = |(_, plan): &(f64, MmaPlan)| {
        let own = (plan.warp_partition(), plan.is_transposed());
        let is_known = partitions.contains(&own);
        partitions.push(own);
        is_known
    };
    found.sort_by_cached_key(is_later);
    Ok(found.into_iter().map(|(_, plan)| plan).collect())
}

/// Returns the cycles that a warp takes for the loads of both operands of a plan. `known` caches the cycles for each
/// layout of A (index 0) and of B (1), since many plans share layouts.
fn operand_load_price(
    plan: &MmaPlan,
    known: &mut [Vec<(LinearLayout, f64)>; 2],
    context: PlanContext<'_>,
) -> Result<f64, MmaError> {
    let mut price = 0.0;
    for (side, (layout, known)) in [&plan.a, &plan.b].into_iter().zip(known).enumerate() {
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
/// swapped, and the rejected ones with the reasons.
fn register_atoms(problem: &MmaProblem, context: PlanContext<'_>) -> (Vec<MmaAtom>, Vec<RejectedCandidate<String>>) {
    let (mut found, mut rejected) = (Vec::new(), Vec::new());
    let check = |atom: &MmaAtom| match atom.reads_memory() || atom.tensor.is_some() {
        true => Err("its operands or its accumulator are not in registers".to_owned()),
        false => atom.check(problem),
    };
    for (name, atoms) in instruction_atoms(problem, context) {
        let candidate = name.to_owned();
        match atoms.and_then(|atoms| atoms.first().map_or(Ok(()), check).map(|()| atoms)) {
            Ok(atoms) => found.extend(atoms.into_iter().filter(|atom| check(atom).is_ok())),
            Err(reason) => rejected.push(RejectedCandidate { candidate, reason }),
        }
    }
    found.extend(multiply_add_atoms(problem, context.target).filter(|atom| check(atom).is_ok()));
    (found, rejected)
}

/// Returns the plans of an atom whose MMAs and casts take at most `limit` cycles: one for each warp partition and each
/// number of consecutive columns of the result in a lane (`n_width`).
fn of_each_partition(problem: &MmaProblem, atom: &MmaAtom, limit: f64, target: &TargetDescription) -> Vec<MmaPlan> {
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

impl MmaPlan {
    /// Returns variants of the plan with each order of K: one for each number of consecutive elements of K in a lane
    /// that one access can load, the atom's own order first.
    pub(super) fn in_each_order(&self, target: &TargetDescription) -> Result<Vec<Self>, MmaError> {
        let widest = target.global.access_bits.iter().copied().max().unwrap_or(8);
        let narrow = self.problem.a.bits().min(self.problem.b.bits());
        let widths = self.widths().into_iter().enumerate();
        let widths = widths.filter(|&(index, width)| index == 0 || narrow << width <= widest);
        widths.map(|(_, width)| self.with_width(width, target)).collect()
    }

    /// Returns the partition of the result over warps and lanes.
    fn own_partition(&self) -> WarpPartition {
        let lanes = self.atom.row.is_none().then(|| self.atom.lanes_along_rows());
        WarpPartition { swap_ab: self.is_transposed(), warps: self.warp_partition(), lanes }
    }

    /// Returns the problem that only this plan solves: the problem of this plan with its atom, warp partition and
    /// `k_width` fixed.
    #[must_use]
    pub fn to_explicit_problem(&self) -> MmaProblem {
        let warp_partition = Some(self.own_partition());
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

//! The search: depth-first branch and bound over the choices of one alternative for each access, in the order of their
//! lower bounds.

use super::leaf::{Chosen, Problem};
use super::{
    AccessConstraint, FreeStrideLayout, MemorySynthesisError, SharedLayoutSolution, SharedTensor, TensorAccess,
};
use crate::movement::{PlanContext, SharedLayoutKind, SharedLayoutSearchOptions};
use tilewright_layout::cute::{ComposedLayout, to_memory};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};

/// The limits of a search for a shared-memory layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLayoutSearchLimits {
    /// The allowed kinds of swizzles; [`SharedLayoutKind::Plain`] is no swizzle.
    pub kinds: Vec<SharedLayoutKind>,
    /// Max number of memory layouts (swizzles) that are compared for one choice of an alternative for each access.
    pub budget: u64,
    /// Max number of leaves of the search tree: complete choices of an alternative for each access, each followed by a
    /// search for a swizzle.
    pub leaves: usize,
    /// Max number of nodes of the search tree: partial choices of alternatives that are visited.
    pub nodes: usize,
}

impl Default for SharedLayoutSearchLimits {
    fn default() -> Self {
        Self { kinds: Problem::KINDS.to_vec(), budget: 1 << 11, leaves: 32, nodes: 1 << 12 }
    }
}

/// Finds the cheapest layout of a tensor in shared memory that serves all accesses.
///
/// # Errors
/// [`MemorySynthesisError::Disagree`] or [`MemorySynthesisError::DisagreeTogether`] if no layout serves all accesses;
/// [`MemorySynthesisError::NoAlternative`] if an access has no possible alternative in any layout; another variant if
/// the tensor, its explicit layout or an access is invalid.
pub fn solve_shared_layout(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'_>],
    context: &PlanContext<'_>,
) -> Result<SharedLayoutSolution, MemorySynthesisError> {
    solve_shared_layout_with_search_limits(tensor, accesses, context, &SharedLayoutSearchLimits::default())
}

/// As [`solve_shared_layout`], with explicit search limits.
///
/// # Errors
/// As [`solve_shared_layout`].
pub fn solve_shared_layout_with_search_limits<'a>(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'a>],
    context: &PlanContext<'a>,
    options: &SharedLayoutSearchLimits,
) -> Result<SharedLayoutSolution, MemorySynthesisError> {
    let problem = checked(tensor, accesses, context, options)?;
    let (fixed, reasons) = problem.fixed()?;
    let alternatives = match problem.alternatives() {
        Ok(alternatives) => alternatives,
        // An access may have only alternatives for which the hardware fixes the layout.
        Err(MemorySynthesisError::NoAlternative { access, reasons: own }) => {
            let all = reasons.into_iter().chain([own]).collect::<Vec<_>>().join("; ");
            return fixed.ok_or(MemorySynthesisError::NoAlternative { access, reasons: all });
        }
        Err(error) => return Err(error),
    };
    let mut search = Search {
        problem: &problem,
        alternatives: &alternatives,
        best: fixed,
        nodes: 0,
        leaves: 0,
        options,
        refused: None,
    };
    search.visit(&mut Vec::new(), problem.given.clone(), 0.0);
    let (nodes, leaves) = (search.nodes, search.leaves);
    match (search.best, search.refused) {
        (Some(best), _) => Ok(SharedLayoutSolution { nodes, leaves, ..best }),
        (None, Some(error)) => Err(error),
        (None, None) => Err(problem.disagreement(&alternatives)),
    }
}

/// Serves all accesses of a tensor in the given memory layout `memory`, each by the alternative that is cheapest there.
///
/// # Errors
/// [`MemorySynthesisError::Given`] if an access has no possible alternative in `memory`; it names the access. Another
/// variant if the tensor or an access is invalid.
pub fn choose_accesses_for_layout(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'_>],
    memory: &MemoryLayout,
    context: &PlanContext<'_>,
) -> Result<SharedLayoutSolution, MemorySynthesisError> {
    let problem = checked(tensor, accesses, context, &SharedLayoutSearchLimits::default())?;
    let wrong =
        |reason| MemorySynthesisError::Given { layout: format!("{:?}", memory.linear.bases_of(Dim::OFFSET)), reason };
    problem.in_fixed(None, memory).map_err(wrong)
}

fn checked<'q, 'a>(
    tensor: &'q SharedTensor,
    accesses: &'q [TensorAccess<'a>],
    context: &PlanContext<'a>,
    options: &SharedLayoutSearchLimits,
) -> Result<Problem<'q, 'a>, MemorySynthesisError> {
    if !tensor.bits.is_power_of_two() || tensor.bits > 128 {
        return Err(MemorySynthesisError::Bits(tensor.bits));
    }
    let odd = tensor.shape.iter().enumerate().find(|(_, size)| !size.is_power_of_two());
    if let Some((axis, &size)) = odd {
        return Err(MemorySynthesisError::Shape { axis, size });
    }
    let axes: Vec<u32> = tensor.shape.iter().map(|size| size.ilog2()).collect();
    let layouts = accesses.iter().map(|access| in_order(access, &axes)).collect::<Result<Vec<_>, _>>()?;
    let constraints = SharedLayoutSearchOptions {
        kinds: options.kinds.clone(),
        budget: options.budget,
        ..SharedLayoutSearchOptions::default()
    };
    Ok(Problem { tensor, layouts, accesses, context: *context, given: given(tensor)?, constraints, axes })
}

/// Returns the register layout of an access with its axes in the tensor's order; `None` if no lane accesses the tensor.
fn in_order(access: &TensorAccess<'_>, axes: &[u32]) -> Result<Option<LinearLayout>, MemorySynthesisError> {
    let Some(layout) = &access.layout else { return Ok(None) };
    let wrong = |reason: String| MemorySynthesisError::Access { access: access.name.clone(), reason };
    let dims: Vec<Dim> = (0..axes.len()).map(Dim::tensor).collect();
    if layout.outs().len() != dims.len() || dims.iter().any(|dim| !layout.outs().contains(*dim)) {
        return Err(wrong(format!("its layout has {} axes, the tensor {}", layout.outs().len(), dims.len())));
    }
    let layout = layout.transpose_outs(&dims)?;
    if let Some((dim, bits)) = layout.outs().iter().zip(axes).find(|((_, own), bits)| own != *bits).map(|(own, _)| own)
    {
        return Err(wrong(format!("its layout has {} elements along {dim}, the tensor has others", 1u64 << bits)));
    }
    Ok(Some(layout))
}

/// Returns the stride term of the layout that the program states; `None` if the program states none.
fn given(tensor: &SharedTensor) -> Result<Option<FreeStrideLayout>, MemorySynthesisError> {
    let Some(layout) = &tensor.layout else { return Ok(None) };
    let wrong = |reason: String| MemorySynthesisError::Given { layout: layout.to_string(), reason };
    let elements: u64 = tensor.shape.iter().product();
    if layout.cosize() > elements {
        let reason = format!(
            "its offsets reach {}, and the tensor has {elements} elements: shared memory has no padding; state strides \
             without gaps, or no layout: swizzles avoid bank conflicts",
            layout.cosize() - 1
        );
        return Err(wrong(reason));
    }
    let memory = to_memory(&ComposedLayout::new(Vec::new(), 0, layout.clone())?, &tensor.shape);
    let memory = memory.map_err(|error| wrong(error.to_string()))?;
    let term = FreeStrideLayout::of_memory(&memory.linear);
    term.map(Some).ok_or_else(|| wrong("each bit of an offset must be one bit of a coordinate".to_owned()))
}

/// One alternative of an access, with its stride term (the memory layout that it requires, with free strides) and a
/// lower bound of its price in weighted wavefronts.
struct Candidate {
    alternative: usize,
    term: FreeStrideLayout,
    lower_bound: f64,
}

impl<'q> Problem<'q, '_> {
    /// Returns for each access its possible alternatives, sorted by the lower bound of their prices. An error if an
    /// access has no possible alternative.
    fn alternatives(&self) -> Result<Vec<Vec<Candidate>>, MemorySynthesisError> {
        (0..self.accesses.len()).map(|access| self.find_alternatives(access)).collect()
    }

    fn find_alternatives(&self, access: usize) -> Result<Vec<Candidate>, MemorySynthesisError> {
        let (mut all, mut reasons) = (Vec::new(), Vec::new());
        for (index, alternative) in self.accesses[access].alternatives.iter().enumerate() {
            match self.candidate(access, index) {
                Ok(candidate) => all.push(candidate),
                Err(reason) => reasons.push(format!("{alternative}: {reason}")),
            }
        }
        if all.is_empty() {
            let access = self.accesses[access].name.clone();
            return Err(MemorySynthesisError::NoAlternative { access, reasons: reasons.join("; ") });
        }
        let bytes = |one: &Candidate| self.accesses[access].alternatives[one.alternative].bytes();
        all.sort_by(|a, b| a.lower_bound.total_cmp(&b.lower_bound).then(bytes(b).cmp(&bytes(a))));
        Ok(all)
    }

    fn candidate(&self, access: usize, alternative: usize) -> Result<Candidate, String> {
        let lanes = self.lanes(access, alternative).ok_or("its layouts do not fit all accesses")?;
        let layout = self.layouts[access].as_ref().ok_or("its register layout is unknown")?;
        let term = FreeStrideLayout::from_access(layout, lanes, self.tensor.bits).map_err(|error| error.to_string())?;
        let chosen = self
            .chosen(access, &Candidate { alternative, term, lower_bound: 0.0 })
            .ok_or("its lanes provide no addresses")?;
        let (_, lower_bound) = self.lower_bound(&chosen).map_err(|error| error.to_string())?;
        Ok(Candidate { alternative, term: chosen.term, lower_bound })
    }

    fn chosen(&self, access: usize, candidate: &Candidate) -> Option<Chosen<'q>> {
        let lanes = self.lanes(access, candidate.alternative)?;
        Some(Chosen { access, alternative: candidate.alternative, lanes, term: candidate.term.clone() })
    }

    /// Builds the error that no choice of alternatives has a common layout. It names two accesses whose required
    /// layouts (terms) contradict each other for all their alternatives, or all accesses if any two of them agree.
    fn disagreement(&self, alternatives: &[Vec<Candidate>]) -> MemorySynthesisError {
        let requested = |access: usize, one: &Candidate| AccessConstraint {
            access: self.accesses[access].name.clone(),
            alternative: self.accesses[access].alternatives[one.alternative].to_string(),
            term: one.term.to_string(),
        };
        let differ = |first: AccessConstraint, second: AccessConstraint, a: &FreeStrideLayout, b: &FreeStrideLayout| {
            let bit = a.unify(b).err()?.bit;
            let (first, second) = (Box::new(first), Box::new(second));
            Some(MemorySynthesisError::Disagree { first, second, bit, wants: a.choice(bit), has: b.choice(bit) })
        };
        if let Some(given) = &self.given {
            for (access, own) in alternatives.iter().enumerate() {
                if own.iter().all(|one| given.unify(&one.term).is_err()) {
                    let program = AccessConstraint {
                        access: "the program".to_owned(),
                        alternative: "its explicit layout".to_owned(),
                        term: given.to_string(),
                    };
                    if let Some(found) = differ(program, requested(access, &own[0]), given, &own[0].term) {
                        return found;
                    }
                }
            }
        }
        for (second, others) in alternatives.iter().enumerate() {
            for (first, own) in alternatives[..second].iter().enumerate() {
                if own.iter().all(|a| others.iter().all(|b| a.term.unify(&b.term).is_err())) {
                    let (a, b) = (&own[0], &others[0]);
                    if let Some(found) = differ(requested(first, a), requested(second, b), &a.term, &b.term) {
                        return found;
                    }
                }
            }
        }
        let names: Vec<String> = self.accesses.iter().map(|access| format!("`{}`", access.name)).collect();
        MemorySynthesisError::DisagreeTogether { accesses: names.join(", ") }
    }
}

struct Search<'s, 'q, 'a> {
    problem: &'s Problem<'q, 'a>,
    alternatives: &'s [Vec<Candidate>],
    options: &'s SharedLayoutSearchLimits,
    best: Option<SharedLayoutSolution>,
    /// The error of the last complete choice of alternatives for which no swizzle was found although their terms agree;
    /// `None` if there was no such choice.
    refused: Option<MemorySynthesisError>,
    nodes: usize,
    leaves: usize,
}

impl<'q> Search<'_, 'q, '_> {
    /// Visits a partial choice and all its continuations: `chosen` has an alternative for each of the first accesses.
    /// `lower_bound` is the lower bound of their price, `term` the layout with free strides that all of them require;
    /// `None` if nothing is required yet.
    fn visit(&mut self, chosen: &mut Vec<Chosen<'q>>, term: Option<FreeStrideLayout>, lower_bound: f64) {
        let at = chosen.len();
        let rest: f64 = self.alternatives[at..]
            .iter()
            .map(|alternatives| alternatives.first().map_or(0.0, |one| one.lower_bound))
            .sum();
        let beaten =
            |best: &Option<SharedLayoutSolution>| best.as_ref().is_some_and(|best| best.price <= lower_bound + rest);
        if beaten(&self.best) || self.nodes >= self.options.nodes || self.leaves >= self.options.leaves {
            return;
        }
        self.nodes += 1;
        let Some(alternatives) = self.alternatives.get(at) else {
            if let Some(term) = term {
                self.weigh(chosen, &term);
            }
            return;
        };
        for candidate in alternatives {
            let both = match &term {
                Some(term) => term.unify(&candidate.term),
                None => Ok(candidate.term.clone()),
            };
            let (Ok(both), Some(one)) = (both, self.problem.chosen(at, candidate)) else { continue };
            chosen.push(one);
            self.visit(chosen, Some(both), lower_bound + candidate.lower_bound);
            chosen.pop();
        }
    }

    fn weigh(&mut self, chosen: &[Chosen<'q>], term: &FreeStrideLayout) {
        self.leaves += 1;
        match self.problem.weigh(chosen, term) {
            Ok(found) if self.best.as_ref().is_none_or(|best| found.price < best.price) => self.best = Some(found),
            Ok(_) => {}
            Err(error) => self.refused = Some(error),
        }
    }
}

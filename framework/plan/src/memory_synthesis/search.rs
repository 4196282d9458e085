//! The search: a way for each access, depth first, the cheapest by its bound first, pruned by what is known.

use super::leaf::{Chosen, Problem};
use super::{AccessConstraint, MemorySynthesisError, SharedTensor, Solution, StrideTerm, TensorAccess};
use crate::movement::{Constraints, Kind, PlanContext};
use tilewright_layout::cute::{ComposedLayout, to_memory};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};

/// What a search may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchBounds {
    /// The kinds of swizzles that are allowed: none is [`Kind::Plain`].
    pub kinds: Vec<Kind>,
    /// How many layouts are looked at for one choice of ways.
    pub budget: u64,
    /// For how many choices of ways a swizzle is searched.
    pub leaves: usize,
    /// How many choices are begun.
    pub nodes: usize,
}

impl Default for SearchBounds {
    fn default() -> Self {
        Self { kinds: Problem::KINDS.to_vec(), budget: 1 << 11, leaves: 32, nodes: 1 << 12 }
    }
}

/// The layout of a tensor in shared memory that serves all accesses at the least price.
///
/// # Errors
/// [`MemorySynthesisError`]: [`MemorySynthesisError::Disagree`] names the two accesses of which every layout serves one alone.
pub fn solve(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'_>],
    context: &PlanContext<'_>,
) -> Result<Solution, MemorySynthesisError> {
    solve_with(tensor, accesses, context, &SearchBounds::default())
}

/// As [`solve`], within bounds of one's own.
///
/// # Errors
/// As [`solve`].
pub fn solve_with<'a>(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'a>],
    context: &PlanContext<'a>,
    options: &SearchBounds,
) -> Result<Solution, MemorySynthesisError> {
    let problem = checked(tensor, accesses, context, options)?;
    let (fixed, reasons) = problem.fixed()?;
    let ways = match problem.ways() {
        Ok(ways) => ways,
        // Ways that fix the layout may be all that there are.
        Err(MemorySynthesisError::NoWay { access, reasons: own }) => {
            let all = reasons.into_iter().chain([own]).collect::<Vec<_>>().join("; ");
            return fixed.ok_or(MemorySynthesisError::NoWay { access, reasons: all });
        }
        Err(error) => return Err(error),
    };
    let mut search =
        Search { problem: &problem, ways: &ways, best: fixed, nodes: 0, leaves: 0, options, refused: None };
    search.visit(&mut Vec::new(), problem.given.clone(), 0.0);
    let (nodes, leaves) = (search.nodes, search.leaves);
    match (search.best, search.refused) {
        (Some(best), _) => Ok(Solution { nodes, leaves, ..best }),
        (None, Some(error)) => Err(error),
        (None, None) => Err(problem.disagreement(&ways)),
    }
}

/// How all accesses go in a memory that is known already, each by its cheapest way there.
///
/// # Errors
/// [`MemorySynthesisError::Given`] names the access that goes by none of its ways.
pub fn serve(
    tensor: &SharedTensor,
    accesses: &[TensorAccess<'_>],
    memory: &MemoryLayout,
    context: &PlanContext<'_>,
) -> Result<Solution, MemorySynthesisError> {
    let problem = checked(tensor, accesses, context, &SearchBounds::default())?;
    let wrong =
        |reason| MemorySynthesisError::Given { layout: format!("{:?}", memory.linear.bases_of(Dim::OFFSET)), reason };
    problem.in_fixed(None, memory).map_err(wrong)
}

fn checked<'q, 'a>(
    tensor: &'q SharedTensor,
    accesses: &'q [TensorAccess<'a>],
    context: &PlanContext<'a>,
    options: &SearchBounds,
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
    let constraints = Constraints { kinds: options.kinds.clone(), budget: options.budget, ..Constraints::default() };
    Ok(Problem { tensor, layouts, accesses, context: *context, given: given(tensor)?, constraints, axes })
}

/// An access's layout with its axes in order.
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

/// The layout that the program gives.
fn given(tensor: &SharedTensor) -> Result<Option<StrideTerm>, MemorySynthesisError> {
    let Some(layout) = &tensor.layout else { return Ok(None) };
    let wrong = |reason: String| MemorySynthesisError::Given { layout: layout.to_string(), reason };
    let memory = to_memory(&ComposedLayout::new(Vec::new(), 0, layout.clone())?, &tensor.shape);
    let memory = memory.map_err(|error| wrong(error.to_string()))?;
    let term = StrideTerm::of_memory(&memory.linear);
    term.map(Some).ok_or_else(|| wrong("each bit of an offset must be one bit of a coordinate".to_owned()))
}

/// A way of an access, what it asks, and what it costs at least.
struct Candidate {
    way: usize,
    term: StrideTerm,
    least: f64,
}

impl<'q> Problem<'q, '_> {
    /// For each access its ways, the cheapest first.
    fn ways(&self) -> Result<Vec<Vec<Candidate>>, MemorySynthesisError> {
        (0..self.accesses.len()).map(|access| self.ways_of(access)).collect()
    }

    fn ways_of(&self, access: usize) -> Result<Vec<Candidate>, MemorySynthesisError> {
        let (mut all, mut reasons) = (Vec::new(), Vec::new());
        for (number, way) in self.accesses[access].ways.iter().enumerate() {
            match self.candidate(access, number) {
                Ok(candidate) => all.push(candidate),
                Err(reason) => reasons.push(format!("{way}: {reason}")),
            }
        }
        if all.is_empty() {
            let access = self.accesses[access].name.clone();
            return Err(MemorySynthesisError::NoWay { access, reasons: reasons.join("; ") });
        }
        let bytes = |one: &Candidate| self.accesses[access].ways[one.way].bytes();
        all.sort_by(|a, b| a.least.total_cmp(&b.least).then(bytes(b).cmp(&bytes(a))));
        Ok(all)
    }

    fn candidate(&self, access: usize, way: usize) -> Result<Candidate, String> {
        let lanes = self.lanes(access, way).ok_or("its layouts do not serve all accesses")?;
        let layout = self.layouts[access].as_ref().ok_or("it is not said what lanes hold")?;
        let term = StrideTerm::of_access(layout, lanes, self.tensor.bits)?;
        let chosen = self.chosen(access, &Candidate { way, term, least: 0.0 }).ok_or("it is no way of lanes")?;
        let (_, least) = self.least(&chosen).map_err(|error| error.to_string())?;
        Ok(Candidate { way, term: chosen.term, least })
    }

    fn chosen(&self, access: usize, candidate: &Candidate) -> Option<Chosen<'q>> {
        let lanes = self.lanes(access, candidate.way)?;
        Some(Chosen { access, way: candidate.way, lanes, term: candidate.term.clone() })
    }

    /// Which accesses disagree whatever their ways.
    fn disagreement(&self, ways: &[Vec<Candidate>]) -> MemorySynthesisError {
        let requested = |access: usize, one: &Candidate| AccessConstraint {
            access: self.accesses[access].name.clone(),
            way: self.accesses[access].ways[one.way].to_string(),
            term: one.term.to_string(),
        };
        let differ = |first: AccessConstraint, second: AccessConstraint, a: &StrideTerm, b: &StrideTerm| {
            let bit = a.unify(b).err()?.bit;
            let (first, second) = (Box::new(first), Box::new(second));
            Some(MemorySynthesisError::Disagree { first, second, bit, wants: a.choice(bit), has: b.choice(bit) })
        };
        if let Some(given) = &self.given {
            for (access, own) in ways.iter().enumerate() {
                if own.iter().all(|one| given.unify(&one.term).is_err()) {
                    let program = AccessConstraint {
                        access: "the program".to_owned(),
                        way: "the layout that it gives".to_owned(),
                        term: given.to_string(),
                    };
                    if let Some(found) = differ(program, requested(access, &own[0]), given, &own[0].term) {
                        return found;
                    }
                }
            }
        }
        for (second, others) in ways.iter().enumerate() {
            for (first, own) in ways[..second].iter().enumerate() {
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
    ways: &'s [Vec<Candidate>],
    options: &'s SearchBounds,
    best: Option<Solution>,
    /// Why a choice whose terms agree has no layout, where that is so.
    refused: Option<MemorySynthesisError>,
    nodes: usize,
    leaves: usize,
}

impl<'q> Search<'_, 'q, '_> {
    /// `least` is what the ways that are chosen take at least.
    fn visit(&mut self, chosen: &mut Vec<Chosen<'q>>, term: Option<StrideTerm>, least: f64) {
        let at = chosen.len();
        let rest: f64 = self.ways[at..].iter().map(|ways| ways.first().map_or(0.0, |one| one.least)).sum();
        let beaten = |best: &Option<Solution>| best.as_ref().is_some_and(|best| best.price <= least + rest);
        if beaten(&self.best) || self.nodes >= self.options.nodes || self.leaves >= self.options.leaves {
            return;
        }
        self.nodes += 1;
        let Some(ways) = self.ways.get(at) else {
            if let Some(term) = term {
                self.weigh(chosen, &term);
            }
            return;
        };
        for candidate in ways {
            let both = match &term {
                Some(term) => term.unify(&candidate.term),
                None => Ok(candidate.term.clone()),
            };
            let (Ok(both), Some(one)) = (both, self.problem.chosen(at, candidate)) else { continue };
            chosen.push(one);
            self.visit(chosen, Some(both), least + candidate.least);
            chosen.pop();
        }
    }

    fn weigh(&mut self, chosen: &[Chosen<'q>], term: &StrideTerm) {
        self.leaves += 1;
        match self.problem.weigh(chosen, term) {
            Ok(found) if self.best.as_ref().is_none_or(|best| found.price < best.price) => self.best = Some(found),
            Ok(_) => {}
            Err(error) => self.refused = Some(error),
        }
    }
}

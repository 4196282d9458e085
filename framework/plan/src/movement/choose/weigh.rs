//! Scores layouts of a tensor in shared memory by the cost of their accesses, and keeps the best of each
//! [`SharedLayoutKind`].
//!
//! The score compares global-memory transactions first, then wavefronts, selects and byte permutes, then bytes. The
//! same score ranks the best layouts of the kinds; all are reported, since a caller's constraints may not allow the
//! first.

use crate::movement::{MovementError, SharedAccessPlan, plan_shared_access};
use tilewright_layout::Padding;
use tilewright_layout::cute::Swizzle;
use tilewright_layout::f2::Columns;

use super::super::SELECTS_PER_WAVEFRONT;
use super::accessor::SharedLayoutSearchOptions;
use super::choice::{AccessorStats, GlobalFetchLayout, RankedSharedLayouts, SharedLayoutCandidate, SharedLayoutKind};
use super::lower_bound;
use super::problem::SharedLayoutProblem;
use super::side::Side;

/// The reason for rejecting swizzled layouts if an accessor is a copy from global memory that writes consecutively.
const CONSECUTIVE: &str = "the copy writes consecutively what consecutive lanes fetch";

/// The comparison of layouts: the problem, and the best layout of each kind so far.
pub(super) struct Weigher<'a> {
    pub(super) problem: &'a SharedLayoutProblem<'a>,
    pub(super) constraints: &'a SharedLayoutSearchOptions,
    pub(super) most_bytes: u64,
    min_wavefronts: Vec<u64>,
    lower_bound: u64,
    /// The lower bound of the weighted wavefronts of `problem`.
    least: u64,
    best: Vec<SharedLayoutCandidate>,
    rejected: Vec<(SharedLayoutKind, String)>,
}

/// A layout to be compared: its kind, the order of its elements, and its padding.
pub(super) struct Proposal<'a> {
    pub(super) kind: SharedLayoutKind,
    /// For each offset bit, the element at the offset that has only this bit set, in coordinates of the problem.
    pub(super) columns: &'a [u64],
    pub(super) padding: &'a [Padding],
    pub(super) functor: Option<Swizzle>,
    /// The index of the accessor that is a copy, and the elements that it fetches; `None` if no accessor permutes its
    /// fetches.
    pub(super) fetch: Option<(usize, GlobalFetchLayout)>,
}

impl<'a> Proposal<'a> {
    pub(super) fn new(kind: SharedLayoutKind, columns: &'a [u64]) -> Self {
        Self { kind, columns, padding: &[], functor: None, fetch: None }
    }
}

impl<'a> Weigher<'a> {
    pub(super) fn new(
        problem: &'a SharedLayoutProblem<'a>,
        constraints: &'a SharedLayoutSearchOptions,
    ) -> Result<Self, MovementError> {
        let target = problem.target;
        let none = || {
            MovementError::impossible(format!(
                "target {} has no access of {} bits to shared memory",
                target.name, problem.element_bits
            ))
        };
        let min_wavefronts =
            problem.sides.iter().map(|side| lower_bound::by_any_sharing(problem, side).ok_or_else(none));
        let min_wavefronts = min_wavefronts.collect::<Result<Vec<u64>, _>>()?;
        let weights = problem.sides.iter().map(|side| side.weight);
        let lower_bound = weights.zip(&min_wavefronts).map(|(w, l)| w.saturating_mul(*l)).fold(0, u64::saturating_add);
        Ok(Self {
            problem,
            constraints,
            most_bytes: constraints.max_bytes.unwrap_or(u64::from(target.shared.bytes)),
            lower_bound,
            least: lower_bound::of_all(problem),
            min_wavefronts,
            best: Vec::new(),
            rejected: Vec::new(),
        })
    }

    /// Returns the number of weighted wavefronts at which the search for `problem` stops: its lower bound plus the
    /// tolerated excess.
    pub(super) fn goal(&self) -> u64 {
        self.least.saturating_add(self.constraints.excess)
    }

    /// Makes `shared`, whose threads share the work of replicas, the current problem, and returns true. Returns false
    /// and changes nothing if it cannot be cheaper than the best layout so far.
    pub(super) fn continue_with(&mut self, shared: &'a SharedLayoutProblem<'a>) -> bool {
        let least = lower_bound::of_all(shared);
        let cheapest = self.best.iter().filter(|known| known.rejected.is_none()).map(|known| known.price).min();
        if cheapest.is_some_and(|cheapest| shared.price(least) >= cheapest) {
            return false;
        }
        (self.problem, self.least) = (shared, least);
        true
    }

    /// Returns the price, in quarters of a wavefront, at which the search for `problem` stops.
    pub(super) fn price_goal(&self) -> u64 {
        self.problem.price(self.goal())
    }

    /// Returns the number of weighted wavefronts of all accessors except `at` at which the search stops: [`Self::goal`]
    /// without the minimum of the accessor `at`.
    pub(super) fn goal_without(&self, at: usize) -> u64 {
        self.goal().saturating_sub(self.problem.sides[at].weight.saturating_mul(self.min_wavefronts[at]))
    }

    pub(super) fn best(&self, kind: SharedLayoutKind) -> Option<&SharedLayoutCandidate> {
        self.best.iter().find(|candidate| candidate.kind == kind)
    }

    /// Records the reason why there is no candidate of the kind `kind`.
    pub(super) fn reject(&mut self, kind: SharedLayoutKind, reason: &str) {
        self.rejected.push((kind, reason.to_owned()));
    }

    pub(super) fn plain(&mut self, bases: &[Columns]) {
        for base in bases {
            self.weigh(Proposal::new(SharedLayoutKind::Plain, base));
        }
    }

    /// Plans the accesses of all accessors in a proposed layout, and keeps the layout if its score is the best of its
    /// [`SharedLayoutKind`]. A layout is dropped if the accesses of some accessor cannot be planned.
    pub(super) fn weigh(&mut self, proposal: Proposal<'_>) {
        let kind = proposal.kind;
        match self.candidate(proposal) {
            Ok(candidate) => match self.best.iter_mut().find(|known| known.kind == kind) {
                Some(known) if candidate.score() < known.score() => *known = candidate,
                Some(_) => {}
                None => self.best.push(candidate),
            },
            Err(error) if self.best(kind).is_none() && !self.rejected.iter().any(|(known, _)| *known == kind) => {
                self.reject(kind, &error.to_string());
            }
            Err(_) => {}
        }
    }

    fn candidate(&self, proposal: Proposal<'_>) -> Result<SharedLayoutCandidate, MovementError> {
        let problem = self.problem;
        let mut memory = problem.memory(proposal.columns, proposal.padding)?;
        let (mut stats, mut alignment) = (Vec::with_capacity(problem.sides.len()), 1);
        for (at, side) in problem.sides.iter().enumerate() {
            let own = proposal.fetch.as_ref().filter(|(of, _)| *of == at).map(|(_, fetch)| &fetch.layout);
            let layout = own.unwrap_or(&side.layout);
            let plan = plan_shared_access(layout, &memory, problem.element_bits, side.direction(), side.context)?;
            alignment = alignment.max(plan.alignment());
            stats.push(self.stats(at, side, &plan));
        }
        memory.alignment = u32::try_from(alignment).ok();
        let weights = problem.sides.iter().map(|side| side.weight).zip(&stats);
        let sum = |of: fn(&AccessorStats) -> u64| {
            weights.clone().map(|(w, f)| w.saturating_mul(of(f))).fold(0, u64::saturating_add)
        };
        let (weighted, price) =
            (sum(|f| f.wavefronts), sum(|f| f.wavefronts * SELECTS_PER_WAVEFRONT + f.selects + f.permutes));
        let tolerated = self.lower_bound.saturating_add(self.constraints.excess);
        let bytes = memory.allocated_elements() * problem.element_bytes();
        Ok(SharedLayoutCandidate {
            kind: proposal.kind,
            accessors: stats,
            bytes,
            functor: proposal.functor,
            fetch: proposal.fetch.map(|(_, fetch)| fetch),
            rejected: self.reason_against(proposal.kind, bytes),
            weighted,
            price,
            clipped: price.max(tolerated.saturating_mul(SELECTS_PER_WAVEFRONT)),
            memory,
        })
    }

    fn stats(&self, at: usize, side: &Side<'_>, plan: &SharedAccessPlan) -> AccessorStats {
        let wavefronts = plan.wavefronts();
        let row = side.tiles.iter().find(|tile| tile.name.is_some() && tile.name == plan.instruction());
        let (width, selects) = (plan.vector_elements.ilog2(), plan.stats.counts.selects);
        let clear = match row {
            Some(tile) => lower_bound::by_row(self.problem, side, tile),
            None if selects > 0 => lower_bound::shared_at_width(self.problem, side, width),
            None => lower_bound::at_width(self.problem, side, width),
        };
        AccessorStats {
            wavefronts,
            selects,
            permutes: plan.stats.permutes,
            excess: wavefronts.saturating_sub(clear.unwrap_or(wavefronts)),
            min_wavefronts: self.min_wavefronts[at],
            vector_elements: plan.vector_elements,
            instruction: plan.instruction().map(str::to_owned),
        }
    }

    fn reason_against(&self, kind: SharedLayoutKind, bytes: u64) -> Option<String> {
        if !self.constraints.kinds.contains(&kind) {
            return Some("not among the kinds that are allowed".to_owned());
        }
        if self.problem.is_copied() && matches!(kind, SharedLayoutKind::Functor | SharedLayoutKind::Swizzle) {
            return Some(CONSECUTIVE.to_owned());
        }
        (bytes > self.most_bytes).then(|| format!("{bytes} bytes, and {} are allowed", self.most_bytes))
    }

    /// Returns the best layout of each kind, and the reasons why kinds have none; an error if no layout is allowed.
    pub(super) fn choice(mut self) -> Result<RankedSharedLayouts, MovementError> {
        match self.problem.is_copied() {
            false => self.reject(SharedLayoutKind::PermutedGlobal, "no accessor is a copy from global memory"),
            true => self.reject(SharedLayoutKind::Functor, CONSECUTIVE),
        }
        let (best, known) = (&self.best, self.rejected.clone());
        let missing =
            SharedLayoutKind::ALL.into_iter().filter(|kind| best.iter().all(|candidate| candidate.kind != *kind));
        let unsaid = missing.filter(|kind| known.iter().all(|(known, _)| known != kind));
        self.rejected.extend(unsaid.map(|kind| (kind, "no layout of this kind fits".to_owned())));
        self.rejected.retain(|(kind, _)| best.iter().all(|candidate| candidate.kind != *kind));
        let choice = RankedSharedLayouts::of(self.best, self.rejected, self.lower_bound);
        if choice.candidates.first().is_some_and(|candidate| candidate.rejected.is_none()) {
            return Ok(choice);
        }
        let weighed = choice.candidates.iter().filter_map(|c| Some((c.kind, c.rejected.clone()?)));
        let reasons = weighed.chain(choice.rejected).map(|(kind, reason)| format!("{kind}: {reason}"));
        Err(MovementError::impossible(reasons.collect::<Vec<_>>().join("; ")))
    }
}

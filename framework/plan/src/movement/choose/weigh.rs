//! Weighing layouts of all kinds by one score, and keeping the best of each kind.

use crate::movement::{MovementError, SharedAccess, access_shared};
use tilewright_layout::Padding;
use tilewright_layout::cute::Swizzle;
use tilewright_layout::f2::Columns;

use super::accessor::Constraints;
use super::choice::{AccessorStats, Fetch, Kind, MemoryChoice, SharedLayoutCandidate};
use super::least;
use super::problem::Question;
use super::side::Side;

/// Why a copy cannot have any layout.
const CONSECUTIVE: &str = "the copy writes consecutively what consecutive lanes fetch";

/// The question, and the best layout of each kind so far.
pub(super) struct Weigher<'a> {
    pub(super) problem: &'a Question<'a>,
    pub(super) constraints: &'a Constraints,
    pub(super) most_bytes: u64,
    least: Vec<u64>,
    lower_bound: u64,
    best: Vec<SharedLayoutCandidate>,
    rejected: Vec<(Kind, String)>,
}

/// A layout to be weighed.
pub(super) struct Proposal<'a> {
    pub(super) kind: Kind,
    /// For each offset bit the element, in the question's coordinates.
    pub(super) columns: &'a [u64],
    pub(super) padding: &'a [Padding],
    pub(super) functor: Option<Swizzle>,
    /// What which side fetches.
    pub(super) fetch: Option<(usize, Fetch)>,
}

impl<'a> Proposal<'a> {
    pub(super) fn new(kind: Kind, columns: &'a [u64]) -> Self {
        Self { kind, columns, padding: &[], functor: None, fetch: None }
    }
}

impl<'a> Weigher<'a> {
    pub(super) fn new(problem: &'a Question<'a>, constraints: &'a Constraints) -> Result<Self, MovementError> {
        let target = problem.target;
        let none = || {
            MovementError::impossible(format!(
                "target {} has no access of {} bits to shared memory",
                target.name, problem.element_bits
            ))
        };
        let least = problem.sides.iter().map(|side| least::by_any(problem, side).ok_or_else(none));
        let least = least.collect::<Result<Vec<u64>, _>>()?;
        let weights = problem.sides.iter().map(|side| side.weight);
        Ok(Self {
            problem,
            constraints,
            most_bytes: constraints.max_bytes.unwrap_or(u64::from(target.shared.bytes)),
            lower_bound: weights.zip(&least).map(|(w, l)| w.saturating_mul(*l)).fold(0, u64::saturating_add),
            least,
            best: Vec::new(),
            rejected: Vec::new(),
        })
    }

    /// Weighted wavefronts below which it is not worth to go.
    pub(super) fn goal(&self) -> u64 {
        self.lower_bound.saturating_add(self.constraints.excess)
    }

    /// The same for the others alone, where one side takes no more than it must.
    pub(super) fn goal_without(&self, at: usize) -> u64 {
        self.goal().saturating_sub(self.problem.sides[at].weight.saturating_mul(self.least[at]))
    }

    pub(super) fn best(&self, kind: Kind) -> Option<&SharedLayoutCandidate> {
        self.best.iter().find(|candidate| candidate.kind == kind)
    }

    /// Says why there is no candidate of a kind.
    pub(super) fn close(&mut self, kind: Kind, reason: &str) {
        self.rejected.push((kind, reason.to_owned()));
    }

    pub(super) fn plain(&mut self, bases: &[Columns]) {
        for base in bases {
            self.weigh(Proposal::new(Kind::Plain, base));
        }
    }

    /// Weighs a layout by the plans of all accessors. A layout for which an access cannot be planned is
    /// no candidate.
    pub(super) fn weigh(&mut self, proposal: Proposal<'_>) {
        let kind = proposal.kind;
        match self.candidate(proposal) {
            Ok(candidate) => match self.best.iter_mut().find(|known| known.kind == kind) {
                Some(known) if candidate.score() < known.score() => *known = candidate,
                Some(_) => {}
                None => self.best.push(candidate),
            },
            Err(error) if self.best(kind).is_none() && !self.rejected.iter().any(|(known, _)| *known == kind) => {
                self.close(kind, &error.to_string());
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
            let plan = access_shared(layout, &memory, problem.element_bits, side.direction(), side.context)?;
            alignment = alignment.max(plan.alignment());
            stats.push(self.stats(at, side, &plan));
        }
        memory.alignment = u32::try_from(alignment).ok();
        let weights = problem.sides.iter().map(|side| side.weight).zip(&stats);
        let weighted = weights.map(|(w, f)| w.saturating_mul(f.wavefronts)).fold(0, u64::saturating_add);
        let bytes = memory.allocated_elements() * problem.element_bytes();
        Ok(SharedLayoutCandidate {
            kind: proposal.kind,
            accessors: stats,
            bytes,
            functor: proposal.functor,
            fetch: proposal.fetch.map(|(_, fetch)| fetch),
            rejected: self.reason_against(proposal.kind, bytes),
            weighted,
            clipped: weighted.max(self.goal()),
            memory,
        })
    }

    fn stats(&self, at: usize, side: &Side<'_>, plan: &SharedAccess) -> AccessorStats {
        let wavefronts = plan.wavefronts();
        let row = side.tiles.iter().find(|tile| tile.name.is_some() && tile.name == plan.instruction());
        let clear = match row {
            Some(tile) => least::by_row(self.problem, side, tile),
            None => least::at_width(self.problem, side, plan.vector_elements.ilog2()),
        };
        AccessorStats {
            wavefronts,
            excess: wavefronts.saturating_sub(clear.unwrap_or(wavefronts)),
            least: self.least[at],
            vector_elements: plan.vector_elements,
            instruction: plan.instruction().map(str::to_owned),
        }
    }

    fn reason_against(&self, kind: Kind, bytes: u64) -> Option<String> {
        if !self.constraints.kinds.contains(&kind) {
            return Some("not among the kinds that are allowed".to_owned());
        }
        if self.problem.is_copied() && matches!(kind, Kind::Functor | Kind::Swizzle) {
            return Some(CONSECUTIVE.to_owned());
        }
        (bytes > self.most_bytes).then(|| format!("{bytes} bytes, and {} are allowed", self.most_bytes))
    }

    /// The choice from what was weighed.
    pub(super) fn choice(mut self) -> Result<MemoryChoice, MovementError> {
        match self.problem.is_copied() {
            false => self.close(Kind::PermutedGlobal, "no accessor is a copy from global memory"),
            true => self.close(Kind::Functor, CONSECUTIVE),
        }
        let (best, known) = (&self.best, self.rejected.clone());
        let missing = Kind::ALL.into_iter().filter(|kind| best.iter().all(|candidate| candidate.kind != *kind));
        let unsaid = missing.filter(|kind| known.iter().all(|(known, _)| known != kind));
        self.rejected.extend(unsaid.map(|kind| (kind, "no layout of this kind fits".to_owned())));
        self.rejected.retain(|(kind, _)| best.iter().all(|candidate| candidate.kind != *kind));
        let choice = MemoryChoice::of(self.best, self.rejected, self.lower_bound);
        if choice.candidates.first().is_some_and(|candidate| candidate.rejected.is_none()) {
            return Ok(choice);
        }
        let weighed = choice.candidates.iter().filter_map(|c| Some((c.kind, c.rejected.clone()?)));
        let reasons = weighed.chain(choice.rejected).map(|(kind, reason)| format!("{kind}: {reason}"));
        Err(MovementError::impossible(reasons.collect::<Vec<_>>().join("; ")))
    }
}

//! Rejected candidates of a plan, with the reasons.

use std::fmt::Display;

/// A candidate that was rejected, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedCandidate<C> {
    /// The candidate: a kind of conversion, or the name of an instruction.
    pub candidate: C,
    /// Reason of the rejection, as text for messages.
    pub reason: String,
}

impl<C: Display> RejectedCandidate<C> {
    /// Returns one text with every candidate and its reason.
    #[must_use]
    pub fn list_reasons(rejected: &[Self]) -> String {
        let each = rejected.iter().map(|one| format!("{}: {}", one.candidate, one.reason));
        each.collect::<Vec<_>>().join("; ")
    }

    /// Returns one text with every distinct reason, the first candidate that has it, and the number of other candidates
    /// with the same reason.
    #[must_use]
    pub fn summarize_reasons(rejected: &[Self]) -> String {
        let mut each: Vec<(&Self, usize)> = Vec::new();
        for one in rejected {
            match each.iter_mut().find(|(first, _)| first.reason == one.reason) {
                Some((_, more)) => *more += 1,
                None => each.push((one, 0)),
            }
        }
        let line = |(Self { candidate, reason }, more): &(&Self, usize)| match more {
            0 => format!("{candidate}: {reason}"),
            more => format!("{candidate} and {more} more: {reason}"),
        };
        each.iter().map(line).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the candidate with the lowest `rank`, the first of equal ones; `None` if all are rejected. Also returns the
/// rejected candidates with their reasons.
pub(crate) fn best_of<C, T, K: PartialOrd>(
    candidates: impl Iterator<Item = (C, Result<T, String>)>,
    rank: impl Fn(&T) -> K,
) -> (Option<T>, Vec<RejectedCandidate<C>>) {
    let (mut best, mut rejected) = (None, Vec::new());
    for (candidate, plan) in candidates {
        match plan {
            Ok(plan) if best.as_ref().is_none_or(|best| rank(&plan) < rank(best)) => best = Some(plan),
            Ok(_) => {}
            Err(reason) => rejected.push(RejectedCandidate { candidate, reason }),
        }
    }
    (best, rejected)
}

//! The alternatives of a search: the complete choices that were tried and not taken, each with its predicted time and
//! the reason.

use std::fmt;

use serde::Serialize;

use super::model::LaunchResourceCycles;
use super::{PredictedPerformance, SynthesisError};

/// Max number of alternatives that a derivation lists.
const MOST: usize = 10;

/// Complete choices (a leaf of the search) that were tried and not taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RejectedAlternative {
    /// The choices by which it differs from the program that was taken: instructions, stages, layouts, copies.
    pub choices: Vec<String>,
    /// The predicted performance; `None` if the choices have no solution, or were rejected before.
    pub prediction: Option<PredictedPerformance>,
    /// The reason why it was not taken.
    pub reason: String,
}

impl fmt::Display for RejectedAlternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.prediction {
            Some(prediction) => writeln!(f, "{:.0} cycles, {}: {}", prediction.cycles, prediction.launch, self.reason)?,
            None => writeln!(f, "{}", self.reason)?,
        }
        self.choices.iter().try_for_each(|choice| writeln!(f, "    {choice}"))
    }
}

/// The leaves (complete choices) that a search has tried: their choices as text, and the prediction or the error.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tried(Vec<(Vec<String>, Result<PredictedPerformance, String>)>);

impl Tried {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a leaf with its choices.
    pub(crate) fn add(&mut self, choices: Vec<String>, outcome: Result<&PredictedPerformance, &SynthesisError>) {
        self.insert(choices, outcome.cloned().map_err(|error| format!("no solution: {error}")));
    }

    /// Adds choices that were rejected before their time was predicted, with the reason.
    pub(crate) fn reject(&mut self, choices: Vec<String>, reason: String) {
        self.insert(choices, Err(reason));
    }

    fn insert(&mut self, choices: Vec<String>, outcome: Result<PredictedPerformance, String>) {
        if !self.0.iter().any(|(known, other)| *known == choices && *other == outcome) {
            self.0.push((choices, outcome));
        }
    }

    /// Returns the best alternatives to the leaf with the choices `taken`, the fastest first, and after them those
    /// without a prediction. `faster` is the reason why a leaf of less predicted time was not taken.
    pub(crate) fn into_alternatives(
        mut self,
        taken: &[String],
        best: &PredictedPerformance,
        faster: &str,
    ) -> Vec<RejectedAlternative> {
        self.0.retain(|(choices, _)| choices != taken);
        self.0.sort_by(|(_, left), (_, right)| cycles(left).total_cmp(&cycles(right)));
        let alternative = |(choices, outcome): (Vec<String>, Result<PredictedPerformance, String>)| {
            let choices = differing(choices, taken);
            match outcome {
                Ok(prediction) => RejectedAlternative {
                    choices,
                    reason: reason(&prediction, best, faster),
                    prediction: Some(prediction),
                },
                Err(reason) => RejectedAlternative { choices, prediction: None, reason },
            }
        };
        let mut found: Vec<RejectedAlternative> = Vec::new();
        for alternative in self.0.into_iter().map(alternative) {
            // Leaves may differ by choices that are not listed, such as the lanes of copies.
            if found.len() < MOST && !found.iter().any(|known| known.to_string() == alternative.to_string()) {
                found.push(alternative);
            }
        }
        found
    }
}

/// Returns the choices by which a leaf differs from the one taken; if it only lacks some of those, these.
fn differing(choices: Vec<String>, taken: &[String]) -> Vec<String> {
    let mut rest = taken.to_vec();
    let is_new = |choice: &String| {
        let known = rest.iter().position(|other| other == choice);
        known.map(|at| rest.swap_remove(at)).is_none()
    };
    let new: Vec<String> = choices.into_iter().filter(is_new).collect();
    if new.is_empty() { rest.into_iter().map(|choice| format!("without {choice}")).collect() } else { new }
}

/// Writes the program that was taken and the alternatives to it; nothing if there are none.
pub(crate) fn write_alternatives(
    f: &mut fmt::Formatter<'_>,
    taken: Option<&PredictedPerformance>,
    alternatives: &[RejectedAlternative],
) -> fmt::Result {
    if let Some(taken) = taken.filter(|_| !alternatives.is_empty()) {
        writeln!(f, "taken: {:.0} cycles, {}", taken.cycles, taken.launch)?;
    }
    alternatives.iter().try_for_each(|alternative| write!(f, "  not taken: {alternative}"))
}

/// The predicted cycles of a leaf, by which leaves are ordered; infinite without a solution.
fn cycles(outcome: &Result<PredictedPerformance, String>) -> f64 {
    outcome.as_ref().map_or(f64::INFINITY, |prediction| prediction.cycles)
}

/// Returns the reason why a leaf was not taken: the resource that adds most to its time, and the number of resident
/// blocks if it is lower. `faster` is the reason if it takes less time.
fn reason(prediction: &PredictedPerformance, best: &PredictedPerformance, faster: &str) -> String {
    let more = prediction.cycles - best.cycles;
    if more < 0.0 {
        return faster.to_owned();
    }
    if more == 0.0 {
        return "as fast as the one taken, and tried later".to_owned();
    }
    let shares = |prediction: &PredictedPerformance| LaunchResourceCycles::cycles_by_resource(&prediction.launch);
    let differences = shares(prediction).into_iter().zip(shares(best)).map(|((name, a), (_, b))| (name, a - b));
    let (name, most) = differences.fold(("", 0.0), |most, next| if next.1 > most.1 { next } else { most });
    let resident = match prediction.resident < best.resident {
        true => format!("; {} blocks are resident, limited by {}", prediction.resident, prediction.limited_by),
        false => String::new(),
    };
    format!("{:.1} % slower, mainly by {most:.0} cycles of {name}{resident}", 100.0 * more / best.cycles.max(1.0))
}

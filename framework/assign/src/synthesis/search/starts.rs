//! Searches from leaves (complete choices) with other instructions than the best leaf.

use super::Search;
use tilewright_tile::transform::explicit::ExplicitMemoryChoices;

impl Search<'_, '_> {
    /// Returns the fastest leaves (complete choices) whose dots do not all have the instructions of the best leaf, nor
    /// of each other, at most `most`. With other choices for loops and stores, one of them may be faster.
    pub(super) fn find_starts(&self, most: usize) -> Vec<ExplicitMemoryChoices> {
        let mut solved: Vec<(&ExplicitMemoryChoices, f64)> =
            self.solved.iter().filter_map(|leaf| Some((&leaf.choices, leaf.cycles?))).collect();
        solved.sort_by(|(_, left), (_, right)| left.total_cmp(right));
        let are_alike = |one: &ExplicitMemoryChoices, other: &ExplicitMemoryChoices| {
            let is_alike = |dot, instruction| other.dots.get(dot).is_some_and(|other| other.instruction == instruction);
            one.dots.iter().all(|(dot, choice)| is_alike(dot, choice.instruction.clone()))
        };
        let mut starts: Vec<&ExplicitMemoryChoices> = self.best.iter().map(|(_, choices)| choices).collect();
        for (choices, _) in solved {
            if starts.len() <= most && !starts.iter().any(|known| are_alike(known, choices)) {
                starts.push(choices);
            }
        }
        starts.into_iter().skip(1).cloned().collect()
    }

    /// Chooses stores, loops and the dots that use results of others from the leaf (complete choice) `choices`, and
    /// keeps the result if it is faster than the best leaf.
    pub(super) fn tune_from(&mut self, choices: &ExplicitMemoryChoices) {
        let (best, refused) = (self.best.take(), self.refused.take());
        // The dots were tried with other choices for loops.
        let tried = std::mem::take(&mut self.tried_dots);
        self.revisits = true;
        self.leaf(choices);
        self.tune_stores();
        self.tune_loops();
        let tuned = self.best.as_ref().map(|(_, choices)| choices.clone()).unwrap_or_default();
        self.tree.choices_of_consumers(&tuned).into_iter().for_each(|dot| self.try_dots(vec![dot]));
        (self.tried_dots, self.revisits) = (tried, false);
        let cycles = best.as_ref().map_or(f64::INFINITY, |(leaf, _)| leaf.prediction.cycles);
        let is_faster = self.best_cycles().is_some_and(|found| found < cycles);
        if self.refused.is_some() || !is_faster && refused.is_none() {
            (self.best, self.refused) = (best, refused);
        }
    }
}

//! The search of copies from registers and to global memory: layout conversions before them, and bulk tensor copies.

use super::{MAX_STARTS, Search, SolvedLeaf};
use tilewright_tile::Op;
use tilewright_tile::transform::explicit::ExplicitMemoryChoices;

/// Leaves (complete choices) whose predicted time is at most this multiple of the best leaf's are nearly as fast.
const NEARLY_AS_FAST: f64 = 1.01;

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with other copies from registers and to global memory, and keeps
    /// those that are faster: a layout conversion before each store that has none, no conversion before each that has
    /// one, and bulk tensor copies from shared memory, each with and without a conversion of the registers. Layout
    /// assignment compares the operations alone, not the program.
    pub(super) fn tune_stores(&mut self) {
        let tree = self.tree;
        tree.register_stores.iter().for_each(|stores| self.try_conversion(stores));
        for stores in &tree.tensor_stores {
            let Some((_, choices)) = &self.best else { return };
            let mapped = stores.iter().filter_map(|store| Some((*store, tree.tensor_copies.maps.get(store)?.clone())));
            let choices = mapped.fold(choices.clone(), |choices, (store, map)| choices.with_tensor_copy(store, map));
            self.leaf(&choices);
            if tree.register_stores.contains(stores) {
                self.try_conversion(stores);
            }
        }
    }

    /// Solves leaves (complete choices) that are nearly as fast as the best one again, each with another conversion
    /// before one store, and keeps the fastest: the gain of a conversion may depend on the layouts of dots.
    pub(super) fn tune_stores_of_near_leaves(&mut self) {
        let (tree, Some((best, taken))) = (self.tree, &self.best) else { return };
        let most = best.prediction.cycles * NEARLY_AS_FAST;
        // The program may request the producer warps and the groups of the best leaf.
        let has_roles = |of: &ExplicitMemoryChoices| of.producers == taken.producers && of.ping_pong == taken.ping_pong;
        let is_near = |leaf: &&SolvedLeaf| {
            leaf.choices.dots != taken.dots && has_roles(&leaf.choices) && leaf.cycles.is_some_and(|c| c <= most)
        };
        let mut near: Vec<&SolvedLeaf> = self.solved.iter().filter(is_near).collect();
        near.sort_by(|one, other| one.cycles.unwrap_or(most).total_cmp(&other.cycles.unwrap_or(most)));
        let near: Vec<ExplicitMemoryChoices> = near.iter().take(MAX_STARTS).map(|leaf| leaf.choices.clone()).collect();
        for (choices, stores) in
            near.iter().flat_map(|choices| tree.register_stores.iter().map(move |stores| (choices, stores)))
        {
            self.leaf(&with_other_conversions(choices, stores));
        }
    }

    /// Solves the best leaf (complete choice) again with a layout conversion before each of the copies `stores` from
    /// registers that has none, and without the conversion of the others, and keeps it if it is faster.
    fn try_conversion(&mut self, stores: &[Op]) {
        let Some((_, best)) = &self.best else { return };
        let choices = with_other_conversions(best, stores);
        self.leaf(&choices);
    }
}

/// Returns the same choices with a layout conversion before each of the copies `stores` from registers that has none,
/// and without the conversion of the others.
fn with_other_conversions(choices: &ExplicitMemoryChoices, stores: &[Op]) -> ExplicitMemoryChoices {
    let mut choices = choices.clone();
    for store in stores {
        let choice = choices.copies.entry(*store).or_default();
        choice.converted = !choice.converted;
    }
    choices
}

//! Warp partitions of dots: first one instruction and one partition for all dots, last other partitions of single dots
//! and warps that may divide N.

use super::Search;

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with one instruction and one warp partition for all dots, for each
    /// of them, also with a single buffer for the tensors of each loop, and keeps the fastest. Which instruction and
    /// partition are fastest depends on how loops fill their tensors.
    pub(super) fn try_warps(&mut self) {
        let (tree, Some((_, best))) = (self.tree, &self.best) else { return };
        let best = best.clone();
        let loops = || tree.loops.iter();
        let single = loops().try_fold(best.clone(), |choices, open| self.with_single_buffer(&choices, open));
        let single = single.filter(|single| *single != best);
        for dots in tree.dots_by_warps(&best) {
            self.try_dots(dots.clone());
            if let Some(single) = &single {
                self.try_choices(&self.with_dots(single, dots));
            }
        }
    }

    /// Tries the candidates of dots that are tried last: first warps that may divide N, then other warp partitions, as
    /// long as these gain.
    pub(super) fn try_deferred_candidates(&mut self) {
        self.try_deferred(false);
        while self.try_deferred(true) {}
    }

    /// Solves the best leaf (complete choice) again with deferred candidates of dots, of other warp partitions or not,
    /// and keeps the fastest; if one is faster, dots, stores and loops are chosen again. Returns whether one is.
    fn try_deferred(&mut self, partitions: bool) -> bool {
        self.extend_limit();
        let (tree, Some((leaf, best))) = (self.tree, &self.best) else { return false };
        let (before, choices) = (leaf.prediction.cycles, best.clone());
        self.tried_dots.clear();
        tree.deferred_candidates(&choices, partitions).into_iter().for_each(|dots| self.try_dots(dots));
        let is_faster = self.best_cycles() < Some(before);
        if is_faster {
            self.extend_limit();
            self.tune_dots_of_loops();
            self.tune_stores();
            self.tune_loops();
        }
        is_faster
    }
}

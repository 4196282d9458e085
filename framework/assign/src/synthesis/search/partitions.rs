//! The last part of the search: candidates of dots whose warps divide N, and other warp partitions of dots.

use super::Search;
use tilewright_tile::Op;
use tilewright_tile::transform::explicit::DotChoice;

impl Search<'_, '_> {
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
        if partitions {
            self.tune_other_partitions();
        }
        let is_faster = self.best_cycles() < Some(before);
        if is_faster {
            self.tune_dots_of_loops();
            self.tune_stores();
            self.tune_loops();
        }
        is_faster
    }

    /// Chooses stores, loops and the dots that use results of others from the fastest leaf (complete choice) with
    /// another warp partition of each group of dots, and keeps the fastest.
    fn tune_other_partitions(&mut self) {
        let warps = |choice: &DotChoice| (choice.partition, choice.warps_along_m);
        for group in &self.tree.dots {
            let is_of_group = |dot: Op| group.ops.iter().any(|(op, _)| *op == dot);
            let starts = self.find_starts(1, |dot, one, other| !is_of_group(dot) || warps(one) == warps(other));
            starts.iter().for_each(|choices| self.tune_from(choices));
        }
    }
}

//! Two groups of consumer warps that alternate between the tiles of a loop around a loop with a producer warp
//! (*ping-pong across tiles*): one group multiplies while the other converts and stores its result.

use super::Search;
use crate::synthesis::requests::PingPongRequest;
use crate::synthesis::tree::Staged;
use tilewright_target::Optimization;
use tilewright_tile::transform::TILE_GROUPS;

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with groups of consumers that alternate between the iterations of
    /// the loop around a loop, and keeps it if it is faster, or if the program requests it. Without a request, the
    /// iterations of the loop around must be known to have no order.
    pub(super) fn try_tile_groups(&mut self, open: &Staged) {
        let request = self.ping_pong_request(open);
        let is_explicit = request == Some(PingPongRequest::AcrossTiles);
        let is_open = request.is_none()
            && self.module.functions.first().is_some_and(|function| open.of.has_unordered_tiles(function));
        let is_enabled = self.config.context.enables(Optimization::PingPong)
            && self.config.context.enables(Optimization::ProducerWarps)
            && self.options.task_mapping
            && self.options.pipeline;
        let is_allowed = is_enabled && open.produced != Some(false);
        if !(is_explicit || is_open && is_allowed) {
            return;
        }
        let found = match is_allowed {
            true => self.solve_tile_groups(open, is_explicit),
            false => Err("producer warps or ping-pong are forbidden".to_owned()),
        };
        if let (Err(reason), true) = (found, is_explicit) {
            self.reject_request(open, "tw.ping_pong = \"tiles\"", reason);
        }
    }

    /// Solves the best leaf (complete choice) again with groups of consumers, and keeps it if it is faster or
    /// `is_explicit`. The error is the reason why no such leaf has a solution.
    fn solve_tile_groups(&mut self, open: &Staged, is_explicit: bool) -> Result<(), String> {
        let function = self.module.functions.first();
        function.map_or(Ok(()), |function| open.of.check_tile_groups(function))?;
        let mut choices = self
            .with_producer(open, TILE_GROUPS)
            .ok_or("a producer warp must issue all copies to shared memory, and the block needs both groups' warps")?;
        choices.ping_pong.remove(&open.of.op);
        let before = self.best.take();
        self.leaf_that_fits(&choices);
        self.tune_stages(open);
        if let Some(fitting) = self.best.as_ref().map(|(_, choices)| choices.clone()) {
            self.try_reallocation(open, &fitting);
        }
        let has_solution = self.best.is_some();
        let is_faster = self.best_cycles() < before.as_ref().map(|(leaf, _)| leaf.prediction.cycles);
        // The code exists once for each group, so that the groups' spills would not be those of one.
        let limit = u64::from(self.config.context.target.limits.registers_per_lane);
        let spills = self.best.as_ref().is_some_and(|(leaf, _)| leaf.prediction.registers > limit);
        if !has_solution || !(is_explicit || is_faster && !spills) {
            self.best = before;
        }
        has_solution.then_some(()).ok_or_else(|| "no choice for its loops has a solution".to_owned())
    }
}

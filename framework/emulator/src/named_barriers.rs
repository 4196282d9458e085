//! The named barriers of a block: the arrivals of warps that do not wait, and the release of warps that do.

use std::collections::BTreeMap;

use super::shared::{Clock, join};
use super::warp::{Pause, Warp};

/// The warps that have arrived at the named barriers of a block without a wait, since each barrier was last complete.
#[derive(Default)]
pub(super) struct NamedBarriers {
    /// For each barrier number, and the number of warps that the arrivals state, the number of arrivals and their
    /// merged clock.
    arrivals: BTreeMap<(u32, u32), (usize, Clock)>,
}

impl NamedBarriers {
    /// Forgets all arrivals, for the next block.
    pub(super) fn restart(&mut self) {
        self.arrivals.clear();
    }

    /// Lets the warps continue that only arrive, and those that wait at a barrier that all its warps have reached:
    /// sets their entries of `pauses` to `None`. Returns whether any warp can continue.
    pub(super) fn release(&mut self, warps: &mut [Warp], pauses: &mut [Option<Pause>]) -> bool {
        let mut any = false;
        for (warp, pause) in warps.iter().zip(pauses.iter_mut()) {
            let Some(Pause::Arrives { number, warps, .. }) = *pause else { continue };
            let (count, clock) = self.arrivals.entry((number, warps)).or_default();
            *count += 1;
            join(clock, &warp.named_barrier_clock());
            *pause = None;
            any = true;
            if *count == warps as usize {
                self.arrivals.remove(&(number, warps));
            }
        }
        for first in 0..pauses.len() {
            let Some(Pause::Group { number, warps: expected, .. }) = pauses[first] else { continue };
            any |= self.complete((number, expected), warps, pauses);
        }
        any
    }

    /// Releases the warps that wait at a barrier, by its number and number of warps, if all have arrived.
    fn complete(&mut self, barrier: (u32, u32), warps: &mut [Warp], pauses: &mut [Option<Pause>]) -> bool {
        let waits = |pause: &Option<Pause>| matches!(*pause, Some(Pause::Group { number, warps, .. }) if (number, warps) == barrier);
        let waiting: Vec<usize> = (0..pauses.len()).filter(|&warp| waits(&pauses[warp])).collect();
        let (arrivals, clock) = self.arrivals.get(&barrier).cloned().unwrap_or_default();
        if waiting.len() + arrivals != barrier.1 as usize {
            return false;
        }
        self.arrivals.remove(&barrier);
        let mut brought = clock;
        waiting.iter().for_each(|&warp| join(&mut brought, &warps[warp].named_barrier_clock()));
        for &warp in &waiting {
            warps[warp].join_named_barrier(&brought);
            pauses[warp] = None;
        }
        true
    }
}

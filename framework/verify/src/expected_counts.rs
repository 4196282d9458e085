//! Predicted counts of a launch, and the comparison with the executed ones.

use tilewright_kernel::Counts;
use tilewright_plan::movement::CountLowerBounds;
use tilewright_plugin::{LaunchStats, SectorCounts};

use super::check_failure::CheckFailure;

/// The counts that a plan predicts for a launch, and how they are compared with those of an execution.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedCounts {
    /// Predicted counts of the warp that executes the most operations.
    pub planned: Counts,
    /// A function that clears those counts of an execution that are not compared with `planned`, for example because
    /// the kernel's code that reads out the results adds to them.
    pub compared: fn(Counts) -> Counts,
    /// Whether an execution may take more shared-memory wavefronts for loads than planned, because their addresses
    /// depend on data.
    pub may_conflict: bool,
    /// Lower bound of the counts over all plans; an execution with fewer fails the check.
    pub bound: CountLowerBounds,
    /// Predicted sectors for up to two groups of global-memory accesses, such as loads and stores; `None` for a group
    /// that is not compared.
    pub sectors: [Option<PlannedSectorCount>; 2],
}

/// The predicted number of sectors for a group of global-memory accesses.
#[derive(Debug, Clone, Copy)]
pub struct PlannedSectorCount {
    /// Description of the accesses, for failures.
    pub accesses: &'static str,
    /// Predicted number of sectors.
    pub planned: u64,
    /// A function that selects the number of sectors that these accesses touched in an execution.
    pub executed: fn(&SectorCounts) -> u64,
}

impl ExpectedCounts {
    /// Expects that the counts of one warp equal `planned`, all of them, and that none is below the lower bound
    /// `bound`.
    pub(crate) fn all(planned: Counts, bound: CountLowerBounds) -> Self {
        Self { planned, compared: |counts| counts, may_conflict: false, bound, sectors: [None; 2] }
    }

    /// Expects these numbers of sectors for up to two groups of accesses, and compares no other counts.
    pub(crate) fn of_sectors(sectors: [Option<PlannedSectorCount>; 2]) -> Self {
        Self::all(Counts::default(), CountLowerBounds::default()).comparing(|_| Counts::default()).with_sectors(sectors)
    }

    pub(crate) fn comparing(self, compared: fn(Counts) -> Counts) -> Self {
        Self { compared, ..self }
    }

    pub(crate) fn with_sectors(self, sectors: [Option<PlannedSectorCount>; 2]) -> Self {
        Self { sectors, ..self }
    }

    /// Compares the predictions with the counts of a device; a device that does not count passes.
    ///
    /// # Errors
    /// [`CheckFailure::Counts`] if a count differs, [`CheckFailure::Bound`] if one is below its lower bound, and
    /// [`CheckFailure::Transactions`] if a number of sectors differs.
    pub fn check(&self, launched: &LaunchStats) -> Result<(), CheckFailure> {
        let Some(counts) = launched.counts else { return Ok(()) };
        let mut executed = (self.compared)(counts);
        if self.may_conflict && executed.wavefronts_loaded > self.planned.wavefronts_loaded {
            executed.wavefronts_loaded = self.planned.wavefronts_loaded;
        }
        let agree = match launched.sectors {
            Some(_) => executed == self.planned,
            None => kept_by_code_generators(executed) == kept_by_code_generators(self.planned),
        };
        if !agree {
            let (planned, executed) = (Box::new(self.planned), Box::new((self.compared)(counts)));
            return Err(CheckFailure::Counts { planned, executed });
        }
        launched
            .sectors
            .map_or(Ok(()), |sectors| self.check_bound(&executed).and_then(|()| self.check_sectors(&sectors)))
    }

    fn check_bound(&self, executed: &Counts) -> Result<(), CheckFailure> {
        let compared = [
            ("wavefronts stored", executed.wavefronts_stored, self.bound.wavefronts_stored),
            ("wavefronts loaded", executed.wavefronts_loaded, self.bound.wavefronts_loaded),
            ("shuffles", executed.shuffles, self.bound.shuffles),
        ];
        match compared.into_iter().find(|(_, executed, bound)| executed < bound) {
            None => Ok(()),
            Some((what, executed, bound)) => Err(CheckFailure::Bound { what, executed, bound }),
        }
    }

    fn check_sectors(&self, sectors: &SectorCounts) -> Result<(), CheckFailure> {
        for PlannedSectorCount { accesses: what, planned, executed } in self.sectors.into_iter().flatten() {
            let executed = executed(sectors);
            if executed != planned {
                return Err(CheckFailure::Transactions { what, planned, executed });
            }
        }
        Ok(())
    }
}

/// Keeps the counts that code generators do not change, and clears the others: code generators choose permutes and
/// selects, and the number of accesses into which they split a move.
fn kept_by_code_generators(counts: Counts) -> Counts {
    let Counts { shuffles, matrix_stores, matrix_loads, wavefronts_stored, wavefronts_loaded, .. } = counts;
    let Counts { barriers, warp_barriers, .. } = counts;
    Counts {
        shuffles,
        matrix_stores,
        matrix_loads,
        wavefronts_stored,
        wavefronts_loaded,
        barriers,
        warp_barriers,
        ..Counts::default()
    }
}

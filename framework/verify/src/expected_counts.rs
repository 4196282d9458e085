//! What a launch is predicted to count, and which of it is compared.

use tilewright_kernel::Counts;
use tilewright_plan::movement::Bound;
use tilewright_plugin::{Launched, Sectors};

use super::check_failure::CheckFailure;

/// Predicted counts of a launch.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedCounts {
    /// What the busiest warp executes, of the counts that are compared.
    pub planned: Counts,
    /// Keeps of executed counts those that are compared: reading results out may add others.
    pub compared: fn(Counts) -> Counts,
    /// Whether loads may take more wavefronts than planned, since their addresses are data.
    pub may_conflict: bool,
    /// What no plan can go below.
    pub bound: Bound,
    /// Sectors of global memory, of those accesses that are compared.
    pub sectors: [Option<PlannedSectors>; 2],
}

/// Sectors of global memory that a plan predicts of some accesses.
#[derive(Debug, Clone, Copy)]
pub struct PlannedSectors {
    /// The accesses, in words for a failure.
    pub accesses: &'static str,
    /// How many sectors they touch.
    pub planned: u64,
    /// Which count of the launch that is.
    pub executed: fn(&Sectors) -> u64,
}

impl ExpectedCounts {
    /// Every count of a plan, and its bound.
    pub(crate) fn all(planned: Counts, bound: Bound) -> Self {
        Self { planned, compared: |counts| counts, may_conflict: false, bound, sectors: [None; 2] }
    }

    /// Only sectors.
    pub(crate) fn of_sectors(sectors: [Option<PlannedSectors>; 2]) -> Self {
        Self::all(Counts::default(), Bound::default()).comparing(|_| Counts::default()).with_sectors(sectors)
    }

    pub(crate) fn comparing(self, compared: fn(Counts) -> Counts) -> Self {
        Self { compared, ..self }
    }

    pub(crate) fn with_sectors(self, sectors: [Option<PlannedSectors>; 2]) -> Self {
        Self { sectors, ..self }
    }

    /// Compares what a device counted, if it counts.
    ///
    /// # Errors
    /// [`CheckFailure`]: the first count that is another.
    pub fn check(&self, launched: &Launched) -> Result<(), CheckFailure> {
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
            ("exchanges", executed.exchanges, self.bound.exchanges),
        ];
        match compared.into_iter().find(|(_, executed, bound)| executed < bound) {
            None => Ok(()),
            Some((what, executed, bound)) => Err(CheckFailure::Bound { what, executed, bound }),
        }
    }

    fn check_sectors(&self, sectors: &Sectors) -> Result<(), CheckFailure> {
        for PlannedSectors { accesses: what, planned, executed } in self.sectors.into_iter().flatten() {
            let executed = executed(sectors);
            if executed != planned {
                return Err(CheckFailure::Transactions { what, planned, executed });
            }
        }
        Ok(())
    }
}

/// The counts that compiling does not change. Permutes and selects are the code generator's, and so is how many accesses
/// move what a plan moves by several.
fn kept_by_code_generators(counts: Counts) -> Counts {
    let Counts { exchanges, matrix_stores, matrix_loads, wavefronts_stored, wavefronts_loaded, .. } = counts;
    let Counts { barriers, warp_barriers, .. } = counts;
    Counts {
        exchanges,
        matrix_stores,
        matrix_loads,
        wavefronts_stored,
        wavefronts_loaded,
        barriers,
        warp_barriers,
        ..Counts::default()
    }
}

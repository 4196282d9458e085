//! Counts of global-memory sectors: those that the accesses of warps touch, and those that leave the multiprocessor.

use std::collections::HashMap;
use std::ops::Range;

use tilewright_target::{Direction, Global};

/// How an access of global memory uses the first-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachePath {
    /// A load allocates the sectors that it misses. A store writes through: all its sectors go to the second-level
    /// cache, and those that the first-level cache holds stay there with the new contents.
    Cached,
    /// The access passes the first-level cache; what it writes is no longer valid there.
    Bypassed,
    /// As `Bypassed`; then the whole cache is invalid, since the access acquires what other multiprocessors have written.
    Acquired,
}

/// Counts of global-memory sectors of a launch, and the first-level cache of the multiprocessor that runs a block.
#[derive(Debug)]
pub(crate) struct GlobalTraffic {
    sector_bytes: u64,
    cache: Option<FirstLevelCache>,
    /// Number of sectors that loads and stores touch, summed over all accesses.
    pub(super) touched: [u64; 2],
    /// Number of sectors that loads and stores transfer between the multiprocessor and the second-level cache.
    pub(super) beyond_cache: [u64; 2],
}

impl GlobalTraffic {
    /// Starts the counts of a launch whose blocks have `shared_bytes` bytes of shared memory each.
    pub(super) fn new(global: &Global, shared_bytes: u64) -> Self {
        let sector_bytes = u64::from(global.transaction_bytes.max(1));
        let cache = global.unified_cache.as_ref().map(|unified| {
            let line_bytes = u64::from(unified.line_bytes).max(sector_bytes);
            let lines = u64::from(unified.bytes).saturating_sub(shared_bytes) / line_bytes;
            FirstLevelCache::new(lines as usize, line_bytes / sector_bytes)
        });
        Self { sector_bytes, cache, touched: [0; 2], beyond_cache: [0; 2] }
    }

    /// Counts one access of the address ranges `pieces`; a sector that several of them touch counts once.
    pub(crate) fn count(
        &mut self,
        direction: Direction,
        path: CachePath,
        pieces: impl IntoIterator<Item = Range<u64>>,
    ) {
        let mut sectors: Vec<u64> = pieces
            .into_iter()
            .flat_map(|piece| piece.start / self.sector_bytes..piece.end.div_ceil(self.sector_bytes))
            .collect();
        sectors.sort_unstable();
        sectors.dedup();
        let index = usize::from(direction == Direction::Store);
        self.touched[index] += sectors.len() as u64;
        if let Some(cache) = &mut self.cache {
            match (direction, path) {
                (_, CachePath::Acquired) => cache.lines.clear(),
                (Direction::Load, CachePath::Cached) => sectors.retain(|&sector| !cache.load(sector)),
                (Direction::Store, CachePath::Bypassed) => sectors.iter().for_each(|&sector| cache.invalidate(sector)),
                _ => {}
            }
        }
        self.beyond_cache[index] += sectors.len() as u64;
    }

    /// Invalidates the first-level cache: another block begins on another multiprocessor, or a warp acquires what other
    /// multiprocessors have written.
    pub(crate) fn invalidate(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.lines.clear();
        }
    }
}

/// A fully associative cache of lines, each of several sectors that are loaded separately. The line that was used least
/// recently is replaced.
#[derive(Debug)]
struct FirstLevelCache {
    capacity: usize,
    sectors_per_line: u64,
    lines: HashMap<u64, Line>,
    /// Number of loads so far, the time of the last use of a line.
    clock: u64,
}

#[derive(Debug, Default)]
struct Line {
    /// Mask of the sectors that are valid.
    valid: u32,
    last_use: u64,
}

impl FirstLevelCache {
    fn new(capacity: usize, sectors_per_line: u64) -> Self {
        Self { capacity, sectors_per_line, lines: HashMap::new(), clock: 0 }
    }

    /// Loads a sector, and returns whether it was in the cache.
    fn load(&mut self, sector: u64) -> bool {
        if self.capacity == 0 {
            return false;
        }
        self.clock += 1;
        let (line, bit) = (sector / self.sectors_per_line, 1 << (sector % self.sectors_per_line));
        if self.lines.len() == self.capacity
            && !self.lines.contains_key(&line)
            && let Some(oldest) = self.lines.iter().min_by_key(|(_, line)| line.last_use).map(|(&line, _)| line)
        {
            self.lines.remove(&oldest);
        }
        let line = self.lines.entry(line).or_default();
        let is_hit = line.valid & bit != 0;
        line.valid |= bit;
        line.last_use = self.clock;
        is_hit
    }

    fn invalidate(&mut self, sector: u64) {
        if let Some(line) = self.lines.get_mut(&(sector / self.sectors_per_line)) {
            line.valid &= !(1 << (sector % self.sectors_per_line));
        }
    }
}

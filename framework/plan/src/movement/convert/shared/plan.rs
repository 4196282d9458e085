//! Plans conversions through scratch memory in shared memory.

use super::coordinates::Coordinates;
use super::scratch::Scratch;
use crate::movement::bound;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::convert::plan::{ConversionKind, ConversionPlan, Steps};
use crate::movement::price::{occupied_cycles, predict_cycles};
use crate::movement::tile::{Accesses, LocatedAccessor, Memory, PlacedAccessor, Reach, Tile, TileStats};
use crate::movement::{ConversionProblem, PlanContext};
use smallvec::SmallVec;
use std::cmp::Ordering;
use tilewright_kernel::{CollectiveScope, Counts};
use tilewright_layout::f2::multiply_vector;
use tilewright_target::{Direction, TargetDescription};

pub(crate) fn plan(conversion: &ConversionProblem, context: &PlanContext<'_>) -> Result<ConversionPlan, String> {
    if conversion.src.blocks != conversion.dst.blocks {
        return Err("elements cross blocks".to_owned());
    }
    let bound = bound::of_shared(conversion, context);
    let scratch = within(conversion, Reach::default(), &bound, context)?;
    let stats = scratch.stats(scratch.counts(context.target), bound, conversion.warps(), context.target);
    Ok(ConversionPlan { path: ConversionKind::Shared, stats, steps: Steps::Scratch(Box::new(scratch)) })
}

/// Plans the stores of the source's registers and the loads of the destination's registers, through the shared memory
/// of the blocks that `reach` covers.
pub(crate) fn within(
    conversion: &ConversionProblem,
    reach: Reach,
    bound: &bound::CountLowerBounds,
    context: &PlanContext<'_>,
) -> Result<Scratch, String> {
    let target = context.target;
    let coordinates = Coordinates::new(conversion, context)?;
    let src = coordinates.located(conversion, &conversion.src, Direction::Store);
    let dst = LocatedAccessor { reach, ..coordinates.located(conversion, &conversion.dst, Direction::Load) };
    let plain = |direction| Tile::plain(target, direction, conversion.element, conversion.lane_bits);
    let (stores, loads) = (plain(Direction::Store), plain(Direction::Load));
    let sides = Sides { conversion, coordinates: &coordinates, src: &src, dst: &dst, stores, loads, target };
    let fewest_accesses = [&src, &dst].map(|side| bound::fewest_accesses(context, side.direction, side.moved_bits()));
    let mut best = Best { chosen: None, bound: *bound, fewest_accesses };
    best.weigh_all(&sides, sides.plain_layouts(), &[]);
    if !best.reaches_bound() {
        let tiles = Tile::of_rows(context.instructions, conversion.lane_bits);
        best.weigh_all(&sides, sides.tiled_layouts(&tiles), &tiles);
    }
    let none = "the target has no shared-memory access of the element's width";
    let (layout, store, load) = best.chosen.ok_or(none)?;
    sides.scratch(store, load, &layout).ok_or_else(|| none.to_owned())
}

/// The source and the destination of a conversion, in coordinates of the scratch memory: lanes store the source there
/// and load the destination from there.
pub(super) struct Sides<'a> {
    pub(super) conversion: &'a ConversionProblem,
    pub(super) coordinates: &'a Coordinates,
    pub(super) src: &'a LocatedAccessor,
    pub(super) dst: &'a LocatedAccessor,
    /// Plain store accesses of each width, the widest first.
    stores: SmallVec<[Tile<'a>; 5]>,
    loads: SmallVec<[Tile<'a>; 5]>,
    pub(super) target: &'a TargetDescription,
}

/// The best scratch layout so far, with the counts of its stores and loads.
pub(super) struct Best {
    chosen: Option<(ScratchLayout, TileStats, TileStats)>,
    bound: bound::CountLowerBounds,
    /// The fewest stores, and the fewest loads, that a warp can issue in any scratch layout.
    fewest_accesses: [u64; 2],
}

impl Best {
    /// Weighs layouts, each once, until one reaches the lower bounds.
    fn weigh_all(&mut self, sides: &Sides<'_>, layouts: impl Iterator<Item = ScratchLayout>, tiles: &[Tile<'_>]) {
        let mut seen: Vec<Vec<u64>> = Vec::new();
        for layout in layouts {
            if !seen.contains(&layout.columns) {
                seen.push(layout.columns.clone());
                self.weigh(sides, layout, tiles);
            }
            if self.reaches_bound() {
                break;
            }
        }
    }

    fn weigh(&mut self, sides: &Sides<'_>, layout: ScratchLayout, tiles: &[Tile<'_>]) {
        let memory = Memory::new(&layout.columns, &[]);
        let cycles = |stats: &TileStats, direction| cycles_of(stats, direction, sides.target);
        let time = |store: &TileStats, load: &TileStats| {
            (cycles(store, Direction::Store) + cycles(load, Direction::Load), store.issued() + load.issued())
        };
        let known = self.chosen.as_ref().map(|(_, store, load)| time(store, load));
        let Some(store) = sides.stats(sides.src, &sides.stores, &memory, tiles) else { return };
        if known.is_some_and(|(known, _)| cycles(&store, Direction::Store) > known) {
            return;
        }
        let Some(load) = sides.stats(sides.dst, &sides.loads, &memory, tiles) else { return };
        if known.is_none_or(|known| time(&store, &load) < known) {
            self.chosen = Some((layout, store, load));
        }
    }

    /// Whether the best layout so far reaches the lower bounds of wavefronts and of accesses without byte permutes, so
    /// that no layout can be better.
    fn reaches_bound(&self) -> bool {
        let bound = &self.bound;
        self.chosen.as_ref().is_some_and(|(_, store, load)| {
            let wavefronts =
                store.wavefronts() <= bound.wavefronts_stored && load.wavefronts() <= bound.wavefronts_loaded;
            let accesses = store.issued() <= self.fewest_accesses[0] && load.issued() <= self.fewest_accesses[1];
            wavefronts && accesses && store.permutes == 0 && load.permutes == 0
        })
    }
}

impl Sides<'_> {
    /// Returns the counts of the cheapest accesses of one side in a memory layout: by the widest plain accesses that
    /// fit, or by an instruction of `tiles`. `None` if no access fits.
    fn stats(
        &self,
        side: &LocatedAccessor,
        plain: &[Tile<'_>],
        memory: &Memory<'_>,
        tiles: &[Tile<'_>],
    ) -> Option<TileStats> {
        let placed = PlacedAccessor::new(side, memory, self.target);
        let plain = plain.iter().find_map(|tile| placed.by(tile));
        let own = tiles.iter().filter(|tile| tile.direction == side.direction);
        let tiled = own.filter_map(|tile| placed.by(tile));
        let time = |stats: &TileStats| (cycles_of(stats, side.direction, self.target), stats.issued());
        plain.into_iter().chain(tiled).min_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(Ordering::Equal))
    }

    /// Builds the plan of the conversion from this scratch layout and the counts of its stores and loads; `None` if the
    /// registers of a lane do not fill whole accesses.
    fn scratch(&self, store: TileStats, load: TileStats, layout: &ScratchLayout) -> Option<Scratch> {
        let (conversion, coordinates) = (self.conversion, self.coordinates);
        let memory = Memory::new(&layout.columns, &[]);
        let accesses = |stats, side| Accesses::new(stats, &PlacedAccessor::new(side, &memory, self.target));
        let store = accesses(store, self.src)?;
        let shown = |&column: &u64| multiply_vector(&coordinates.basis, column);
        Some(Scratch {
            lane_bits: conversion.lane_bits,
            bytes: conversion.element_bytes() << coordinates.kept,
            scope: scope(conversion, store.stats.idle),
            swizzle: ScratchLayout { columns: layout.columns.iter().map(shown).collect(), ..layout.clone() },
            rounds: self.src.rounds.len() as u32,
            store,
            load: accesses(load, self.dst)?,
        })
    }
}

/// Returns the cycles of the stores, or of the loads, of one warp without their latency, with the byte permutes that pack
/// or unpack its registers.
fn cycles_of(stats: &TileStats, direction: Direction, target: &TargetDescription) -> f64 {
    let (issued, wavefronts, permutes) = (stats.issued(), stats.wavefronts(), stats.permutes);
    let packing = Counts { permutes, ..Counts::default() };
    let counts = match direction {
        Direction::Store => Counts { shared_stores: issued, wavefronts_stored: wavefronts, ..packing },
        Direction::Load => Counts { shared_loads: issued, wavefronts_loaded: wavefronts, ..packing },
    };
    occupied_cycles(&counts, 1, target)
}

/// Returns the scope of the barrier between stores and loads: a warp barrier suffices if no warp reads elements that
/// another warp stored. `idle` is the mask of the thread bits whose threads do not store.
pub(super) fn scope(conversion: &ConversionProblem, idle: u64) -> CollectiveScope {
    let lanes = conversion.lane_mask();
    if stays_in_warps(conversion) && idle & !lanes == 0 { CollectiveScope::Warp } else { CollectiveScope::Block }
}

/// Whether every warp holds all elements that its threads need.
pub(crate) fn stays_in_warps(conversion: &ConversionProblem) -> bool {
    conversion.origin.as_ref().is_some_and(|origin| !origin.crosses_warps(conversion.lane_mask()))
}

/// Returns a lower bound of the cycles of all plans through shared memory: the fewest accesses, and a block barrier if
/// elements cross warps.
pub(crate) fn cycles_lower_bound(conversion: &ConversionProblem, context: &PlanContext<'_>) -> f64 {
    let barriers = u64::from(!stays_in_warps(conversion));
    let counts = Counts { barriers, ..bound::of_shared(conversion, context).least_counts() };
    predict_cycles(&counts, conversion.warps(), 1, context.target)
}

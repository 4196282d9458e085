//! Plans conversions through scratch in shared memory.

use super::coordinates::Coordinates;
use super::scratch::Scratch;
use crate::movement::bound;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::convert::plan::{Path, Plan, Steps};
use crate::movement::price::slots;
use crate::movement::tile::{Accesses, Located, Memory, Placed, Reach, Tile, TileStats};
use crate::movement::{Conversion, PlanContext};
use smallvec::SmallVec;
use tilewright_kernel::{Counts, Scope};
use tilewright_layout::f2::multiply;
use tilewright_target::{Direction, TargetDescription};

pub(crate) fn plan(conversion: &Conversion, context: &PlanContext<'_>) -> Result<Plan, String> {
    if conversion.src.blocks != conversion.dst.blocks {
        return Err("elements cross blocks".to_owned());
    }
    let bound = bound::of_shared(conversion, context);
    let scratch = within(conversion, Reach::default(), &bound, context)?;
    let stats = scratch.stats(scratch.counts(context.target), bound, conversion.warps(), context.target);
    Ok(Plan { path: Path::Shared, stats, steps: Steps::Scratch(Box::new(scratch)) })
}

/// What goes through the memory of a block: the source's registers and threads store, the destination's load, of
/// as many blocks as they reach.
pub(crate) fn within(
    conversion: &Conversion,
    reach: Reach,
    bound: &bound::Bound,
    context: &PlanContext<'_>,
) -> Result<Scratch, String> {
    let target = context.target;
    let coordinates = Coordinates::new(conversion, context)?;
    let src = coordinates.located(conversion, &conversion.src, Direction::Store);
    let dst = Located { reach, ..coordinates.located(conversion, &conversion.dst, Direction::Load) };
    let plain = |direction| Tile::plain(target, direction, conversion.element, conversion.lane_bits);
    let (stores, loads) = (plain(Direction::Store), plain(Direction::Load));
    let sides = Sides { conversion, coordinates: &coordinates, src: &src, dst: &dst, stores, loads, target };
    let mut best = Best { chosen: None, bound: *bound, access_slots: context.access_slots };
    for layout in sides.plain_layouts() {
        best.weigh(&sides, layout, &[]);
        if best.meets_bound() {
            break;
        }
    }
    if !best.meets_bound() {
        let tiles = Tile::of_rows(context.instructions, conversion.lane_bits);
        sides.tiled_layouts(&tiles).into_iter().for_each(|layout| best.weigh(&sides, layout, &tiles));
    }
    let none = "the target has no access of the element's width to shared memory";
    let (layout, store, load) = best.chosen.ok_or(none)?;
    sides.scratch(store, load, &layout).ok_or_else(|| none.to_owned())
}

/// Both sides, in coordinates.
pub(super) struct Sides<'a> {
    pub(super) conversion: &'a Conversion,
    pub(super) coordinates: &'a Coordinates,
    pub(super) src: &'a Located,
    pub(super) dst: &'a Located,
    /// Plain accesses, the widest first.
    stores: SmallVec<[Tile<'a>; 5]>,
    loads: SmallVec<[Tile<'a>; 5]>,
    pub(super) target: &'a TargetDescription,
}

/// The best layout so far, with the figures of its stores and loads.
pub(super) struct Best {
    chosen: Option<(ScratchLayout, TileStats, TileStats)>,
    bound: bound::Bound,
    /// As in the means.
    access_slots: f64,
}

impl Best {
    fn weigh(&mut self, sides: &Sides<'_>, layout: ScratchLayout, tiles: &[Tile<'_>]) {
        let memory = Memory::new(&layout.columns, &[]);
        let store = sides.stats(sides.src, &sides.stores, &memory, tiles);
        let load = sides.stats(sides.dst, &sides.loads, &memory, tiles);
        let (Some(store), Some(load)) = (store, load) else { return };
        let price = |store: &TileStats, load: &TileStats| {
            let (stored, loaded) = (store.wavefronts(), load.wavefronts());
            let table = &sides.target.costs;
            let cycles = stored as f64 * table.shared_store_wavefront.cycles
                + loaded as f64 * table.shared_load_wavefront.cycles;
            let accesses = store.issued() + load.issued();
            // Of as many wavefronts the fewer accesses: each is issued, and addressed.
            ((stored + loaded) as f64 + self.access_slots * accesses as f64, cycles, accesses)
        };
        let known = self.chosen.as_ref().map(|(_, store, load)| price(store, load));
        if known.is_none_or(|known| price(&store, &load) < known) {
            self.chosen = Some((layout, store, load));
        }
    }

    /// Whether no layout can be better.
    fn meets_bound(&self) -> bool {
        let bound = &self.bound;
        self.access_slots == 0.0
            && self.chosen.as_ref().is_some_and(|(_, store, load)| {
                store.wavefronts() <= bound.wavefronts_stored && load.wavefronts() <= bound.wavefronts_loaded
            })
    }
}

impl Sides<'_> {
    /// The figures of a side by the best of the widest plain accesses and the given tiles.
    fn stats(&self, side: &Located, plain: &[Tile<'_>], memory: &Memory<'_>, tiles: &[Tile<'_>]) -> Option<TileStats> {
        let placed = Placed::new(side, memory, self.target);
        let plain = plain.iter().find_map(|tile| placed.by(tile));
        let own = tiles.iter().filter(|tile| tile.direction == side.direction);
        let tiled = own.filter_map(|tile| placed.by(tile));
        plain.into_iter().chain(tiled).min_by_key(|stats| (stats.wavefronts(), stats.issued()))
    }

    /// What goes through a layout by these accesses.
    fn scratch(&self, store: TileStats, load: TileStats, layout: &ScratchLayout) -> Option<Scratch> {
        let (conversion, coordinates) = (self.conversion, self.coordinates);
        let memory = Memory::new(&layout.columns, &[]);
        let accesses = |stats, side| Accesses::new(stats, &Placed::new(side, &memory, self.target));
        let store = accesses(store, self.src)?;
        let shown = |&column: &u64| multiply(&coordinates.basis, column);
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

/// Warps need to wait for each other only where one reads what another stored.
pub(super) fn scope(conversion: &Conversion, idle: u64) -> Scope {
    let lanes = conversion.lane_mask();
    if stays_in_warps(conversion) && idle & !lanes == 0 { Scope::Warp } else { Scope::Block }
}

/// Whether every warp needs only what it holds itself.
pub(crate) fn stays_in_warps(conversion: &Conversion) -> bool {
    conversion.origin.as_ref().is_some_and(|origin| !origin.crosses_warps(conversion.lane_mask()))
}

/// Wavefront slots that no plan through shared memory can go below: what is moved, and a barrier.
pub(crate) fn least_slots(conversion: &Conversion, context: &PlanContext<'_>) -> f64 {
    let waits = Counts { barriers: u64::from(!stays_in_warps(conversion)), ..Counts::default() };
    bound::of_shared(conversion, context).slots() + slots(&waits)
}

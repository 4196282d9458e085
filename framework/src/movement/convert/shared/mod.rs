//! Conversions through shared memory: every element is stored once by one of those that hold it,
//! and loaded by all that want it, in one round or, where scratch is short, in several.

mod accesses;
mod coordinates;
mod emit;
mod layouts;
mod tile;

use crate::f2::{Columns, Solver, multiply};
use crate::kernel::{Counts, Element, Scope};
use crate::target::{Direction, TargetDescription};

use super::super::bound;
use super::super::price::cost;
use super::super::{Conversion, Means};
use super::plan::{Path, Plan, SharedBits, Steps};
use super::swizzle::Swizzle;
use accesses::{Accesses, Figures, Memory, figures};
pub(super) use coordinates::Reach;
use coordinates::{Coordinates, Located};
pub(super) use emit::{Loads, Stores};
use tile::Tile;

/// How data goes through scratch memory.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    element: Element,
    lane_bits: u32,
    bytes: u64,
    scope: Scope,
    swizzle: Swizzle,
    rounds: u32,
    store: Accesses,
    load: Accesses,
    /// For every bit of a destination register's number the register that is loaded for it.
    loaded_as: Columns,
}

pub(super) fn plan(conversion: &Conversion, means: &Means<'_>) -> Result<Plan, String> {
    if conversion.src.blocks != conversion.dst.blocks {
        return Err("elements cross blocks".to_owned());
    }
    let bound = bound::of_shared(conversion, means.target);
    let mut scratch = within(conversion, Reach::default(), &bound, means)?;
    scratch.scope = scope(conversion, scratch.store.idle());
    Ok(priced(conversion, scratch, bound, means.target))
}

/// What goes through the memory of a block, with barriers of the block: the source's registers and threads
/// store, the destination's load, of as many blocks as they reach.
pub(super) fn within(
    conversion: &Conversion,
    reach: Reach,
    bound: &bound::Bound,
    means: &Means<'_>,
) -> Result<Scratch, String> {
    let target = means.target;
    let coordinates = Coordinates::new(conversion, means)?;
    let src = coordinates.located(&conversion.src, Direction::Store);
    let dst = Located { reach, ..coordinates.located(&conversion.dst, Direction::Load) };
    let sides = Sides { conversion, coordinates: &coordinates, src: &src, dst: &dst, idle: idle(&src), target };
    let mut best = Best { chosen: None, bound: *bound };
    for layout in sides.plain_layouts() {
        best.weigh(&sides, layout, &[]);
        if best.meets_bound() {
            break;
        }
    }
    if !best.meets_bound() {
        let mut tiles = Tile::all(means.instructions);
        // Instructions reach the memory of their own block alone.
        tiles.retain(|tile| tile.direction == Direction::Store || !dst.reach.leaves);
        sides.tiled_layouts(&tiles).into_iter().for_each(|layout| best.weigh(&sides, layout, &tiles));
    }
    let none = "the target has no access of the element's width to shared memory";
    let (layout, store, load) = best.chosen.ok_or(none)?;
    Ok(scratch(conversion, &coordinates, (&src, store), (&dst, load), &layout))
}

/// Both sides, in coordinates.
struct Sides<'a> {
    conversion: &'a Conversion,
    coordinates: &'a Coordinates,
    src: &'a Located,
    dst: &'a Located,
    /// Thread bits of the source that only tell copies apart.
    idle: u64,
    target: &'a TargetDescription,
}

/// The best layout so far, with the figures of its stores and loads.
struct Best {
    chosen: Option<(Swizzle, Figures, Figures)>,
    bound: bound::Bound,
}

impl Best {
    fn weigh(&mut self, sides: &Sides<'_>, layout: Swizzle, tiles: &[Tile<'_>]) {
        let memory = Memory::new(&layout);
        let of = |side, idle| sides.figures(side, &memory, idle, tiles);
        let (Some(store), Some(load)) = (of(sides.src, sides.idle), of(sides.dst, 0)) else { return };
        let price = |store: &Figures, load: &Figures| {
            let (stored, loaded) = (store.wavefronts(), load.wavefronts());
            let table = &sides.target.costs;
            let cycles = stored as f64 * table.shared_store_wavefront.cycles
                + loaded as f64 * table.shared_load_wavefront.cycles;
            (stored + loaded, cycles)
        };
        let known = self.chosen.as_ref().map(|(_, store, load)| price(store, load));
        if known.is_none_or(|known| price(&store, &load) < known) {
            self.chosen = Some((layout, store, load));
        }
    }

    fn meets_bound(&self) -> bool {
        let bound = &self.bound;
        self.chosen.as_ref().is_some_and(|(_, store, load)| {
            store.wavefronts() <= bound.wavefronts_stored && load.wavefronts() <= bound.wavefronts_loaded
        })
    }
}

impl Sides<'_> {
    /// The figures of a side by the best of plain accesses and the given tiles.
    fn figures(&self, side: &Located, memory: &Memory<'_>, idle: u64, tiles: &[Tile<'_>]) -> Option<Figures> {
        let plain = figures(self.conversion, self.coordinates, side, memory, idle, self.target);
        let tiled = tiles
            .iter()
            .filter(|tile| tile.direction == side.direction)
            .filter_map(|tile| tile.figures(self.conversion, self.coordinates, side, memory, idle, self.target));
        plain.into_iter().chain(tiled).min_by_key(|figures| (figures.wavefronts(), figures.accesses))
    }
}

/// Thread bits that only tell copies apart: of the copies the first is stored.
fn idle(src: &Located) -> u64 {
    let columns: Columns = src.registers.iter().chain(&src.threads).copied().collect();
    Solver::new(&columns).free_columns() >> src.registers.len()
}

fn scratch(
    conversion: &Conversion,
    coordinates: &Coordinates,
    (src, store): (&Located, Figures),
    (dst, load): (&Located, Figures),
    layout: &Swizzle,
) -> Scratch {
    let memory = Memory::new(layout);
    let store = Accesses::new(store, coordinates, src, &memory);
    let load = Accesses::new(load, coordinates, dst, &memory);
    let registers = Solver::new(&dst.registers);
    let shown = |&column: &u64| multiply(&coordinates.basis, column);
    Scratch {
        element: conversion.element,
        lane_bits: conversion.lane_bits,
        bytes: conversion.element_bytes() << coordinates.kept,
        scope: Scope::Block,
        swizzle: Swizzle { columns: layout.columns.iter().map(shown).collect(), ..layout.clone() },
        rounds: coordinates.rounds,
        store,
        load,
        loaded_as: dst.registers.iter().map(|&column| registers.solve(column).unwrap_or(0)).collect(),
    }
}

/// Warps need to wait for each other only where one reads what another stored.
fn scope(conversion: &Conversion, idle: u64) -> Scope {
    let lanes = conversion.lane_mask();
    let own_warp = conversion.origin.as_ref().is_some_and(|origin| {
        let threads = origin.of_threads.iter().enumerate();
        threads.clone().all(|(bit, p)| p.thread & !lanes == (1u64 << bit) & !lanes)
            && origin.of_registers.iter().all(|p| p.thread & !lanes == 0)
    });
    if own_warp && idle & !lanes == 0 { Scope::Warp } else { Scope::Block }
}

fn priced(conversion: &Conversion, scratch: Scratch, bound: bound::Bound, target: &TargetDescription) -> Plan {
    let counts = scratch.counts(target);
    let stages = scratch.rounds();
    Plan {
        path: Path::Shared,
        counts,
        shared_bytes: scratch.bytes,
        cost: cost(&counts, conversion.warps(), stages, target),
        bound,
        above_bound: why_above(&counts, &bound, &scratch),
        steps: Steps::Scratch(Box::new(scratch)),
    }
}

fn why_above(counts: &Counts, bound: &bound::Bound, scratch: &Scratch) -> Option<String> {
    let mut reasons = Vec::new();
    let sides = [
        ("stores", counts.wavefronts_stored, bound.wavefronts_stored, &scratch.store),
        ("loads", counts.wavefronts_loaded, bound.wavefronts_loaded, &scratch.load),
    ];
    for (what, have, least, accesses) in sides {
        if have > least {
            let copies = if accesses.idle() & ((1 << scratch.lane_bits) - 1) == 0 {
                ""
            } else {
                ", and lanes that hold copies sit out: a share for each costs selects"
            };
            reasons.push(format!(
                "{what}: {have} wavefronts against {least}: each access moves {} bytes a lane in {} wavefronts{copies}",
                accesses.vector_elements() * u64::from(scratch.element.bits() / 8),
                accesses.figures.each
            ));
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

impl Scratch {
    pub(super) fn swizzle(&self) -> &Swizzle {
        &self.swizzle
    }

    pub(super) fn shared_bits(&self) -> SharedBits {
        let bits = |side: &Accesses| side.elements() * u64::from(self.element.bits());
        SharedBits { stored: bits(&self.store), loaded: bits(&self.load) }
    }

    /// How often scratch memory is filled.
    pub(super) fn rounds(&self) -> u64 {
        1 << self.rounds
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn element(&self) -> Element {
        self.element
    }

    pub(super) fn store(&self) -> &Accesses {
        &self.store
    }

    pub(super) fn load(&self) -> &Accesses {
        &self.load
    }

    pub(super) fn counts(&self, target: &TargetDescription) -> Counts {
        let (store, load) = (&self.store.figures, &self.load.figures);
        let barriers = 2 * self.rounds() - 1;
        let split = |side: &Figures| if side.by.is_some() { (0, side.accesses) } else { (side.accesses, 0) };
        let ((shared_stores, matrix_stores), (shared_loads, matrix_loads)) = (split(store), split(load));
        let mut counts = Counts {
            shared_stores,
            shared_loads,
            matrix_stores,
            matrix_loads,
            wavefronts_stored: store.wavefronts(),
            wavefronts_loaded: load.wavefronts(),
            ..Counts::default()
        };
        match self.scope {
            Scope::Warp if target.shared.warp_ordered => {}
            Scope::Warp => counts.warp_barriers = barriers,
            Scope::Block | Scope::Cluster => counts.barriers = barriers,
        }
        counts
    }
}

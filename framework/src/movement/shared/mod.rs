//! Conversions through shared memory: every element is stored once by one of those that hold it,
//! and loaded by all that want it, in one round or, where scratch is short, in several.

mod accesses;
mod coordinates;
mod emit;

use crate::f2::{Columns, Solver, Subspace, multiply};
use crate::kernel::{Counts, Element, Scope};
use crate::target::{Direction, TargetDescription};

use super::bound;
use super::plan::{Path, Plan, SharedBits, Steps};
use super::price::cost;
use super::swizzle;
use super::{Conversion, Means, Swizzle};
use accesses::{Accesses, Figures, Memory, figures};
use coordinates::{Coordinates, Located};

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
    let target = means.target;
    let coordinates = Coordinates::new(conversion, means)?;
    let src = coordinates.located(&conversion.src, Direction::Store);
    let dst = coordinates.located(&conversion.dst, Direction::Load);
    let bound = bound::of_shared(conversion, target);
    let idle = idle(&src);
    let mut best: Option<(Swizzle, Figures, Figures)> = None;
    for layout in Layouts::new(conversion, &coordinates, &src, &dst, target) {
        let memory = Memory::new(&layout);
        let of = |side, idle| figures(conversion, &coordinates, side, &memory, idle, target);
        let (Some(store), Some(load)) = (of(&src, idle), of(&dst, 0)) else { continue };
        let met = store.wavefronts() <= bound.wavefronts_stored && load.wavefronts() <= bound.wavefronts_loaded;
        let better = |(_, other_store, other_load): &(Swizzle, Figures, Figures)| {
            let key = |store: &Figures, load: &Figures| {
                let (stored, loaded) = (store.wavefronts(), load.wavefronts());
                let table = &target.costs;
                let cycles = stored as f64 * table.shared_store_wavefront.cycles
                    + loaded as f64 * table.shared_load_wavefront.cycles;
                (stored + loaded, cycles)
            };
            key(&store, &load) < key(other_store, other_load)
        };
        if best.as_ref().is_none_or(better) {
            best = Some((layout, store, load));
        }
        if met {
            break;
        }
    }
    let (layout, store, load) = best.ok_or("the target has no access of the element's width to shared memory")?;
    let scratch = scratch(conversion, &coordinates, (&src, store), (&dst, load), &layout);
    Ok(priced(conversion, scratch, bound, target))
}

/// Thread bits that only tell copies apart: of the copies the first is stored.
fn idle(src: &Located) -> u64 {
    let columns: Columns = src.registers.iter().chain(&src.threads).copied().collect();
    Solver::new(&columns).free_columns() >> src.registers.len()
}

/// Layouts worth trying: every vector width, the widest first, each filled up so that one side can go
/// wider or not.
struct Layouts {
    layouts: std::vec::IntoIter<Shape>,
    kept: u32,
}

/// What a layout is chosen from.
struct Shape {
    writer: Columns,
    reader: Columns,
    vector: Columns,
    bank_first: Columns,
    bank_bits: u32,
}

impl Iterator for Layouts {
    type Item = Swizzle;

    fn next(&mut self) -> Option<Swizzle> {
        let shape = self.layouts.next()?;
        let Shape { writer, reader, vector, bank_first, bank_bits } = shape;
        Some(swizzle::choose(&writer, &reader, &vector, &bank_first, self.kept, bank_bits))
    }
}

impl Layouts {
    fn new(
        conversion: &Conversion,
        coordinates: &Coordinates,
        src: &Located,
        dst: &Located,
        target: &TargetDescription,
    ) -> Self {
        let widest = target.shared.access_bits.iter().copied().max().unwrap_or(0) / conversion.element.bits();
        let widest = widest.max(1).ilog2() as usize;
        let common = src.span.intersection(&dst.span);
        let lines = lines(target);
        let mut layouts = Vec::new();
        for vector_bits in (0..=widest.min(common.dimension() as usize)).rev() {
            let vector = &common.basis()[..vector_bits];
            for (src_extra, dst_extra, first) in fills(vector, src, dst, widest - vector_bits) {
                let phase = |side: &Located, extra: usize| {
                    side.phase(conversion.lane_bits, conversion.element.bits() << (vector_bits + extra), target)
                };
                let (Some(writer), Some(reader)) = (phase(src, src_extra), phase(dst, dst_extra)) else { continue };
                layouts.extend(lines.iter().map(|line| {
                    let vector_bytes = conversion.element_bytes() << vector_bits;
                    let bank_bits = (line / vector_bytes).max(1).ilog2().max(first.len() as u32);
                    let (writer, reader) = (writer.clone(), reader.clone());
                    Shape { writer, reader, vector: vector.into(), bank_first: first.clone(), bank_bits }
                }));
            }
        }
        Self { layouts: layouts.into_iter(), kept: coordinates.kept }
    }
}

/// What may fill the banks first: nothing, or up to `most` more registers of one side, so that it can
/// go wider; with their numbers on either side.
fn fills(vector: &[u64], src: &Located, dst: &Located, most: usize) -> Vec<(usize, usize, Columns)> {
    let mut fills = vec![(0, 0, Columns::new())];
    for extra in 1..=most {
        fills.extend(fill(vector, &src.kept, extra).map(|fill| (extra, 0, fill)));
        fills.extend(fill(vector, &dst.kept, extra).map(|fill| (0, extra, fill)));
    }
    fills
}

/// `extra` register vectors that are independent of the vector.
fn fill(vector: &[u64], registers: &[u64], extra: usize) -> Option<Columns> {
    let mut space = Subspace::span(vector.iter().copied());
    let fill: Columns = registers.iter().copied().filter(|&column| space.insert(column)).take(extra).collect();
    (fill.len() == extra).then_some(fill)
}

/// The different numbers of bytes that a wavefront moves.
fn lines(target: &TargetDescription) -> Vec<u64> {
    let mut lines: Vec<_> = target.shared.banks.iter().map(crate::target::BankRow::wavefront_bytes).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
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
        scope: scope(conversion, store.idle()),
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
            reasons.push(format!(
                "{what}: {have} wavefronts against {least}: each access moves {} bytes a lane in {} wavefronts",
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

    fn counts(&self, target: &TargetDescription) -> Counts {
        let (store, load) = (&self.store.figures, &self.load.figures);
        let barriers = 2 * self.rounds() - 1;
        let mut counts = Counts {
            shared_stores: store.accesses,
            shared_loads: load.accesses,
            wavefronts_stored: store.wavefronts(),
            wavefronts_loaded: load.wavefronts(),
            ..Counts::default()
        };
        match self.scope {
            Scope::Warp if target.shared.warp_ordered => {}
            Scope::Warp => counts.warp_barriers = barriers,
            Scope::Block => counts.barriers = barriers,
        }
        counts
    }
}

//! Conversions through shared memory: every element is stored once by one of those that hold it,
//! and loaded by all that want it, in one round or, where scratch is short, in several.

use crate::f2::{Solver, Subspace, multiply};
use crate::kernel::{Builder, Cast, Counts, Element, Scope, Type, Value};
use crate::target::{Direction, TargetDescription, wavefronts};

use super::address::{LinearAddress, Thread};
use super::bound;
use super::conversion::Side;
use super::plan::{Path, Plan, SharedBits, Steps};
use super::price::{self, cost};
use super::swizzle;
use super::{Conversion, Swizzle};

/// How data goes through scratch memory.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    element: Element,
    lane_bits: u32,
    bytes: u64,
    scope: Scope,
    swizzle: Swizzle,
    store: Accesses,
    load: Accesses,
    /// For every destination register the one that is loaded for it.
    loaded_as: Vec<u64>,
}

/// The accesses of one side.
#[derive(Debug, Clone)]
struct Accesses {
    /// For each thread bit, what it adds to the offset, in elements.
    thread_columns: Vec<u64>,
    /// Threads with one of these bits set take no part.
    idle: u64,
    /// For each round the accesses in order.
    rounds: Vec<Vec<Access>>,
    /// Wavefronts that one access takes.
    wavefronts: u64,
}

/// One access: a constant part of the offset, in elements, and the registers of the vector.
#[derive(Debug, Clone)]
struct Access {
    offset: u64,
    registers: Vec<u64>,
}

/// The elements of a block in coordinates: the first `kept` bits are in memory at one time, the
/// bits above number rounds.
struct Coordinates {
    solver: Solver,
    basis: Vec<u64>,
    kept: u32,
    rounds: u32,
}

/// One side in coordinates.
struct Located {
    registers: Vec<u64>,
    threads: Vec<u64>,
    direction: Direction,
}

pub(super) fn plan(conversion: &Conversion, target: &TargetDescription) -> Result<Plan, String> {
    if conversion.src.blocks != conversion.dst.blocks {
        return Err("elements cross blocks".to_owned());
    }
    let coordinates = Coordinates::new(conversion, target)?;
    let src = coordinates.located(&conversion.src, Direction::Store);
    let dst = coordinates.located(&conversion.dst, Direction::Load);
    let layouts = layouts(conversion, &coordinates, &src, &dst, target);
    let plans = layouts.iter().filter_map(|layout| scratch(conversion, &coordinates, &src, &dst, layout, target));
    let plans = plans.map(|scratch| priced(conversion, scratch, target));
    let cheapest = plans.min_by(price::order);
    cheapest.ok_or_else(|| "the target has no access of the element's width to shared memory".to_owned())
}

impl Coordinates {
    /// Coordinates in which as few rounds as fit the target's shared memory are needed.
    fn new(conversion: &Conversion, target: &TargetDescription) -> Result<Self, String> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let of = |side: &Side| Subspace::span(side.registers.iter().chain(&side.threads).copied());
        let all = of(src);
        if all != of(dst) {
            return Err("a block needs elements that it does not hold".to_owned());
        }
        let elements = u64::from(target.shared.static_bytes) / conversion.element_bytes();
        let room = elements.checked_ilog2().ok_or("the target has no shared memory")?;
        let rounds = all.dimension().saturating_sub(room);
        // Rounds are numbered by registers of both sides, so that every thread has its share of each.
        let threads = Subspace::span(src.threads.iter().chain(&dst.threads).copied());
        let in_registers = Subspace::span(src.registers.iter().copied());
        let common = in_registers.intersection(&Subspace::span(dst.registers.iter().copied()));
        let mut taken = threads.clone();
        let mut numbering: Vec<u64> = Vec::new();
        for &vector in common.basis().iter().rev() {
            if numbering.len() < rounds as usize && taken.insert(vector) {
                numbering.push(vector);
            }
        }
        if numbering.len() < rounds as usize {
            let need = conversion.element_bytes() << all.dimension();
            let have = target.shared.static_bytes;
            return Err(format!(
                "{need} bytes of scratch are needed and {have} are there; the layouts share {} register bits by \
                 which to split the work, {rounds} are needed",
                numbering.len()
            ));
        }
        let registers = src.registers.iter().chain(&dst.registers).copied();
        let mut kept: Vec<u64> = threads.basis().to_vec();
        kept.extend(registers.filter(|&column| taken.insert(column)));
        kept.sort_by_key(|vector| vector.trailing_zeros());
        let basis: Vec<u64> = kept.iter().chain(&numbering).copied().collect();
        Ok(Self { solver: Solver::new(&basis), basis, kept: kept.len() as u32, rounds })
    }

    fn located(&self, side: &Side, direction: Direction) -> Located {
        let of = |columns: &[u64]| columns.iter().map(|&c| self.solver.solve(c).unwrap_or(0)).collect();
        Located { registers: of(&side.registers), threads: of(&side.threads), direction }
    }

    fn kept_mask(&self) -> u64 {
        (1 << self.kept) - 1
    }
}

impl Located {
    /// Registers' columns without what numbers rounds.
    fn vectors(&self, coordinates: &Coordinates) -> Vec<u64> {
        self.registers.iter().map(|column| column & coordinates.kept_mask()).filter(|&c| c != 0).collect()
    }

    /// The columns of the lanes that are served together at an access width.
    fn phase(&self, lane_bits: u32, access_bits: u32, target: &TargetDescription) -> Option<Vec<u64>> {
        let row = target.bank_row(self.direction, access_bits)?;
        let lanes = &self.threads[..lane_bits as usize];
        Some(row.phase.iter().map(|&lane| multiply(lanes, lane)).collect())
    }
}

/// Layouts worth pricing: every vector width, each filled up so that one side can go wider or not.
fn layouts(
    conversion: &Conversion,
    coordinates: &Coordinates,
    src: &Located,
    dst: &Located,
    target: &TargetDescription,
) -> Vec<Swizzle> {
    let widest = target.shared.access_bits.iter().copied().max().unwrap_or(0) / conversion.element.bits();
    let widest = widest.max(1).ilog2() as usize;
    let (of_src, of_dst) = (src.vectors(coordinates), dst.vectors(coordinates));
    let common = Subspace::span(of_src.iter().copied()).intersection(&Subspace::span(of_dst.iter().copied()));
    let mut layouts = Vec::new();
    for vector_bits in (0..=widest.min(common.dimension() as usize)).rev() {
        let vector = &common.basis()[..vector_bits];
        let mut fills: Vec<(usize, usize, Vec<u64>)> = vec![(0, 0, Vec::new())];
        for extra in 1..=widest - vector_bits {
            fills.extend(fill(vector, &of_src, extra).map(|fill| (extra, 0, fill)));
            fills.extend(fill(vector, &of_dst, extra).map(|fill| (0, extra, fill)));
        }
        for (src_extra, dst_extra, first) in fills {
            let phase = |side: &Located, extra: usize| {
                side.phase(conversion.lane_bits, conversion.element.bits() << (vector_bits + extra), target)
            };
            let (Some(writer), Some(reader)) = (phase(src, src_extra), phase(dst, dst_extra)) else { continue };
            for line in lines(target) {
                let vector_bytes = conversion.element_bytes() << vector_bits;
                let bank_bits = (line / vector_bytes).max(1).ilog2().max(first.len() as u32);
                layouts.push(swizzle::choose(&writer, &reader, vector, &first, coordinates.kept, bank_bits));
            }
        }
    }
    layouts
}

/// `extra` register vectors that are independent of the vector.
fn fill(vector: &[u64], registers: &[u64], extra: usize) -> Option<Vec<u64>> {
    let mut space = Subspace::span(vector.iter().copied());
    let fill: Vec<_> = registers.iter().copied().filter(|&column| space.insert(column)).take(extra).collect();
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
    src: &Located,
    dst: &Located,
    layout: &Swizzle,
    target: &TargetDescription,
) -> Option<Scratch> {
    let offsets = Solver::new(&layout.columns);
    let columns: Vec<u64> = src.registers.iter().chain(&src.threads).copied().collect();
    let idle = Solver::new(&columns).free_columns() >> src.registers.len();
    let side = |side, idle| accesses(conversion, coordinates, side, layout, &offsets, idle, target);
    let (store, load) = (side(src, idle)?, side(dst, 0)?);
    let registers = Solver::new(&dst.registers);
    let loaded_as = (0..1u64 << dst.registers.len())
        .map(|register| registers.solve(multiply(&dst.registers, register)).unwrap_or(0))
        .collect();
    let shown = |&column: &u64| multiply(&coordinates.basis, column);
    Some(Scratch {
        element: conversion.element,
        lane_bits: conversion.lane_bits,
        bytes: conversion.element_bytes() << coordinates.kept,
        scope: scope(conversion, idle),
        swizzle: Swizzle { columns: layout.columns.iter().map(shown).collect(), ..layout.clone() },
        store,
        load,
        loaded_as,
    })
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

fn accesses(
    conversion: &Conversion,
    coordinates: &Coordinates,
    side: &Located,
    layout: &Swizzle,
    offsets: &Solver,
    idle: u64,
    target: &TargetDescription,
) -> Option<Accesses> {
    let offset = |vector: u64| offsets.solve(vector).unwrap_or(0);
    let thread_columns: Vec<u64> = side.threads.iter().map(|&column| offset(column)).collect();
    let registers = Solver::new(&side.registers);
    let width = vector_width(conversion, coordinates, side, layout, &thread_columns, target)?;
    let row = target.bank_row(side.direction, conversion.element.bits() << width)?;
    let vector = &layout.columns[..width as usize];
    let low = (1u64 << width) - 1;
    // Register vectors that number accesses: whole vectors apart, within one round.
    let mut space = Subspace::span(vector.iter().copied());
    let mut steps = Vec::new();
    for &column in &side.registers {
        let kept = column & coordinates.kept_mask();
        let whole = kept ^ multiply(vector, offset(kept) & low);
        if space.insert(whole) {
            steps.push(whole);
        }
    }
    let access = |round: u64, index: u64| {
        let start = multiply(&steps, index);
        let of_element = |element: u64| {
            registers.solve(start ^ multiply(vector, element) ^ (round << coordinates.kept)).unwrap_or(0)
        };
        Access { offset: offset(start), registers: (0..1u64 << width).map(of_element).collect() }
    };
    let rounds = (0..1u64 << coordinates.rounds)
        .map(|round| (0..1u64 << steps.len()).map(|index| access(round, index)).collect())
        .collect();
    let bytes = conversion.element_bytes();
    let address = |lane: u64| (lane & idle == 0).then(|| multiply(&thread_columns, lane) * bytes);
    let addresses: Vec<_> = (0..1u64 << conversion.lane_bits).map(address).collect();
    let wavefronts = wavefronts(row, &addresses, (bytes as u32) << width);
    Some(Accesses { thread_columns, idle, rounds, wavefronts })
}

/// Log2 of the elements of one access: as many as lie together in memory and in one thread, at the
/// same place of the vector in all threads.
fn vector_width(
    conversion: &Conversion,
    coordinates: &Coordinates,
    side: &Located,
    layout: &Swizzle,
    thread_columns: &[u64],
    target: &TargetDescription,
) -> Option<u32> {
    let own = Subspace::span(side.registers.iter().map(|column| column & coordinates.kept_mask()));
    let apart = thread_columns.iter().fold(0, |all, column| all | column).trailing_zeros();
    let together = layout.columns.iter().take_while(|&&column| own.contains(column)).count() as u32;
    (0..=together.min(apart)).rev().find(|&width| {
        let bits = conversion.element.bits().checked_shl(width).unwrap_or(0);
        target.shared.access_bits.contains(&bits) && target.bank_row(side.direction, bits).is_some()
    })
}

fn priced(conversion: &Conversion, scratch: Scratch, target: &TargetDescription) -> Plan {
    let counts = scratch.counts(target);
    let bound = bound::of_shared(conversion, target);
    let stages = scratch.rounds();
    Plan {
        path: Path::Shared,
        counts,
        shared_bytes: scratch.bytes,
        cost: cost(&counts, conversion.warps(), stages, target),
        bound,
        above_bound: why_above(&counts, &bound, &scratch),
        steps: Steps::Scratch(scratch),
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
            let elements = accesses.rounds.first().and_then(|round| round.first()).map_or(1, |a| a.registers.len());
            reasons.push(format!(
                "{what}: {have} wavefronts against {least}: each access moves {} bytes a lane in {} wavefronts",
                elements as u32 * scratch.element.bits() / 8,
                accesses.wavefronts
            ));
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

impl Accesses {
    /// Elements that one lane moves.
    fn elements(&self) -> u64 {
        self.rounds.iter().flatten().map(|access| access.registers.len() as u64).sum()
    }

    fn addresses(&self, builder: &mut Builder, thread: Thread, buffer: Value, element: Element) -> LinearAddress {
        let bytes = u64::from(element.bits() / 8);
        let columns: Vec<u64> = self.thread_columns.iter().map(|column| column * bytes).collect();
        LinearAddress::new(builder, thread, buffer, &columns, bytes)
    }
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
        self.store.rounds.len() as u64
    }

    fn counts(&self, target: &TargetDescription) -> Counts {
        let accesses = |side: &Accesses| side.rounds.iter().map(|round| round.len() as u64).sum::<u64>();
        let (stores, loads) = (accesses(&self.store), accesses(&self.load));
        let barriers = 2 * self.rounds() - 1;
        let mut counts = Counts {
            shared_stores: stores,
            shared_loads: loads,
            wavefronts_stored: stores * self.store.wavefronts,
            wavefronts_loaded: loads * self.load.wavefronts,
            ..Counts::default()
        };
        match self.scope {
            Scope::Warp if target.shared.warp_ordered => {}
            Scope::Warp => counts.warp_barriers = barriers,
            Scope::Block => counts.barriers = barriers,
        }
        counts
    }

    pub(super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let buffer = builder.shared_buffer(self.bytes as u32, 16);
        let thread = Thread::new(builder, self.lane_bits);
        let mut store = self.store.addresses(builder, thread, buffer, self.element);
        let mut load = self.load.addresses(builder, thread, buffer, self.element);
        let active = thread.all_zero(builder, self.store.idle);
        let mut loaded: Vec<Option<Value>> = vec![None; self.loaded_as.len()];
        for (round, (stores, loads)) in self.store.rounds.iter().zip(&self.load.rounds).enumerate() {
            if round > 0 {
                builder.barrier(self.scope);
            }
            for access in stores {
                let elements: Vec<_> = access.registers.iter().map(|&r| registers[r as usize]).collect();
                let value = widened(builder, &elements);
                let (pointer, offset) = store.at(builder, access.offset);
                builder.store(pointer, offset, value, active);
            }
            builder.barrier(self.scope);
            for access in loads {
                let ty = wide_type(self.element, access.registers.len() as u32);
                let (pointer, offset) = load.at(builder, access.offset);
                let value = builder.load(ty, pointer, offset, None);
                let elements = narrowed(builder, value, self.element, access.registers.len() as u32);
                for (&register, element) in access.registers.iter().zip(elements) {
                    loaded[register as usize] = Some(element);
                }
            }
        }
        self.loaded_as.iter().filter_map(|&register| loaded[register as usize]).collect()
    }
}

/// The type in which a vector of elements crosses to memory: 32-bit words where it has any.
pub(super) fn wide_type(element: Element, count: u32) -> Type {
    match element.bits() * count {
        bits if element.bits() >= 32 || count == 1 => Type::of(element, bits / element.bits()),
        bits @ ..=32 => super::address::integer(bits),
        bits => Type::Vector(Element::I32, bits / 32),
    }
}

pub(super) fn widened(builder: &mut Builder, elements: &[Value]) -> Value {
    let packed = builder.pack(elements);
    let ty = builder.type_of(packed);
    let wide = ty.element().map_or(ty, |element| wide_type(element, ty.count()));
    builder.cast(Cast::Bits, packed, wide)
}

pub(super) fn narrowed(builder: &mut Builder, value: Value, element: Element, count: u32) -> Vec<Value> {
    let vector = builder.cast(Cast::Bits, value, Type::of(element, count));
    (0..count).map(|index| builder.extract(vector, index)).collect()
}

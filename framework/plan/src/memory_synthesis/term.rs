//! Terms: layouts of memory of which some strides are not decided.
//!
//! A term says, for each of the lowest bits of an offset, which bits of a coordinate it may stand for; the strides of all
//! others are free. That is what an access asks: registers of a lane may lie together in any order, since they are named
//! freely, so the term of a wide access leaves the order open; what copies asks for one order.

use std::fmt;

use crate::movement::{AccessKind, SlotBit};
use tilewright_layout::f2::rank;
use tilewright_layout::{Dim, LinearLayout};

/// A layout of memory with free strides. Bits of a coordinate are numbered along dim0 first, then along dim1, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrideTerm {
    /// Log2 of the sizes of the axes.
    axes: Vec<u32>,
    /// For each of the lowest offset bits, as a mask, the coordinate bits that it may stand for.
    low: Vec<u64>,
    /// How many of these a swizzle leaves alone. Those above are brought by lanes that fetch what lies there, so that each may
    /// stand for any sum of the coordinate bits of all of them.
    firm: usize,
    /// Coordinate bits in the order in which they are taken where several may be.
    order: Vec<u32>,
    /// Coordinate bits that move with one stride where it is free, in the order in which strides are named.
    groups: Vec<Vec<u32>>,
}

/// Where two terms differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Differ {
    /// The offset bit for which no coordinate bit is left.
    pub bit: usize,
}

impl StrideTerm {
    /// What an access of a tensor of elements of `bits` bits asks by a way; `layout` has the axes in order.
    ///
    /// # Errors
    /// A sentence on why no memory lets it go that way.
    pub fn of_access(layout: &LinearLayout, way: &AccessKind, bits: u32) -> Result<Self, String> {
        if way.is_fetched() {
            return Self::of_fetch(layout, way, bits);
        }
        let threads: Vec<u64> = [layout.columns_of(Dim::LANE), layout.columns_of(Dim::WARP)].concat();
        let lanes = layout.columns_of(Dim::LANE);
        let registers = layout.columns_of(Dim::REGISTER);
        if let Some(lane) = way.silent.iter().find(|&&lane| lanes.get(lane as usize).is_some_and(|&column| column != 0))
        {
            return Err(format!("bit {lane} of the lane only gives addresses, and holds elements of its own"));
        }
        let column_of = |lane: u32| lanes.get(lane as usize).copied().unwrap_or(0);
        let of_lanes: Vec<u64> = way.slot.iter().filter_map(|bit| lane_of(*bit)).map(column_of).collect();
        if let Some(column) = of_lanes.iter().find(|column| !column.is_power_of_two()) {
            return Err(format!("a bit of the lane within a slot moves by {column:#b}, no single bit of a coordinate"));
        }
        let inside = of_lanes.iter().fold(0, |all, column| all | column);
        let others = lanes.iter().enumerate().filter(|(lane, _)| !way.slot.contains(&SlotBit::Lane(*lane as u32)));
        let moved = others.map(|(_, column)| column).chain(layout.columns_of(Dim::WARP)).fold(0, |all, c| all | c);
        let doubled = of_lanes.iter().enumerate().any(|(at, column)| of_lanes[..at].contains(column));
        if moved & inside != 0 || doubled {
            return Err("lanes that lie within a slot move as others do".to_owned());
        }
        let held = held_bits(registers) & !threads.iter().fold(0, |all, column| all | column);
        let mut term = Self::free(layout, &threads, registers);
        term.low = places(way, bits, (registers, held), lanes)?;
        term.firm = term.low.len();
        let required = u64::from(bits.max(1)) << rank(registers);
        if 8 * way.bytes > required {
            return Err(format!("a lane holds {required} bits, and {} go at a time", 8 * way.bytes));
        }
        match term.assigned() {
            Some(_) => Ok(term),
            None => Err(format!("a lane does not hold {} bytes that can lie together", way.bytes)),
        }
    }

    /// The term of a memory whose offset bits stand for these coordinate bits.
    pub(super) fn of_memory(layout: &LinearLayout) -> Option<Self> {
        let low: Vec<u64> = layout.columns_of(Dim::OFFSET).to_vec();
        let axes = layout.outs().iter().map(|(_, bits)| bits).collect();
        let order = low.iter().map(|column| column.trailing_zeros()).collect();
        let groups = Vec::new();
        low.iter().all(|column| column.is_power_of_two()).then_some(Self { axes, low, firm: 0, order, groups })
    }

    /// What lanes ask that write side by side what each fetches from an address of its own: what a lane brings lies together as it
    /// does in global memory, and all lanes' elements are a slot. Which lane has which is free, as long as together they have
    /// the same, so that no more units of global memory are touched: lanes may move by any sums of bits.
    fn of_fetch(layout: &LinearLayout, way: &AccessKind, bits: u32) -> Result<Self, String> {
        let (registers, lanes) = (layout.columns_of(Dim::REGISTER), layout.columns_of(Dim::LANE));
        let warps = layout.columns_of(Dim::WARP);
        let own = ((8 * way.bytes) / u64::from(bits.max(1))).max(1).ilog2() as usize;
        if 8 * way.bytes < u64::from(bits) {
            return Err("an element is longer than what a lane brings".to_owned());
        }
        let together = registers.get(..own).filter(|own| own.iter().all(|column| column.is_power_of_two()));
        let together =
            together.ok_or_else(|| format!("a lane does not hold {} bytes in the order of memory", way.bytes))?;
        let inside = lanes.iter().fold(0u64, |all, column| all | column);
        if rank(lanes) != lanes.len() as u32 || inside.count_ones() as usize != lanes.len() {
            return Err("lanes bring the same, or what no bits of coordinates tell apart".to_owned());
        }
        let others: Vec<u64> = registers[own..].iter().chain(warps).copied().filter(|column| *column != 0).collect();
        let slot: Vec<u64> = together.iter().chain(lanes).copied().collect();
        if rank(&[&slot[..], &others[..]].concat()) != slot.len() as u32 + rank(&others) {
            return Err("lanes that lie within a slot move as others do".to_owned());
        }
        let threads: Vec<u64> = lanes.iter().chain(warps).copied().collect();
        let mut term = Self::free(layout, &threads, registers);
        term.order.extend(lanes.iter().filter(|column| column.is_power_of_two()).map(|column| column.trailing_zeros()));
        term.low = together.iter().copied().chain(lanes.iter().map(|_| inside)).collect();
        term.firm = own;
        match term.assigned() {
            Some(_) => Ok(term),
            None => Err("what a lane brings is brought by others too".to_owned()),
        }
    }

    /// All strides free, named by threads first.
    fn free(layout: &LinearLayout, threads: &[u64], registers: &[u64]) -> Self {
        let axes: Vec<u32> = layout.outs().iter().map(|(_, bits)| bits).collect();
        let bits: u32 = axes.iter().sum();
        let owned = |columns: &[u64]| -> Vec<u32> {
            columns.iter().filter(|column| column.is_power_of_two()).map(|column| column.trailing_zeros()).collect()
        };
        let (of_threads, of_registers) = (owned(threads), owned(registers));
        let rest = (0..bits).filter(|bit| !of_threads.contains(bit) && !of_registers.contains(bit)).collect();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for owner in [of_threads, of_registers.clone(), rest] {
            groups.extend(runs(&owner, &axes));
        }
        let mut seen = 0u64;
        for group in &mut groups {
            group.retain(|bit| seen & 1 << bit == 0);
            seen |= group.iter().fold(0, |all, bit| all | 1 << bit);
        }
        groups.retain(|group| !group.is_empty());
        Self { axes, low: Vec::new(), firm: 0, order: of_registers, groups }
    }

    /// Bits of the offset that are not free.
    #[must_use]
    pub fn decided_bits(&self) -> usize {
        self.low.len()
    }

    /// Of these the first ones that no swizzle may change.
    #[must_use]
    pub fn firm_bits(&self) -> usize {
        self.firm
    }

    /// The term of both; where they differ if there is none.
    pub(super) fn unify(&self, other: &Self) -> Result<Self, Differ> {
        let all = u64::MAX;
        let at = |term: &Self, bit: usize| term.low.get(bit).copied().unwrap_or(all);
        let length = self.low.len().max(other.low.len());
        let low: Vec<u64> = (0..length).map(|bit| at(self, bit) & at(other, bit)).collect();
        let order =
            self.order.iter().chain(other.order.iter().filter(|bit| !self.order.contains(bit))).copied().collect();
        let groups = match (self.groups.is_empty(), other.groups.is_empty()) {
            (true, _) => other.groups.clone(),
            (_, true) => self.groups.clone(),
            _ => refined(&self.groups, &other.groups),
        };
        let both = Self { axes: self.axes.clone(), low, firm: self.firm.max(other.firm), order, groups };
        if both.assigned().is_some() {
            return Ok(both);
        }
        let fits = |length: &usize| Self { low: both.low[..*length].to_vec(), ..both.clone() }.assigned().is_some();
        Err(Differ { bit: (0..length).take_while(|bit| fits(&(bit + 1))).count() })
    }

    /// For each decided offset bit the coordinate bit that it stands for: the first of each in the order of preference
    /// such that all have one. None where they cannot.
    pub(super) fn assigned(&self) -> Option<Vec<u32>> {
        let mut low = self.low.clone();
        if !can_match(&low) {
            return None;
        }
        let mut taken = Vec::new();
        for at in 0..low.len() {
            let options = low[at];
            let rest = (0..64).filter(|bit| !self.order.contains(bit));
            let mut candidates = self.order.iter().copied().chain(rest).filter(|bit| options >> bit & 1 == 1);
            let fits = candidates.find(|bit| {
                let mut others: Vec<u64> = low.iter().map(|mask| mask & !(1 << bit)).collect();
                others[at] = 1 << bit;
                can_match(&others)
            })?;
            low.iter_mut().for_each(|mask| *mask &= !(1 << fits));
            low[at] = 1 << fits;
            taken.push(fits);
        }
        Some(taken)
    }

    /// Whether a memory's low offset bits are among what the term allows.
    pub(super) fn admits(&self, memory: &LinearLayout) -> bool {
        let columns = memory.columns_of(Dim::OFFSET);
        self.low.len() <= columns.len()
            && (self.low.iter().zip(columns).enumerate())
                .all(|(at, (&mask, &column))| (at >= self.firm || column.is_power_of_two()) && column & !mask == 0)
    }

    /// The modes that an offset bit may stand for, for messages.
    pub(super) fn choice(&self, bit: usize) -> String {
        let mask = self.low.get(bit).copied().unwrap_or(0);
        let mut first = 0;
        let mut named = Vec::new();
        for (axis, &size) in self.axes.iter().enumerate() {
            let own = (0..size).filter(|bit| mask >> (first + bit) & 1 == 1);
            named.extend(own.map(|bit| format!("dim{axis}'s {}", 1u64 << bit)));
            first += size;
        }
        if named.is_empty() { "nothing that is left".to_owned() } else { named.join(" or ") }
    }

    /// Sizes and strides of the modes of each axis, in CuTe's order.
    fn modes(&self) -> Vec<Vec<(u64, String)>> {
        let decided = self.assigned().unwrap_or_default();
        let place = |bit: u32| decided.iter().position(|&own| own == bit);
        let free: Vec<Vec<u32>> = self
            .groups
            .iter()
            .flat_map(|group| {
                let left: Vec<u32> = group.iter().copied().filter(|&bit| place(bit).is_none()).collect();
                runs(&left, &self.axes)
            })
            .collect();
        let mut first = 0;
        let mut all = Vec::new();
        for &size in &self.axes {
            let mut modes: Vec<(u64, String)> = Vec::new();
            let mut bit = first;
            while bit < first + size {
                let (count, stride) = match place(bit) {
                    Some(at) => {
                        let more =
                            (1..first + size - bit).take_while(|&more| place(bit + more) == Some(at + more as usize));
                        (1 + more.count() as u32, (1u64 << at).to_string())
                    }
                    None => {
                        let group = free.iter().position(|group| group.contains(&bit)).unwrap_or(0);
                        let inside = free.get(group).map_or(1, |group| group.iter().filter(|&&own| own >= bit).count());
                        (inside.max(1) as u32, format!("d{}", group + 1))
                    }
                };
                modes.push((1 << count, stride));
                bit += count;
            }
            if modes.is_empty() {
                modes.push((1, "0".to_owned()));
            }
            all.push(modes);
            first += size;
        }
        all
    }
}

/// As CuTe writes layouts, free strides by name; flat, and with `#` nested by axes.
impl fmt::Display for StrideTerm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes = self.modes();
        let tuple = |parts: Vec<String>| format!("({})", parts.join(","));
        let sizes = |modes: &[(u64, String)]| modes.iter().map(|(size, _)| size.to_string()).collect::<Vec<_>>();
        let strides = |modes: &[(u64, String)]| modes.iter().map(|(_, stride)| stride.clone()).collect::<Vec<_>>();
        if out.alternate() {
            let one = |mut parts: Vec<String>| if parts.len() == 1 { parts.remove(0) } else { tuple(parts) };
            let shapes = modes.iter().map(|axis| one(sizes(axis))).collect();
            let steps = modes.iter().map(|axis| one(strides(axis))).collect();
            return write!(out, "{}:{}", tuple(shapes), tuple(steps));
        }
        let flat: Vec<(u64, String)> = modes.into_iter().flatten().filter(|(size, _)| *size > 1).collect();
        write!(out, "{}:{}", tuple(sizes(&flat)), tuple(strides(&flat)))
    }
}

fn lane_of(bit: SlotBit) -> Option<u32> {
    match bit {
        SlotBit::Lane(lane) => Some(lane),
        SlotBit::Held => None,
    }
}

/// Bits of coordinates that registers have by themselves.
fn held_bits(registers: &[u64]) -> u64 {
    let own = tilewright_layout::f2::Subspace::span(registers.iter().copied());
    (0..64).map(|bit| 1u64 << bit).filter(|&unit| own.contains(unit)).fold(0, |all, unit| all | unit)
}

/// For each offset bit of a slot the coordinate bits that may be there.
fn places(way: &AccessKind, bits: u32, (registers, held): (&[u64], u64), lanes: &[u64]) -> Result<Vec<u64>, String> {
    let within = bits.trailing_zeros();
    // Bits of the slot, counted from the least bit of a byte on.
    let all = [SlotBit::Held; 3].into_iter().chain(way.slot.iter().copied());
    let slot: Vec<SlotBit> = all.collect();
    let (element, places) = slot.split_at_checked(within as usize).ok_or("an element is longer than a slot")?;
    if element.iter().any(|bit| *bit != SlotBit::Held) {
        return Err("it parts elements".to_owned());
    }
    let mut next = 0;
    let place = |bit: &SlotBit| match *bit {
        SlotBit::Lane(lane) => Ok(lanes.get(lane as usize).copied().unwrap_or(0)),
        SlotBit::Held if way.copies => {
            let column = registers.get(next).copied().unwrap_or(0);
            next += 1;
            if column & held != 0 {
                Ok(column)
            } else {
                Err(format!("register {} is not what follows in memory", 1u64 << (next - 1)))
            }
        }
        SlotBit::Held => Ok(held),
    };
    places.iter().map(place).collect()
}

/// Whether each mask can be given a bit of its own.
fn can_match(masks: &[u64]) -> bool {
    fn give(masks: &[u64], at: usize, owner: &mut [Option<usize>; 64], seen: &mut u64) -> bool {
        for bit in (0..64).filter(|bit| masks[at] >> bit & 1 == 1) {
            if *seen >> bit & 1 == 1 {
                continue;
            }
            *seen |= 1 << bit;
            if owner[bit].is_none_or(|other| give(masks, other, owner, seen)) {
                owner[bit] = Some(at);
                return true;
            }
        }
        false
    }
    let mut owner = [None; 64];
    (0..masks.len()).all(|at| give(masks, at, &mut owner, &mut 0))
}

/// Bits as runs that follow each other along one axis.
fn runs(bits: &[u32], axes: &[u32]) -> Vec<Vec<u32>> {
    let axis = |bit: u32| {
        let mut end = 0;
        axes.iter().position(|size| {
            end += size;
            bit < end
        })
    };
    let mut all: Vec<Vec<u32>> = Vec::new();
    for &bit in bits {
        match all.last_mut() {
            Some(run) if run.last() == Some(&bit.wrapping_sub(1)) && axis(bit) == axis(bit - 1) => run.push(bit),
            _ => all.push(vec![bit]),
        }
    }
    all
}

/// What moves with one stride in both.
fn refined(first: &[Vec<u32>], second: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let common = |a: &Vec<u32>, b: &Vec<u32>| a.iter().copied().filter(|bit| b.contains(bit)).collect::<Vec<_>>();
    let all = first.iter().flat_map(|a| second.iter().map(move |b| common(a, b)));
    all.filter(|group| !group.is_empty()).collect()
}

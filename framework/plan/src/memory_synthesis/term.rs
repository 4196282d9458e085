//! Stride terms: memory layouts with undecided strides.
//!
//! A term gives, for each of the lowest bits of an offset, the coordinate bits that it may stand for; the strides of
//! all other bits are free. This expresses the requirement of an access: the registers of a lane may be adjacent in any
//! order, since registers can be renamed, so the term of a wide access leaves their order open. A copy fixes the order.

use std::fmt;

use thiserror::Error;

use crate::movement::{SegmentOffsetBitSource, SharedAccessKind};
use tilewright_layout::f2::rank;
use tilewright_layout::{Dim, LinearLayout};

/// A memory layout with free strides. Bits of a packed coordinate are numbered along dim0 first, then along dim1, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeStrideLayout {
    /// Log2 of the sizes of the tensor's axes.
    axes: Vec<u32>,
    /// For each of the lowest offset bits, the mask of coordinate bits that it may be assigned to.
    low: Vec<u64>,
    /// The number of `low` bits that a swizzle must preserve. The `low` bits above them number the lanes of a copy that
    /// fetches adjacent elements; each of these bits may stand for any sum (over F2) of the coordinate bits of these
    /// lanes.
    firm: usize,
    /// Coordinate bits in order of preference, for offset bits that may be assigned to several.
    order: Vec<u32>,
    /// Groups of coordinate bits that share one stride while it is free. Names of strides are given in the order of the
    /// groups.
    groups: Vec<Vec<u32>>,
}

/// The reason why no memory layout allows an access by one alternative. It is no error of the program: another
/// alternative may be possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnsatisfiableAccess {
    /// Lanes that differ in this bit hold different elements, but the instruction uses this bit of the lane index only
    /// to provide addresses.
    #[error("bit {bit} of the lane must only provide addresses, but it has elements")]
    SilentLane {
        /// Index of the bit within the lane index.
        bit: u32,
    },
    /// A bit of the lane index that selects a byte within a slot (the contiguous memory of one access) moves along a
    /// sum of coordinate bits instead of a single one.
    #[error("a bit of the lane within a slot moves by {column:#b}, not a single coordinate bit")]
    SlotColumn {
        /// Mask of the coordinate bits along which the lane bit moves.
        column: u64,
    },
    /// Lanes that share a slot (the contiguous memory of one access) differ in a coordinate bit, and so do other lanes,
    /// warps or registers. Their elements could not be adjacent.
    #[error("lanes within a slot move along the same bits as other lanes")]
    SharedBits,
    /// A lane holds fewer bits of the tensor than one access moves.
    #[error("a lane has {found_bits} bits, fewer than the {bits} of an access")]
    FewBits {
        /// Number of the tensor's bits that a lane holds.
        found_bits: u64,
        /// Number of bits that a lane moves in one access.
        bits: u64,
    },
    /// The elements that a lane moves in one access cannot be adjacent in memory.
    #[error("a lane does not have {bytes} bytes that can be adjacent")]
    NotAdjacent {
        /// Number of bytes that a lane moves in one access.
        bytes: u64,
    },
    /// An element is wider than the most that one lane copies in one access, so no instruction copies it.
    #[error("an element is wider than the copy of a lane")]
    WideElement,
    /// The elements of a lane are not contiguous in global memory.
    #[error("a lane does not have {bytes} contiguous bytes of global memory")]
    NotContiguous {
        /// The number of bytes that a lane copies in one access.
        bytes: u64,
    },
    /// Two lanes copy the same elements, or the lanes' elements differ in more coordinate bits than the lane index has.
    #[error("lanes copy the same elements, or elements that no coordinate bits distinguish")]
    LaneBits,
    /// Several lanes copy one element.
    #[error("several lanes copy the same element")]
    Replicated,
    /// An element is wider than a slot (the contiguous memory of one access).
    #[error("an element is longer than a slot")]
    LongElement,
    /// Several lanes would share one element, because the lowest bits of a slot (the contiguous memory of one access)
    /// number lanes.
    #[error("it splits elements")]
    SplitElement,
    /// A lane's registers are not in the order of memory, which an asynchronous copy cannot change.
    #[error("register {register} does not have the next element in memory")]
    RegisterOrder {
        /// Index of the first register (a power of two) whose element is not the next one in memory.
        register: u64,
    },
}

/// The reason why two stride terms have no common refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Differ {
    /// The lowest offset bit for which the two terms allow no common coordinate bit.
    pub bit: usize,
}

impl FreeStrideLayout {
    /// Returns the term that an access of kind `kind` requires, for elements of `bits` bits; `layout` is the register
    /// layout of the access, with its axes in the tensor's order.
    ///
    /// # Errors
    /// [`UnsatisfiableAccess`] if no memory layout allows the alternative.
    pub fn from_access(layout: &LinearLayout, kind: &SharedAccessKind, bits: u32) -> Result<Self, UnsatisfiableAccess> {
        if kind.has_fetching_lanes() {
            return Self::of_fetch(layout, kind, bits);
        }
        let threads: Vec<u64> = [layout.columns_of(Dim::LANE), layout.columns_of(Dim::WARP)].concat();
        let lanes = layout.columns_of(Dim::LANE);
        let registers = layout.columns_of(Dim::REGISTER);
        if let Some(&bit) =
            kind.address_lane_bits.iter().find(|&&lane| lanes.get(lane as usize).is_some_and(|&column| column != 0))
        {
            return Err(UnsatisfiableAccess::SilentLane { bit });
        }
        let column_of = |lane: u32| lanes.get(lane as usize).copied().unwrap_or(0);
        let of_lanes: Vec<u64> = kind.segment.iter().filter_map(|bit| lane_of(*bit)).map(column_of).collect();
        if let Some(&column) = of_lanes.iter().find(|column| !column.is_power_of_two()) {
            return Err(UnsatisfiableAccess::SlotColumn { column });
        }
        let inside = of_lanes.iter().fold(0, |all, column| all | column);
        let others = lanes
            .iter()
            .enumerate()
            .filter(|(lane, _)| !kind.segment.contains(&SegmentOffsetBitSource::Lane(*lane as u32)));
        let moved = others.map(|(_, column)| column).chain(layout.columns_of(Dim::WARP)).fold(0, |all, c| all | c);
        let doubled = of_lanes.iter().enumerate().any(|(at, column)| of_lanes[..at].contains(column));
        if moved & inside != 0 || doubled {
            return Err(UnsatisfiableAccess::SharedBits);
        }
        let in_registers = bits_in_registers(registers) & !threads.iter().fold(0, |all, column| all | column);
        let mut term = Self::free(layout, &threads, registers);
        term.low = find_slot_bits(kind, bits, (registers, in_registers), lanes)?;
        term.firm = term.low.len();
        let found_bits = u64::from(bits.max(1)) << rank(registers);
        if 8 * kind.bytes > found_bits {
            return Err(UnsatisfiableAccess::FewBits { found_bits, bits: 8 * kind.bytes });
        }
        match term.assigned() {
            Some(_) => Ok(term),
            None => Err(UnsatisfiableAccess::NotAdjacent { bytes: kind.bytes }),
        }
    }

    /// Returns the term of a memory layout if each offset bit stands for one coordinate bit; `None` for other layouts.
    pub(super) fn of_memory(layout: &LinearLayout) -> Option<Self> {
        let low: Vec<u64> = layout.columns_of(Dim::OFFSET).to_vec();
        let axes = layout.outs().iter().map(|(_, bits)| bits).collect();
        let order = low.iter().map(|column| column.trailing_zeros()).collect();
        let groups = Vec::new();
        low.iter().all(|column| column.is_power_of_two()).then_some(Self { axes, low, firm: 0, order, groups })
    }

    /// Returns the term of a copy whose lanes write adjacent elements but each give an address to fetch from
    /// (`is_fetched`). The elements of a lane are contiguous as in global memory, and the elements of all lanes form a
    /// segment (contiguous bytes that one instruction writes). Any assignment of elements to lanes is allowed,
    /// including linear combinations of coordinate bits, as long as the lanes together fetch the same elements, so that
    /// the number of sectors is unchanged.
    fn of_fetch(layout: &LinearLayout, kind: &SharedAccessKind, bits: u32) -> Result<Self, UnsatisfiableAccess> {
        let (registers, lanes) = (layout.columns_of(Dim::REGISTER), layout.columns_of(Dim::LANE));
        let warps = layout.columns_of(Dim::WARP);
        let own = ((8 * kind.bytes) / u64::from(bits.max(1))).max(1).ilog2() as usize;
        if 8 * kind.bytes < u64::from(bits) {
            return Err(UnsatisfiableAccess::WideElement);
        }
        let together = registers.get(..own).filter(|own| own.iter().all(|column| column.is_power_of_two()));
        let together = together.ok_or(UnsatisfiableAccess::NotContiguous { bytes: kind.bytes })?;
        let inside = lanes.iter().fold(0u64, |all, column| all | column);
        if rank(lanes) != lanes.len() as u32 || inside.count_ones() as usize != lanes.len() {
            return Err(UnsatisfiableAccess::LaneBits);
        }
        let others: Vec<u64> = registers[own..].iter().chain(warps).copied().filter(|column| *column != 0).collect();
        let segment: Vec<u64> = together.iter().chain(lanes).copied().collect();
        if rank(&[&segment[..], &others[..]].concat()) != segment.len() as u32 + rank(&others) {
            return Err(UnsatisfiableAccess::SharedBits);
        }
        let threads: Vec<u64> = lanes.iter().chain(warps).copied().collect();
        let mut term = Self::free(layout, &threads, registers);
        term.order.extend(lanes.iter().filter(|column| column.is_power_of_two()).map(|column| column.trailing_zeros()));
        term.low = together.iter().copied().chain(lanes.iter().map(|_| inside)).collect();
        term.firm = own;
        match term.assigned() {
            Some(_) => Ok(term),
            None => Err(UnsatisfiableAccess::Replicated),
        }
    }

    /// Returns a term whose strides are all free. Names are given to strides in this order: coordinate bits of
    /// `threads`, then of `registers`, then all others.
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

    /// Returns the number of the lowest offset bits that the term maps to a coordinate bit, or restricts to several.
    #[must_use]
    pub fn decided_bits(&self) -> usize {
        self.low.len()
    }

    /// Returns the number of the lowest offset bits that a swizzle must not change.
    #[must_use]
    pub fn preserved_bits(&self) -> usize {
        self.firm
    }

    /// Returns the common refinement of two terms, a term that allows exactly the layouts that both allow; the error
    /// has the offset bit on which they disagree.
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

    /// Returns a coordinate bit for each decided offset bit: the first in the order of preference that leaves a
    /// possible coordinate bit for every later offset bit. `None` if no assignment is possible.
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

    /// Whether the low offset bits of a memory layout are assigned as the term allows.
    pub(super) fn admits(&self, memory: &LinearLayout) -> bool {
        let columns = memory.columns_of(Dim::OFFSET);
        self.low.len() <= columns.len()
            && (self.low.iter().zip(columns).enumerate())
                .all(|(at, (&mask, &column))| (at >= self.firm || column.is_power_of_two()) && column & !mask == 0)
    }

    /// Returns the coordinate bits that the offset bit `bit` may stand for, as text for messages.
    pub(super) fn choice(&self, bit: usize) -> String {
        let mask = self.low.get(bit).copied().unwrap_or(0);
        let mut first = 0;
        let mut named = Vec::new();
        for (axis, &size) in self.axes.iter().enumerate() {
            let own = (0..size).filter(|bit| mask >> (first + bit) & 1 == 1);
            named.extend(own.map(|bit| format!("dim{axis}'s {}", 1u64 << bit)));
            first += size;
        }
        if named.is_empty() { "no free bit".to_owned() } else { named.join(" or ") }
    }

    /// Returns the modes of each axis in CuTe's order, each as (size, stride); the stride is text, a number or the name
    /// of a free stride.
    fn modes(&self) -> Vec<Vec<(u64, String)>> {
        let decided = self.assigned().unwrap_or_default();
        let index_of = |bit: u32| decided.iter().position(|&own| own == bit);
        let free: Vec<Vec<u32>> = self
            .groups
            .iter()
            .flat_map(|group| {
                let left: Vec<u32> = group.iter().copied().filter(|&bit| index_of(bit).is_none()).collect();
                runs(&left, &self.axes)
            })
            .collect();
        let mut first = 0;
        let mut all = Vec::new();
        for &size in &self.axes {
            let mut modes: Vec<(u64, String)> = Vec::new();
            let mut bit = first;
            while bit < first + size {
                let (count, stride) = match index_of(bit) {
                    Some(at) => {
                        let more = (1..first + size - bit)
                            .take_while(|&more| index_of(bit + more) == Some(at + more as usize));
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

/// Prints CuTe notation with names for free strides; flat, or nested by axes with `#`.
impl fmt::Display for FreeStrideLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes = self.modes();
        let tuple = |terms: Vec<String>| format!("({})", terms.join(","));
        let sizes = |modes: &[(u64, String)]| modes.iter().map(|(size, _)| size.to_string()).collect::<Vec<_>>();
        let strides = |modes: &[(u64, String)]| modes.iter().map(|(_, stride)| stride.clone()).collect::<Vec<_>>();
        if out.alternate() {
            let one = |mut terms: Vec<String>| if terms.len() == 1 { terms.remove(0) } else { tuple(terms) };
            let shapes = modes.iter().map(|axis| one(sizes(axis))).collect();
            let steps = modes.iter().map(|axis| one(strides(axis))).collect();
            return write!(out, "{}:{}", tuple(shapes), tuple(steps));
        }
        let flat: Vec<(u64, String)> = modes.into_iter().flatten().filter(|(size, _)| *size > 1).collect();
        write!(out, "{}:{}", tuple(sizes(&flat)), tuple(strides(&flat)))
    }
}

fn lane_of(bit: SegmentOffsetBitSource) -> Option<u32> {
    match bit {
        SegmentOffsetBitSource::Lane(lane) => Some(lane),
        SegmentOffsetBitSource::Byte => None,
    }
}

/// Returns the mask of the coordinate bits that the registers of one thread cover.
fn bits_in_registers(registers: &[u64]) -> u64 {
    let own = tilewright_layout::f2::Subspace::span(registers.iter().copied());
    (0..64).map(|bit| 1u64 << bit).filter(|&unit| own.contains(unit)).fold(0, |all, unit| all | unit)
}

/// Returns, for each offset bit of a slot (the contiguous memory of one access) above the bits of an element, the mask
/// of coordinate bits that it may stand for.
fn find_slot_bits(
    kind: &SharedAccessKind,
    bits: u32,
    (registers, in_registers): (&[u64], u64),
    lanes: &[u64],
) -> Result<Vec<u64>, UnsatisfiableAccess> {
    let within = bits.trailing_zeros();
    // The address bits within the slot, down to single bits: three within a byte, then those of `kind.segment`.
    let all = [SegmentOffsetBitSource::Byte; 3].into_iter().chain(kind.segment.iter().copied());
    let segment: Vec<SegmentOffsetBitSource> = all.collect();
    let (element, segment_bits) = segment.split_at_checked(within as usize).ok_or(UnsatisfiableAccess::LongElement)?;
    if element.iter().any(|bit| *bit != SegmentOffsetBitSource::Byte) {
        return Err(UnsatisfiableAccess::SplitElement);
    }
    let mut next = 0;
    let allowed_bits = |bit: &SegmentOffsetBitSource| match *bit {
        SegmentOffsetBitSource::Lane(lane) => Ok(lanes.get(lane as usize).copied().unwrap_or(0)),
        SegmentOffsetBitSource::Byte if kind.copies => {
            let column = registers.get(next).copied().unwrap_or(0);
            next += 1;
            if column & in_registers != 0 {
                Ok(column)
            } else {
                Err(UnsatisfiableAccess::RegisterOrder { register: 1 << (next - 1) })
            }
        }
        SegmentOffsetBitSource::Byte => Ok(in_registers),
    };
    segment_bits.iter().map(allowed_bits).collect()
}

/// Whether each mask can be assigned a bit that no other mask gets: bipartite matching by augmenting paths.
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

/// Splits a list of coordinate bits into maximal sequences of consecutive bits along one axis.
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

/// Returns all nonempty intersections of a group of `first` with a group of `second`. A group has the coordinate bits
/// that share a stride, so these are the groups of both terms together.
fn refined(first: &[Vec<u32>], second: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let common = |a: &Vec<u32>, b: &Vec<u32>| a.iter().copied().filter(|bit| b.contains(bit)).collect::<Vec<_>>();
    let all = first.iter().flat_map(|a| second.iter().map(move |b| common(a, b)));
    all.filter(|group| !group.is_empty()).collect()
}

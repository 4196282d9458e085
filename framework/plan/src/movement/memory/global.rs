//! Accesses of registers to global memory: how wide, how often, and how many units of memory.
//!
//! What is known of memory is a stride for each axis, or only what divides it. Axes that follow each
//! other without a gap are one run, so that vectors are found across dims (seed 000, section 6.2,
//! Table 3). Copies are stored once (seed 000, section 5.1).

use std::collections::HashMap;

use smallvec::SmallVec;

use tilewright_kernel::{Binary, Builder, Element, Value};
use tilewright_layout::f2::{Solver, Subspace, multiply};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{Direction, TargetDescription};

use super::super::address::Thread;
use super::super::wide::{narrowed, wide_type, widened};
use super::super::{MovementError, check_size};
use crate::layouts;
use crate::movement::check::check_element;

/// How far neighbours along an axis lie apart, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisStride {
    /// So many.
    Elements(u64),
    /// A multiple of so many that is known at run time only.
    MultipleOf(u64),
}

/// A tensor in global memory, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalTensor {
    /// For each axis its size, a power of two, and its stride.
    pub axes: Vec<(Dim, u64, AxisStride)>,
    /// What the address of the first element is a multiple of, in bytes.
    pub alignment: u64,
}

impl GlobalTensor {
    /// A tensor without gaps, the last axis fastest.
    #[must_use]
    pub fn row_major(shape: &[u64], alignment: u64) -> Self {
        let mut stride = 1;
        let mut axes: Vec<_> = (shape.iter().enumerate().rev())
            .map(|(axis, &size)| {
                let own = AxisStride::Elements(stride);
                stride *= size;
                (Dim::tensor(axis), size, own)
            })
            .collect();
        axes.reverse();
        Self { axes, alignment }
    }

    /// Axes whose elements follow each other without a gap, the fastest first, as (axis, bits).
    fn run(&self) -> Vec<(Dim, u32)> {
        let (mut run, mut length) = (Vec::new(), 1u64);
        while let Some(&(dim, size, _)) = self.axes.iter().find(|(dim, size, stride)| {
            *size > 1 && *stride == AxisStride::Elements(length) && !run.iter().any(|(known, _)| known == dim)
        }) {
            run.push((dim, size.trailing_zeros()));
            length = length.saturating_mul(size);
        }
        run
    }

    /// What the addresses of all vectors are a multiple of, in elements, the run aside.
    fn grain(&self, element_bytes: u64) -> u64 {
        let run = self.run();
        let others = self.axes.iter().filter(|(dim, size, _)| *size > 1 && !run.iter().any(|(known, _)| known == dim));
        let strides = others.map(|&(_, _, stride)| match stride {
            AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => 1u64 << stride.trailing_zeros().min(62),
        });
        strides.chain([lowest_bit(self.alignment) / element_bytes]).min().unwrap_or(1).max(1)
    }

    /// The address of an element, in bytes from the first one; axes of unknown stride lie so far apart
    /// that they share nothing.
    pub(in crate::movement) fn address(&self, coordinates: &[(Dim, u64)], element_bytes: u64) -> u64 {
        let along = |&(dim, _, stride): &(Dim, u64, AxisStride)| {
            let at = coordinates.iter().find(|(known, _)| *known == dim).map_or(0, |(_, at)| *at);
            match stride {
                AxisStride::Elements(stride) => at.wrapping_mul(stride),
                AxisStride::MultipleOf(grain) => at.wrapping_mul(grain.max(1)).wrapping_mul(1 << 32),
            }
        };
        self.axes.iter().map(along).fold(0u64, u64::wrapping_add).wrapping_mul(element_bytes)
    }
}

fn lowest_bit(number: u64) -> u64 {
    if number == 0 { 1 << 62 } else { number & number.wrapping_neg() }
}

/// Where an element is in global memory.
#[derive(Debug, Clone, Copy)]
pub struct GlobalPlace {
    /// A pointer to global memory.
    pub pointer: Value,
    /// A constant added to it, in bytes.
    pub offset: i32,
    /// An `i1`: the lanes that take part; absent means all.
    pub predicate: Option<Value>,
}

/// How a tensor is loaded from global memory into registers, or stored from them.
#[derive(Debug, Clone)]
pub struct GlobalAccess {
    /// How many elements each access moves.
    pub vector_elements: u64,
    /// Accesses of each warp.
    pub accesses: u64,
    /// Units of `global.transaction_bytes` of all accesses of all warps of a block; exact where all
    /// strides are known, else as if axes of unknown stride shared no unit.
    pub transactions: u64,
    /// Why accesses are not wider.
    pub limited_by: String,
    element: Element,
    lane_bits: u32,
    registers: Vec<u64>,
    /// The registers of each access, in the order of memory.
    groups: Vec<Vec<usize>>,
    /// Threads with one of these bits set hold copies of what others store.
    idle: u64,
}

/// The widest accesses between registers and global memory.
///
/// # Errors
/// [`MovementError`]: elements of no known width, an axis that the tensor has not, or of another
/// size; a target without an access of the element's width.
pub fn access_global(
    registers: &LinearLayout,
    memory: &GlobalTensor,
    element_bits: u32,
    direction: Direction,
    target: &TargetDescription,
) -> Result<GlobalAccess, MovementError> {
    let element = check_element(element_bits)?;
    check_axes(registers, memory)?;
    check_size("tensor", registers)?;
    let columns = registers.columns_of(Dim::REGISTER);
    let threads: Vec<u64> = [registers.columns_of(Dim::LANE), registers.columns_of(Dim::WARP)].concat();
    let (widest, limited_by) = widest(registers, memory, element_bits, target);
    let width = (0..=widest).rev().find(|&width| target.global.access_bits.contains(&(element_bits << width)));
    let width = width.ok_or_else(|| {
        MovementError::impossible(format!(
            "target {} has no access of {element_bits} bits to global memory",
            target.name
        ))
    })?;
    let units = units(registers, memory);
    let groups = groups(columns, &units[..width as usize]);
    let all: Vec<u64> = columns.iter().chain(&threads).copied().collect();
    let copies = Solver::new(&all).free_columns() >> columns.len();
    let access = GlobalAccess {
        vector_elements: 1 << width,
        accesses: groups.len() as u64,
        transactions: 0,
        limited_by,
        element,
        lane_bits: registers.in_bits(Dim::LANE),
        registers: columns.to_vec(),
        groups,
        idle: if direction == Direction::Store { copies } else { 0 },
    };
    let transactions = access.count_transactions(registers, memory, &threads, target);
    Ok(GlobalAccess { transactions, ..access })
}

fn check_axes(registers: &LinearLayout, memory: &GlobalTensor) -> Result<(), LayoutError> {
    for (dim, bits) in registers.outs().iter() {
        let Some((_, size, _)) = memory.axes.iter().find(|(known, _, _)| *known == dim) else {
            return Err(LayoutError::NoSuchDim { dim });
        };
        if !size.is_power_of_two() {
            return Err(LayoutError::NotPowerOfTwo { dim, size: *size });
        }
        if size.trailing_zeros() != bits {
            return Err(LayoutError::SizeMismatch { dim, left: bits, right: size.trailing_zeros() });
        }
    }
    Ok(())
}

/// The packed coordinates that step through the run by 1, 2, 4, ... elements.
fn units(registers: &LinearLayout, memory: &GlobalTensor) -> Vec<u64> {
    let shift = |dim| registers.outs().shift_of(dim).unwrap_or(0);
    memory.run().iter().flat_map(|&(dim, bits)| (0..bits).map(move |bit| 1u64 << (shift(dim) + bit))).collect()
}

/// Log2 of the widest vector, and what stands against a wider one.
fn widest(
    registers: &LinearLayout,
    memory: &GlobalTensor,
    element_bits: u32,
    target: &TargetDescription,
) -> (u32, String) {
    let units = units(registers, memory);
    let own = Subspace::span(registers.columns_of(Dim::REGISTER).iter().copied());
    let together = units.iter().take_while(|&&unit| own.contains(unit)).count() as u32;
    let others = registers.ins().dims().filter(|&dim| dim != Dim::REGISTER);
    let moved = others.flat_map(|dim| registers.columns_of(dim)).fold(0, |all, column| all | column);
    let apart = units.iter().take_while(|&&unit| moved & unit == 0).count() as u32;
    let aligned = memory.grain(u64::from(element_bits / 8)).ilog2();
    let offered = target.global.access_bits.iter().max().map_or(0, |&bits| (bits / element_bits).max(1).ilog2());
    let limits = [
        (offered, "the target has no wider access"),
        (together, "a lane holds no more elements that follow each other in memory"),
        (apart, "lanes hold neighbours within a wider vector"),
        (aligned, "wider vectors are not known to be aligned"),
    ];
    let (width, why) = limits.into_iter().min_by_key(|(width, _)| *width).unwrap_or((0, ""));
    (width, why.to_owned())
}

/// The registers of every vector: one register for each element, in the order of memory.
fn groups(columns: &[u64], vector: &[u64]) -> Vec<Vec<usize>> {
    let solver = Solver::new(columns);
    let mut space = Subspace::span(vector.iter().copied());
    let low = vector.iter().fold(0, |all, unit| all | unit);
    let steps: Vec<u64> = columns.iter().map(|&column| column & !low).filter(|&column| space.insert(column)).collect();
    let holder = |place: u64| solver.solve(place).unwrap_or(0) as usize;
    let group = |index: u64| {
        let start = multiply(&steps, index);
        (0..1u64 << vector.len()).map(|element| holder(start ^ multiply(vector, element))).collect()
    };
    (0..1u64 << steps.len()).map(group).collect()
}

impl GlobalAccess {
    /// The registers that each access takes, in the order of memory.
    #[must_use]
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Bytes that a lane moves at a time.
    #[must_use]
    pub fn bytes_at_once(&self) -> u64 {
        self.vector_elements * u64::from(self.element.bits() / 8)
    }

    /// Whether some threads hold copies that they do not store.
    #[must_use]
    pub fn leaves_out_copies(&self) -> bool {
        self.idle != 0
    }

    fn count_transactions(
        &self,
        registers: &LinearLayout,
        memory: &GlobalTensor,
        threads: &[u64],
        target: &TargetDescription,
    ) -> u64 {
        let bytes = u64::from(self.element.bits() / 8);
        let unit = u64::from(target.global.transaction_bytes.max(1));
        let (lanes, warps) = threads.split_at(self.lane_bits as usize);
        let address = |place: u64| {
            let coordinates: SmallVec<[_; 8]> = registers.outs().unpack(place).collect();
            memory.address(&coordinates, bytes)
        };
        let active = |thread: u64| thread & self.idle == 0;
        let own: Vec<u64> =
            (0..1u64 << lanes.len()).filter(|lane| active(*lane)).map(|lane| multiply(lanes, lane)).collect();
        let units_from = |start: u64| -> u64 {
            let from = own.iter().map(|place| address(start ^ place));
            let mut touched: Vec<u64> =
                from.flat_map(|from| from / unit..=(from + bytes * self.vector_elements - 1) / unit).collect();
            touched.sort_unstable();
            touched.dedup();
            touched.len() as u64
        };
        // Where no lane changes a bit of where its access begins, what lanes touch is moved as a whole; by a multiple of the unit,
        // it is as many units.
        let moved_by_lanes = lanes.iter().fold(0, |all, column| all | column);
        let mut known: HashMap<u64, u64> = HashMap::new();
        let mut count = 0;
        for warp in (0..1u64 << warps.len()).filter(|warp| active(warp << self.lane_bits)) {
            let of_warp = multiply(warps, warp);
            for group in &self.groups {
                let start = of_warp ^ multiply(&self.registers, group[0] as u64);
                count += match start & moved_by_lanes {
                    0 => *known.entry(address(start) % unit).or_insert_with(|| units_from(start)),
                    _ => units_from(start),
                };
            }
        }
        count
    }

    /// Writes the loads' kernel IR. `place` says where a register's element is; it must hold for its
    /// whole vector. The result holds one scalar integer for each register.
    pub fn emit_load(
        &self,
        builder: &mut Builder,
        place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
    ) -> Vec<Value> {
        let count = self.vector_elements as u32;
        let mut loaded: Vec<Option<Value>> = vec![None; 1 << self.registers.len()];
        for group in &self.groups {
            let GlobalPlace { pointer, offset, predicate } = place(builder, group[0]);
            let value = builder.load(wide_type(self.element, count), pointer, offset, predicate);
            for (&register, element) in group.iter().zip(narrowed(builder, value, self.element, count)) {
                loaded[register] = Some(element);
            }
        }
        let solver = Solver::new(&self.registers);
        let holder = |register: u64| solver.solve(multiply(&self.registers, register)).unwrap_or(0) as usize;
        (0..1u64 << self.registers.len()).filter_map(|register| loaded[holder(register)]).collect()
    }

    /// Writes the stores' kernel IR; copies are left out. `registers` holds one scalar integer for each
    /// register, `place` is as for [`GlobalAccess::emit_load`].
    ///
    /// # Panics
    /// Where `registers` has not as many values as the layout has registers.
    pub fn emit_store(
        &self,
        builder: &mut Builder,
        registers: &[Value],
        place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
    ) {
        let active = (self.idle != 0).then(|| Thread::new(builder, self.lane_bits).all_zero(builder, self.idle));
        for group in &self.groups {
            let GlobalPlace { pointer, offset, predicate } = place(builder, group[0]);
            let elements: Vec<Value> = group.iter().map(|&register| registers[register]).collect();
            let value = widened(builder, &elements);
            let predicate = match (active.flatten(), predicate) {
                (Some(own), Some(given)) => Some(builder.binary(Binary::And, own, given)),
                (own, given) => own.or(given),
            };
            builder.store(pointer, offset, value, predicate);
        }
    }
}

/// A layout for `warps` warps of `lanes` lanes that moves a tensor in the fewest accesses of a warp, and
/// among those in the fewest units of memory: each lane holds a vector, lanes and then warps follow
/// each other in memory. Of vectors that need as many, the narrower wins, which leaves fewer lanes
/// without work.
///
/// # Errors
/// As [`access_global`]; sizes that are no powers of two.
pub fn coalesced_layout(
    memory: &GlobalTensor,
    element_bits: u32,
    lanes: u64,
    warps: u64,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let widest = target.global.access_bits.iter().map(|&bits| bits / element_bits.max(1)).max().unwrap_or(1).max(1);
    let mut best: Option<((u64, u64), LinearLayout)> = None;
    for width in 0..=widest.ilog2() {
        let layout = in_order(memory, width, lanes, warps)?;
        let ways = [Direction::Load, Direction::Store]
            .map(|direction| access_global(&layout, memory, element_bits, direction, target));
        let [load, store] = ways;
        let (load, store) = (load?, store?);
        // Loads of copies are counted for each warp, however few warps would do: stores tell.
        let score = (load.accesses, load.transactions + store.transactions);
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            best = Some((score, layout));
        }
    }
    best.map(|(_, layout)| layout).ok_or(MovementError::ElementBits(element_bits))
}

/// The layout in which `2^width` registers, then lanes, then warps, then the other registers follow
/// each other in memory.
pub(in super::super) fn in_order(
    memory: &GlobalTensor,
    width: u32,
    lanes: u64,
    warps: u64,
) -> Result<LinearLayout, LayoutError> {
    let outs: Vec<(Dim, u64)> = memory.axes.iter().map(|&(dim, size, _)| (dim, size)).collect();
    let outs = Space::of_sizes(&outs)?;
    let sizes = Space::of_sizes(&[(Dim::LANE, lanes), (Dim::WARP, warps)])?;
    let mut axes: Vec<_> = memory.run().iter().map(|&(dim, _)| dim).collect();
    let mut others: Vec<_> = memory.axes.iter().filter(|(dim, _, _)| !axes.contains(dim)).collect();
    others.sort_by_key(|(_, _, stride)| match stride {
        AxisStride::Elements(stride) => (0, *stride),
        AxisStride::MultipleOf(stride) => (1, *stride),
    });
    axes.extend(others.into_iter().map(|&(dim, _, _)| dim));
    let mut units = axes.into_iter().flat_map(|dim| layouts::units(&outs, dim));
    let mut registers: Vec<u64> = units.by_ref().take(width as usize).collect();
    let mut threads = |dim| {
        let mut columns: Vec<u64> = units.by_ref().take(sizes.bits_of(dim) as usize).collect();
        columns.resize(sizes.bits_of(dim) as usize, 0);
        columns
    };
    let [lanes, warps] = [Dim::LANE, Dim::WARP].map(&mut threads);
    registers.extend(units);
    layouts::of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)], &outs)
}

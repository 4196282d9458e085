//! Accesses of registers to shared memory of a given layout: local stores and loads.
//!
//! The registers of a lane are grouped into vectors by left division of the map from positions to
//! offsets, up to a permutation of registers; padding, copies and sub-word elements are regarded.
//! Constants that share no bit with the thread's part of the offset are immediates.

use crate::f2::{Solver, Subspace, multiply};
use crate::kernel::{Builder, Counts, Element, Value};
use crate::layout::{Dim, LinearLayout, MemoryLayout, Padding};
use crate::target::{BankRow, Direction, TargetDescription, wavefronts};

use super::super::address::{LinearAddress, Thread};
use super::super::wide::{narrowed, wide_type, widened};
use super::super::{Bound, MovementError, SharedBits, bound, cost};

/// How a tensor in registers is stored to shared memory, or loaded from it.
#[derive(Debug, Clone)]
pub struct SharedAccess {
    /// What a warp executes; where warps differ, the most.
    pub counts: Counts,
    /// Cycles of the block by the target's table.
    pub cost: f64,
    /// What no accesses between these layouts can go below.
    pub bound: Bound,
    /// Why the counts are above the bound, where they are.
    pub above_bound: Option<String>,
    /// How many elements each access moves.
    pub vector_elements: u64,
    places: Places,
    accesses: Vec<Access>,
}

/// Where registers and threads lie in memory: columns of offsets, in elements.
#[derive(Debug, Clone)]
struct Places {
    direction: Direction,
    element: Element,
    lane_bits: u32,
    warp_bits: u32,
    registers: Vec<u64>,
    threads: Vec<u64>,
    /// Threads with one of these bits set hold copies of what others store.
    idle: u64,
    padding: Vec<Padding>,
}

/// One access: a constant part of the offset, and the registers of the vector.
#[derive(Debug, Clone)]
struct Access {
    offset: u64,
    registers: Vec<usize>,
}

/// The cheapest stores of a tensor in layout `registers` to shared memory of layout `memory`, each
/// element once.
///
/// # Errors
/// [`MovementError`]: layouts of different tensors, memory of other blocks, elements that no access
/// of the target carries.
pub fn store_shared(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<SharedAccess, MovementError> {
    plan(Places::new(registers, memory, element_bits, Direction::Store)?, target)
}

/// The cheapest loads of a tensor into layout `registers` from shared memory of layout `memory`.
///
/// # Errors
/// As [`store_shared`].
pub fn load_shared(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    target: &TargetDescription,
) -> Result<SharedAccess, MovementError> {
    plan(Places::new(registers, memory, element_bits, Direction::Load)?, target)
}

fn plan(places: Places, target: &TargetDescription) -> Result<SharedAccess, MovementError> {
    let bits = places.element.bits();
    let widest = places.widest();
    let plans = (0..=widest).filter_map(|width| {
        let row = target.bank_row(places.direction, bits << width)?;
        target.shared.access_bits.contains(&(bits << width)).then(|| places.accessed(width, row, target))
    });
    let cheapest = plans.min_by(|a, b| a.cost.total_cmp(&b.cost).then(b.vector_elements.cmp(&a.vector_elements)));
    cheapest.ok_or_else(|| MovementError::Impossible {
        reasons: format!("target {} has no access of {bits} bits to shared memory", target.name),
    })
}

impl Places {
    fn new(
        registers: &LinearLayout,
        memory: &MemoryLayout,
        element_bits: u32,
        direction: Direction,
    ) -> Result<Self, MovementError> {
        let element = Element::integer(element_bits).filter(|element| element.bits() >= 8);
        let element = element.ok_or(MovementError::ElementBits(element_bits))?;
        let refused = |reason: String| MovementError::Memory { reason };
        let known = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
        if let Some(dim) = registers.ins().dims().find(|dim| !known.contains(dim)) {
            return Err(MovementError::NotDistributed { side: "registers'", dim });
        }
        let places = registers.invert_and_compose(&memory.linear).map_err(|error| refused(error.to_string()))?;
        let offsets = |dim: Dim| -> Result<Vec<u64>, MovementError> {
            let columns = places.columns_of(dim).iter().enumerate();
            columns
                .map(|(bit, &column)| {
                    let block = places.outs().coordinate(column, Dim::BLOCK);
                    let own = if dim == Dim::BLOCK { 1 << bit } else { 0 };
                    match block == own || (dim == Dim::BLOCK && block == 0) {
                        true => Ok(places.outs().coordinate(column, Dim::OFFSET)),
                        false => Err(refused(format!("basis {bit} of {dim} leads to block {block}"))),
                    }
                })
                .collect()
        };
        if offsets(Dim::BLOCK)?.iter().any(|&offset| offset != 0) {
            return Err(refused("blocks hold different offsets of one memory".to_owned()));
        }
        let (columns, lanes, warps) = (offsets(Dim::REGISTER)?, offsets(Dim::LANE)?, offsets(Dim::WARP)?);
        let threads = [lanes.as_slice(), &warps].concat();
        let all: Vec<u64> = columns.iter().chain(&threads).copied().collect();
        let copies = Solver::new(&all).free_columns() >> columns.len();
        Ok(Self {
            direction,
            element,
            lane_bits: lanes.len() as u32,
            warp_bits: warps.len() as u32,
            registers: columns,
            threads,
            idle: if direction == Direction::Store { copies } else { 0 },
            padding: memory.padding.clone(),
        })
    }

    /// Log2 of the most elements that an access can take: they lie side by side in the registers of
    /// each lane, at the same place of the vector in all threads, and padding keeps them together.
    fn widest(&self) -> u32 {
        let own = Subspace::span(self.registers.iter().copied());
        let apart = self.threads.iter().fold(0, |all, column| all | column).trailing_zeros();
        let together = (0..64).take_while(|&bit| own.contains(1 << bit)).count() as u32;
        let unbroken =
            |width: &u32| self.padding.iter().all(|p| p.interval >> width != 0 && p.padding.is_multiple_of(1 << width));
        (0..=together.min(apart).min(7)).rev().find(unbroken).unwrap_or(0)
    }

    /// The accesses of `2^width` elements each.
    fn accessed(&self, width: u32, row: &BankRow, target: &TargetDescription) -> SharedAccess {
        let low = (1u64 << width) - 1;
        let mut space = Subspace::zero();
        let steps: Vec<u64> =
            self.registers.iter().map(|&column| column & !low).filter(|&column| space.insert(column)).collect();
        let solver = Solver::new(&self.registers);
        let holder = |offset: u64| solver.solve(offset).unwrap_or(0) as usize;
        let accesses: Vec<Access> = (0..1u64 << steps.len())
            .map(|index| {
                let offset = multiply(&steps, index);
                Access { offset, registers: (0..=low).map(|element| holder(offset ^ element)).collect() }
            })
            .collect();
        let counts = self.counts(&accesses, width, row);
        let bound = self.bound(target);
        let above = !bound.is_met(&counts);
        SharedAccess {
            cost: cost(&counts, 1 << self.warp_bits, 1, target),
            above_bound: above.then(|| self.why_above(&counts, &bound, width)),
            bound,
            counts,
            vector_elements: 1 << width,
            places: self.clone(),
            accesses,
        }
    }

    fn counts(&self, accesses: &[Access], width: u32, row: &BankRow) -> Counts {
        let of_warp = |warp: u64| accesses.iter().map(|access| self.wavefronts(access, warp, width, row)).sum::<u64>();
        // Without padding every warp and access differs by a constant (xor), which permutes banks, but
        // for warps that are idle.
        let most = match self.padding.is_empty() {
            true => accesses.first().map_or(0, |access| self.wavefronts(access, 0, width, row)) * accesses.len() as u64,
            false => (0..1u64 << self.warp_bits).map(of_warp).max().unwrap_or(0),
        };
        let issued = accesses.len() as u64;
        match self.direction {
            Direction::Store => Counts { shared_stores: issued, wavefronts_stored: most, ..Counts::default() },
            Direction::Load => Counts { shared_loads: issued, wavefronts_loaded: most, ..Counts::default() },
        }
    }

    /// The wavefronts that an access of one warp takes.
    fn wavefronts(&self, access: &Access, warp: u64, width: u32, row: &BankRow) -> u64 {
        let bytes = u64::from(self.element.bits() / 8);
        let address = |lane: u64| {
            let thread = lane | warp << self.lane_bits;
            let offset = access.offset ^ multiply(&self.threads, thread);
            let padding = self.padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>();
            (thread & self.idle == 0).then_some((offset + padding) * bytes)
        };
        let addresses: Vec<_> = (0..1u64 << self.lane_bits).map(address).collect();
        wavefronts(row, &addresses, (bytes as u32) << width)
    }

    /// Stores: the different elements of a block, shared evenly by its warps. Loads: those of a warp.
    fn bound(&self, target: &TargetDescription) -> Bound {
        let bits = u64::from(self.element.bits());
        let dimension = |columns: &[u64]| Subspace::span(columns.iter().copied()).dimension();
        let held = bits << dimension(&self.registers);
        let most = bound::most_at_once(target, self.direction, bits, held);
        let lanes = &self.threads[..self.lane_bits as usize];
        match self.direction {
            Direction::Store => {
                let all = bits << dimension(&[self.registers.as_slice(), &self.threads].concat());
                Bound { wavefronts_stored: all.div_ceil(most << self.warp_bits), ..Bound::default() }
            }
            Direction::Load => {
                let all = bits << dimension(&[self.registers.as_slice(), lanes].concat());
                Bound { wavefronts_loaded: all.div_ceil(most), ..Bound::default() }
            }
        }
    }

    fn why_above(&self, counts: &Counts, bound: &Bound, width: u32) -> String {
        let (have, least) = match self.direction {
            Direction::Store => (counts.wavefronts_stored, bound.wavefronts_stored),
            Direction::Load => (counts.wavefronts_loaded, bound.wavefronts_loaded),
        };
        let bytes = (self.element.bits() / 8) << width;
        format!(
            "{have} wavefronts against {least}: the memory layout lets each lane move {bytes} bytes at a time, with these conflicts"
        )
    }

    fn addresses(&self, builder: &mut Builder, thread: Thread, buffer: Value) -> LinearAddress {
        let bytes = u64::from(self.element.bits() / 8);
        let columns: Vec<u64> = self.threads.iter().map(|column| column * bytes).collect();
        LinearAddress::new(builder, thread, buffer, &columns, bytes).padded(&self.padding)
    }
}

impl SharedAccess {
    /// What a lane stores to shared memory, or loads from it.
    #[must_use]
    pub fn shared_bits(&self) -> SharedBits {
        let elements = self.accesses.iter().map(|access| access.registers.len() as u64).sum::<u64>();
        let bits = elements * u64::from(self.places.element.bits());
        match self.places.direction {
            Direction::Store => SharedBits { stored: bits, loaded: 0 },
            Direction::Load => SharedBits { stored: 0, loaded: bits },
        }
    }

    /// Writes the stores' kernel IR: `registers` holds one scalar integer of the element's width for
    /// each register, `buffer` is the address of the memory.
    ///
    /// # Panics
    /// Where `registers` has not as many values as the layout has registers.
    pub fn emit_store(&self, builder: &mut Builder, buffer: Value, registers: &[Value]) {
        let thread = Thread::new(builder, self.places.lane_bits);
        let mut addresses = self.places.addresses(builder, thread, buffer);
        let active = thread.all_zero(builder, self.places.idle);
        for access in &self.accesses {
            let elements: Vec<_> = access.registers.iter().map(|&register| registers[register]).collect();
            let value = widened(builder, &elements);
            let (pointer, offset) = addresses.at(builder, access.offset);
            builder.store(pointer, offset, value, active);
        }
    }

    /// Writes the loads' kernel IR; the result holds one scalar integer for each register.
    pub fn emit_load(&self, builder: &mut Builder, buffer: Value) -> Vec<Value> {
        let places = &self.places;
        let thread = Thread::new(builder, places.lane_bits);
        let mut addresses = places.addresses(builder, thread, buffer);
        let mut loaded: Vec<Option<Value>> = vec![None; 1 << places.registers.len()];
        for access in &self.accesses {
            let count = access.registers.len() as u32;
            let (pointer, offset) = addresses.at(builder, access.offset);
            let value = builder.load(wide_type(places.element, count), pointer, offset, None);
            let elements = narrowed(builder, value, places.element, count);
            for (&register, element) in access.registers.iter().zip(elements) {
                loaded[register] = Some(element);
            }
        }
        // Registers that hold copies take the value that was loaded for another.
        let solver = Solver::new(&places.registers);
        let holder = |register: u64| solver.solve(multiply(&places.registers, register)).unwrap_or(0) as usize;
        (0..1u64 << places.registers.len()).filter_map(|register| loaded[holder(register)]).collect()
    }
}

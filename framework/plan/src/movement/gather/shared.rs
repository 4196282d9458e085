//! Gathers through shared memory: the block stores the source, and each index becomes a load.

use tilewright_kernel::{Binary, Builder, CollectiveScope, Compare, Counts, Element, Type, Value};
use tilewright_layout::f2::{Solver, Subspace, multiply_vector};
use tilewright_layout::{Dim, MemoryLayout, Space};
use tilewright_target::{Direction, TargetDescription, count_access_wavefronts};

use super::super::address::{ThreadIndices, emit_f2_product};
use super::super::price::occupied_cycles;
use super::super::{MovementError, PlanContext, SharedAccessPlan, SharedMemoryBitsPerLane, plan_shared_access};
use super::problem::GatherProblem;
use crate::layouts;

/// The plan of a gather by loads from shared memory, in rounds if the source does not fit there at once.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    store: SharedAccessPlan,
    element: Element,
    pub(super) bytes: u64,
    /// Mean number of shared-memory wavefronts that a warp loads, over uniformly random indices.
    pub(super) expected_wavefronts: f64,
    lane_bits: u32,
    /// Log2 of the number of rounds (fillings of shared memory). The round of an element is a linear function over F2
    /// of its coordinates, and depends only on the register that has the element.
    round_bits: u32,
    /// For each bit of an element's index in round zero, the bits of the source register that it adds. Other rounds
    /// have the same registers with the bits of `flipped` changed.
    stored: Vec<u64>,
    /// For each bit of the index of a round (filling of shared memory), the bits of the source register that it flips.
    flipped: Vec<u64>,
    /// For each register bit of the result, the address that it adds: the offset in elements in the low `offset_bits`
    /// bits, the round above them. `threads` and `index` have the addresses that thread bits and bits of the gather's
    /// index add.
    registers: Vec<u64>,
    threads: Vec<u64>,
    index: Vec<u64>,
    offset_bits: u32,
    /// Scope of the barriers between stores and loads.
    scope: CollectiveScope,
}

/// Plans the gather through shared memory, with the order of axes in memory for which it is cheapest.
pub(super) fn plan(problem: &GatherProblem, context: PlanContext<'_>) -> Result<(Shared, Counts), String> {
    let dims: Vec<Dim> = problem.src.outs().dims().collect();
    let mut best: Option<(Shared, Counts)> = None;
    for first in 0..dims.len() {
        let mut order = dims.clone();
        order.rotate_left(first);
        let candidate = in_order(problem, &order, context).map_err(|error| error.to_string())?;
        let time = |(shared, counts): &(Shared, Counts)| {
            let expected = Counts { wavefronts_loaded: shared.expected_wavefronts.ceil() as u64, ..*counts };
            occupied_cycles(&expected, 1, context.target)
        };
        if best.as_ref().is_none_or(|known| time(&candidate) < time(known)) {
            best = Some(candidate);
        }
    }
    best.ok_or_else(|| "the tensor has no axes".to_owned())
}

fn in_order(
    problem: &GatherProblem,
    order: &[Dim],
    context: PlanContext<'_>,
) -> Result<(Shared, Counts), MovementError> {
    let (target, outs) = (context.target, problem.src.outs());
    let units: Vec<u64> = order.iter().flat_map(|&dim| layouts::units(outs, dim)).collect();
    let bits = problem.element.bits();
    let (bytes, have) = (u64::from(bits / 8) << units.len(), context.scratch_bytes);
    let round_bits = (0..units.len() as u32).find(|&rounds| bytes >> rounds <= have);
    let rounds = round_bits.and_then(|round_bits| Rounds::of(problem, &units, round_bits)).ok_or_else(|| {
        MovementError::impossible(format!("{bytes} bytes of shared memory are needed and {have} are there"))
    })?;
    let offset_bits = (units.len() - rounds.functions.len()) as u32;
    let solver = Solver::new(&rounds.basis);
    let addresses = |columns: &[u64]| columns.iter().map(|&c| solver.solve(c).unwrap_or(0)).collect::<Vec<_>>();
    let (stored, flipped) = rounds.registers(problem);
    let offset = Dim::tensor(0);
    let mut outs = Space::default();
    outs.push(offset, offset_bits)?;
    let own = |dim| addresses(problem.src.columns_of(dim));
    let registers = addresses(&stored.iter().map(|&(column, _)| column).collect::<Vec<_>>());
    let layout = layouts::distributed([&registers, &own(Dim::LANE), &own(Dim::WARP)], &outs)?;
    let of_memory: Vec<u64> = (0..offset_bits).map(|bit| 1 << bit).collect();
    let memory = MemoryLayout::from_linear(layouts::of_dims(&[(Dim::OFFSET, &of_memory)], &outs)?);
    let store = plan_shared_access(&layout, &memory, bits, Direction::Store, context)?;
    let mut shared = Shared {
        element: problem.element,
        bytes: bytes >> rounds.functions.len(),
        expected_wavefronts: 0.0,
        lane_bits: problem.lane_bits,
        round_bits: rounds.functions.len() as u32,
        stored: stored.iter().map(|&(_, register)| register).collect(),
        flipped,
        registers: addresses(&problem.registers),
        threads: addresses(&problem.threads),
        index: addresses(&problem.axis_units()),
        offset_bits,
        scope: if problem.stays_in_warps() { CollectiveScope::Warp } else { CollectiveScope::Block },
        store,
    };
    let loads = shared.loads();
    let (least, mean) = shared.wavefronts(target).ok_or_else(|| {
        MovementError::impossible(format!("target {} has no load of {bits} bits from shared memory", target.name))
    })?;
    let rounds = 1u64 << shared.round_bits;
    let [barriers, warp_barriers] = match shared.scope {
        CollectiveScope::Warp if target.shared.warp_ordered => [0, 0],
        CollectiveScope::Warp => [0, 2 * rounds - 1],
        CollectiveScope::Block | CollectiveScope::Cluster => [2 * rounds - 1, 0],
    };
    let loaded = Counts {
        shared_loads: loads,
        wavefronts_loaded: loads * least,
        barriers,
        warp_barriers,
        selects: loads - (1u64 << problem.registers.len()),
        ..Counts::default()
    };
    shared.expected_wavefronts = mean * loads as f64;
    let stored = (0..rounds).fold(Counts::default(), |all, _| all.add_counts(shared.store.stats.counts));
    Ok((shared, stored.add_counts(loaded)))
}

/// The rounds (fillings of shared memory) of a gather: linear functions over F2 that map the packed coordinate of an
/// element to the bits of the index of its round.
struct Rounds {
    /// For each bit of the round's index, the mask of the coordinate bits whose parity it is.
    functions: Vec<u64>,
    /// A basis of the packed coordinates: first a basis of the coordinates in round zero, in the order of memory, then
    /// one coordinate for each bit of the round's number.
    basis: Vec<u64>,
}

impl Rounds {
    /// Chooses the functions that number 2^`round_bits` rounds; `units` are the coordinate bits in the order of memory.
    /// The round depends only on the source register that has the element, and if possible neither on the result's
    /// thread nor on the index. `None` if the source's threads have too few registers.
    fn of(problem: &GatherProblem, units: &[u64], round_bits: u32) -> Option<Self> {
        let threads = [problem.src.columns_of(Dim::LANE), problem.src.columns_of(Dim::WARP)].concat();
        let elsewhere = [&problem.threads[..], &problem.axis_units()].concat();
        let stored = annihilator(&threads, units);
        let mut chosen = Subspace::zero();
        let both = annihilator(&[threads, elsewhere].concat(), units);
        for function in both.into_iter().rev().chain(stored.into_iter().rev()) {
            if chosen.dimension() < round_bits {
                chosen.insert(function);
            }
        }
        let mut functions = chosen.basis().to_vec();
        if functions.len() < round_bits as usize {
            return None;
        }
        // Each function gets its own coordinate bit, as high in memory as possible, which no other function uses.
        let (mut own, mut rest) = (Vec::new(), units.to_vec());
        for at in 0..functions.len() {
            let unit = *rest.iter().rev().find(|&&unit| functions[at] & unit != 0)?;
            rest.retain(|&other| other != unit);
            own.push(unit);
            let function = functions[at];
            for (other, known) in functions.iter_mut().enumerate() {
                *known ^= if other != at && *known & unit != 0 { function } else { 0 };
            }
        }
        let of_round = |at: usize, unit: u64| if functions[at] & unit != 0 { own[at] } else { 0 };
        let within = rest.iter().map(|&unit| (0..functions.len()).fold(unit, |all, at| all ^ of_round(at, unit)));
        let basis = within.chain(own.iter().copied()).collect();
        Some(Self { functions, basis })
    }

    /// Returns two lists: for each bit of an element's index in round zero, the coordinate and the source register that
    /// it adds; for each bit of the round's number, the register bits that it flips.
    fn registers(&self, problem: &GatherProblem) -> (Vec<(u64, u64)>, Vec<u64>) {
        let round = |column: u64| {
            let parity = |function: &u64| u64::from((function & column).count_ones() & 1);
            self.functions.iter().enumerate().fold(0, |all, (bit, function)| all | parity(function) << bit)
        };
        let columns = problem.src.columns_of(Dim::REGISTER);
        let rounds: Vec<u64> = columns.iter().map(|&column| round(column)).collect();
        let solver = Solver::new(&rounds);
        let flipped: Vec<u64> = (0..self.functions.len()).map(|bit| solver.solve(1 << bit).unwrap_or(0)).collect();
        // A register bit that the solver leaves free is combined with bits of `flipped`, so that the sum stays in round
        // zero.
        let free = (0..columns.len()).filter(|&bit| solver.free_columns() >> bit & 1 == 1);
        let stored = free.map(|bit| {
            let register = 1u64 << bit ^ multiply_vector(&flipped, rounds[bit]);
            (multiply_vector(columns, register), register)
        });
        (stored.collect(), flipped)
    }
}

/// Returns a basis of the linear functions that are zero on all coordinates in `columns`, each as a mask of coordinate
/// bits whose parity it is. `units` are the coordinate bits.
fn annihilator(columns: &[u64], units: &[u64]) -> Vec<u64> {
    let is_odd = |function: u64, column: u64| (function & column).count_ones() & 1 == 1;
    let mut functions = units.to_vec();
    for &column in columns {
        if let Some(at) = functions.iter().position(|&function| is_odd(function, column)) {
            let pivot = functions.remove(at);
            for function in functions.iter_mut().filter(|function| is_odd(**function, column)) {
                *function ^= pivot;
            }
        }
    }
    functions
}

impl Shared {
    /// Whether the source is divided into several rounds, because it does not fit in shared memory at once.
    pub(super) fn is_in_rounds(&self) -> bool {
        self.round_bits > 0
    }

    /// Returns the number of loads of a lane over all rounds: one for each result; if the thread or the index decides
    /// the round, one for each result in each round that may have its element.
    fn loads(&self) -> u64 {
        (0..1u64 << self.round_bits).map(|round| self.loaded(round).count() as u64).sum()
    }

    /// Returns the registers of the result whose element may be in the round (filling of shared memory) `round`.
    fn loaded(&self, round: u64) -> impl Iterator<Item = usize> {
        let is_dynamic = self.threads.iter().chain(&self.index).fold(0, |all, column| all | column >> self.offset_bits);
        let registers = 0..1usize << self.registers.len();
        registers.filter(move |&register| {
            let fixed = multiply_vector(&self.registers, register as u64) >> self.offset_bits;
            (fixed ^ round) & !is_dynamic == 0
        })
    }

    /// Returns the wavefronts of one load instruction of a warp: the minimum, and the mean over pseudo-random indices.
    /// `None` if the target has no bank model for the load.
    fn wavefronts(&self, target: &TargetDescription) -> Option<(u64, f64)> {
        const DRAWS: u64 = 64;
        let row = target.find_bank_row(Direction::Load, self.element.bits())?;
        let bytes = self.element.bits() / 8;
        let lanes = 1u64 << self.lane_bits;
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 20
        };
        let drawn = |draw: &mut dyn FnMut() -> u64| {
            let address = |lane: u64, index: u64| {
                let offset = multiply_vector(&self.threads, lane) ^ multiply_vector(&self.index, index);
                Some((offset & ((1 << self.offset_bits) - 1)) * u64::from(bytes))
            };
            let mask = (1u64 << self.index.len()) - 1;
            let addresses: Vec<_> = (0..lanes).map(|lane| address(lane, draw() & mask)).collect();
            count_access_wavefronts(row, &addresses, bytes)
        };
        let least = lanes.div_ceil(1 << row.most_phase_bits());
        let sum: u64 = (0..DRAWS).map(|_| drawn(&mut draw)).sum();
        Some((least, sum as f64 / DRAWS as f64))
    }

    /// Returns the numbers of bits that a lane stores to and loads from shared memory.
    pub(super) fn shared_bits(&self) -> SharedMemoryBitsPerLane {
        let loaded = u64::from(self.element.bits()) * self.loads();
        SharedMemoryBitsPerLane { loaded, stored: self.store.stats.shared_bits.stored << self.round_bits }
    }

    pub(super) fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        let buffer = builder.shared_buffer(self.bytes as u32, 16);
        let thread = ThreadIndices::new(builder, self.lane_bits).emit_f2_product(builder, &self.threads);
        let addresses: Vec<Value> = (indices.iter())
            .map(|&index| {
                let along = emit_f2_product(builder, index, &self.index);
                // The addresses of lines and of positions within a line share no bit, so their xor is their sum.
                builder.binary(Binary::Xor, thread, along)
            })
            .collect();
        let mut results: Vec<Option<Value>> = vec![None; indices.len()];
        for round in 0..1u64 << self.round_bits {
            if round > 0 {
                builder.barrier(self.scope);
            }
            let flipped = multiply_vector(&self.flipped, round);
            let count = 1u64 << self.stored.len();
            let own: Vec<Value> =
                (0..count).map(|at| src[(multiply_vector(&self.stored, at) ^ flipped) as usize]).collect();
            self.store.emit_store(builder, buffer, &own);
            builder.barrier(self.scope);
            for register in self.loaded(round) {
                let loaded = self.emit_load(builder, buffer, addresses[register], register as u64);
                results[register] = Some(match results[register] {
                    Some(other) => {
                        self.emit_choice(builder, (addresses[register], register as u64), round, [loaded, other])
                    }
                    None => loaded,
                });
            }
        }
        results.into_iter().flatten().collect()
    }

    /// Emits the load of the result register `register` from the shared memory at `buffer`. `address` is the part of
    /// its address that the thread and the index determine.
    fn emit_load(&self, builder: &mut Builder, buffer: Value, address: Value, register: u64) -> Value {
        let bytes = self.element.bits() / 8;
        let within = (1u64 << self.offset_bits) - 1;
        let line = multiply_vector(&self.registers, register) & within;
        let of_address = self.threads.iter().chain(&self.index).fold(0, |all, column| all | column);
        let mut offset = address;
        if of_address & !within != 0 {
            offset = builder.binary_const(Binary::And, offset, within as u32);
        }
        let is_disjoint = of_address & line == 0;
        if !is_disjoint {
            offset = builder.binary_const(Binary::Xor, offset, line as u32);
        }
        let moved = if is_disjoint { line * u64::from(bytes) } else { 0 };
        let offset = if bytes == 1 { offset } else { builder.binary_const(Binary::Mul, offset, bytes) };
        let pointer = builder.ptr_add(buffer, offset);
        builder.load(Type::Scalar(self.element), pointer, moved as i32, None)
    }

    /// Emits a select: `loaded`, the element loaded in this round, if the address belongs to this round; otherwise
    /// `other`, the element of an earlier round.
    fn emit_choice(
        &self,
        builder: &mut Builder,
        (address, register): (Value, u64),
        round: u64,
        [loaded, other]: [Value; 2],
    ) -> Value {
        let own = builder.binary_const(Binary::ShrU, address, self.offset_bits);
        let required = builder.i32((multiply_vector(&self.registers, register) >> self.offset_bits ^ round) as u32);
        let is_here = builder.compare(Compare::Eq, own, required);
        builder.select(is_here, loaded, other)
    }
}

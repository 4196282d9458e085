//! Gathers through shared memory.

use tilewright_kernel::{Binary, Builder, Counts, Element, Scope, Type, Value};
use tilewright_layout::f2::{Solver, multiply};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_target::{Direction, TargetDescription, wavefronts};

use super::super::address::{ThreadIndices, emit_product};
use super::super::{MovementError, SharedAccess, SharedBits, plan_shared_access, price};
use super::problem::GatherProblem;
use crate::layouts;

/// The plan of a gather by loads from shared memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    store: SharedAccess,
    element: Element,
    pub(super) bytes: u64,
    /// Mean number of wavefronts that a warp loads, over uniformly random indices.
    pub(super) expected_wavefronts: f64,
    lane_bits: u32,
    /// The offset in memory that each register bit of a result adds, in elements; `threads` and `index` have those of
    /// thread bits and index bits.
    registers: Vec<u64>,
    threads: Vec<u64>,
    index: Vec<u64>,
}

/// Plans the gather through shared memory, with the order of axes in memory for which it is cheapest.
pub(super) fn plan(problem: &GatherProblem, target: &TargetDescription) -> Result<(Shared, Counts), String> {
    let dims: Vec<Dim> = problem.src.outs().dims().collect();
    let mut best: Option<(Shared, Counts)> = None;
    for first in 0..dims.len() {
        let mut order = dims.clone();
        order.rotate_left(first);
        let candidate = in_order(problem, &order, target).map_err(|error| error.to_string())?;
        let rank = |(shared, counts): &(Shared, Counts)| price(counts) + shared.expected_wavefronts;
        if best.as_ref().is_none_or(|known| rank(&candidate) < rank(known)) {
            best = Some(candidate);
        }
    }
    best.ok_or_else(|| "the tensor has no axes".to_owned())
}

fn in_order(
    problem: &GatherProblem,
    order: &[Dim],
    target: &TargetDescription,
) -> Result<(Shared, Counts), MovementError> {
    let outs = problem.src.outs();
    let units: Vec<u64> = order.iter().flat_map(|&dim| layouts::units(outs, dim)).collect();
    let memory = MemoryLayout::linear(layouts::of_dims(&[(Dim::OFFSET, &units)], outs)?);
    let bits = problem.element.bits();
    let bytes = u64::from(bits / 8) << units.len();
    if bytes > u64::from(target.shared.static_bytes) {
        let have = target.shared.static_bytes;
        return Err(MovementError::impossible(format!(
            "{bytes} bytes of shared memory are needed and {have} are there"
        )));
    }
    let store = plan_shared_access(&problem.src, &memory, bits, Direction::Store, target)?;
    let solver = Solver::new(&units);
    let offsets = |columns: &[u64]| columns.iter().map(|&c| solver.solve(c).unwrap_or(0)).collect::<Vec<_>>();
    let mut shared = Shared {
        element: problem.element,
        bytes,
        expected_wavefronts: 0.0,
        lane_bits: problem.lane_bits,
        registers: offsets(&problem.registers),
        threads: offsets(&problem.threads),
        index: offsets(&problem.axis_units()),
        store,
    };
    let loads = 1u64 << problem.registers.len();
    let (least, mean) = shared.wavefronts(target).ok_or_else(|| {
        MovementError::impossible(format!("target {} has no load of {bits} bits from shared memory", target.name))
    })?;
    let loaded = Counts { shared_loads: loads, wavefronts_loaded: loads * least, barriers: 1, ..Counts::default() };
    shared.expected_wavefronts = mean * loads as f64;
    let counts = shared.store.stats.counts.plus(loaded);
    Ok((shared, counts))
}

impl Shared {
    /// Returns the wavefronts of one load: the minimum, and the mean over uniformly random indices. `None` if the
    /// target has no bank model for the load.
    fn wavefronts(&self, target: &TargetDescription) -> Option<(u64, f64)> {
        const DRAWS: u64 = 64;
        let row = target.bank_row(Direction::Load, self.element.bits())?;
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
                Some((multiply(&self.threads, lane) ^ multiply(&self.index, index)) * u64::from(bytes))
            };
            let mask = (1u64 << self.index.len()) - 1;
            let addresses: Vec<_> = (0..lanes).map(|lane| address(lane, draw() & mask)).collect();
            wavefronts(row, &addresses, bytes)
        };
        let least = lanes.div_ceil(1 << row.phase.len().min(63));
        let sum: u64 = (0..DRAWS).map(|_| drawn(&mut draw)).sum();
        Some((least, sum as f64 / DRAWS as f64))
    }

    /// Bits that a lane stores to and loads from shared memory.
    pub(super) fn shared_bits(&self) -> SharedBits {
        let loaded = u64::from(self.element.bits()) << self.registers.len();
        SharedBits { loaded, ..self.store.stats.shared_bits }
    }

    pub(super) fn emit(&self, builder: &mut Builder, src: &[Value], indices: &[Value]) -> Vec<Value> {
        let buffer = builder.shared_buffer(self.bytes as u32, 16);
        self.store.emit_store(builder, buffer, src);
        builder.barrier(Scope::Block);
        let bytes = u64::from(self.element.bits() / 8);
        let scaled = |columns: &[u64]| columns.iter().map(|column| column * bytes).collect::<Vec<_>>();
        let thread = ThreadIndices::new(builder, self.lane_bits).emit_product(builder, &scaled(&self.threads));
        let index_columns = scaled(&self.index);
        (indices.iter().enumerate())
            .map(|(register, &index)| {
                let along = emit_product(builder, index, &index_columns);
                // Lines and positions within a line share no offset bit.
                let offset = builder.binary(Binary::Xor, thread, along);
                let pointer = builder.ptr_add(buffer, offset);
                let line = multiply(&self.registers, register as u64) * bytes;
                let is_disjoint =
                    self.threads.iter().chain(&self.index).fold(0, |all, c| all | (c * bytes)) & line == 0;
                match is_disjoint {
                    true => builder.load(Type::Scalar(self.element), pointer, line as i32, None),
                    false => {
                        let moved = builder.binary_const(Binary::Xor, offset, line as u32);
                        let pointer = builder.ptr_add(buffer, moved);
                        builder.load(Type::Scalar(self.element), pointer, 0, None)
                    }
                }
            })
            .collect()
    }
}

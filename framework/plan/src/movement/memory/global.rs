//! Accesses between registers and global memory: their width, number and transactions.
//!
//! The memory is described by a stride for each axis, or by a divisor of the stride. Axes without a gap between them
//! form one run of contiguous elements, so vectors can extend over several dims (Linear Layouts paper, section 6.2,
//! Table 3). An axis may consist of segments, each with a stride of its own. Replicas are stored once (Linear Layouts
//! paper, section 5.1).

use std::array;
use std::collections::HashMap;

use tilewright_kernel::{Binary, Builder, Element, Op, Value};
use tilewright_layout::f2::{Solver, Subspace, multiply_vector};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_target::{Direction, TargetDescription};

use super::super::address::ThreadIndices;
use super::super::packing::{narrowed, wide_type, widened};
use super::super::{MovementError, check_size};
use super::global_tensor::GlobalTensor;
use crate::movement::check::check_element;

/// The address of an element in global memory, as kernel IR.
#[derive(Debug, Clone, Copy)]
pub struct PredicatedGlobalAddress {
    /// A pointer to global memory.
    pub pointer: Value,
    /// Constant byte offset from `pointer`.
    pub offset: i32,
    /// The predicate of the access, an `i1` of each lane; `None` if all lanes access memory.
    pub predicate: Option<Value>,
}

/// Bytes of a line of the first-level cache (L1). A warp's access looks up its lines one after the other.
pub const CACHE_LINE_BYTES: u64 = 128;

/// A plan that loads a tensor from global memory to registers, or stores it.
#[derive(Debug, Clone)]
pub struct GlobalAccessPlan {
    /// Number of elements that a lane moves in one access.
    pub vector_elements: u64,
    /// Number of access instructions that each warp issues.
    pub accesses: u64,
    /// Number of transactions of all warps of a block, each of `global.transaction_bytes`. It is exact if all strides
    /// are known; axes of unknown stride count as if they shared no transaction.
    pub transactions: u64,
    /// Number of cache lines of 128 bytes that the accesses of all warps look up, each access its own.
    pub lines: u64,
    /// Cycles of the address unit for the accesses of all warps; zero if the target states no rate.
    pub address_cycles: u64,
    /// The reason why accesses are not wider, as text for messages.
    pub limited_by: String,
    element: Element,
    lane_bits: u32,
    /// Alignment of the accesses in bytes.
    alignment: u32,
    registers: Vec<u64>,
    /// For each access, the registers that it moves, in the order of memory.
    groups: Vec<Vec<usize>>,
    /// Mask of thread bits: threads with one of these bits set hold replicas that they do not store.
    idle: u64,
}

/// Plans the widest accesses between registers and global memory.
///
/// # Errors
/// [`MovementError`] if the element width is unknown, if a size of the tensor is not a power of two, if the tensor
/// lacks an axis of the layout or has another size along it, or if the target has no access as wide as an element.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::{GlobalTensor, plan_global_access};
/// use tilewright_target::Direction;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // Each of 8 lanes loads one 4-byte element: 32 consecutive bytes, which are one transaction of this target.
/// let lanes = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
/// let tensor = GlobalTensor::row_major(&[8], 32);
/// let loads = plan_global_access(&lanes, &tensor, 32, Direction::Load, &target)?;
/// assert_eq!((loads.accesses, loads.transactions), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_global_access(
    registers: &LinearLayout,
    memory: &GlobalTensor,
    element_bits: u32,
    direction: Direction,
    target: &TargetDescription,
) -> Result<GlobalAccessPlan, MovementError> {
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
    let access = GlobalAccessPlan {
        vector_elements: 1 << width,
        accesses: groups.len() as u64,
        transactions: 0,
        lines: 0,
        address_cycles: 0,
        limited_by,
        element,
        lane_bits: registers.in_bits(Dim::LANE),
        alignment: memory.divisibility(u64::from(element_bits / 8)).min(u64::from(element_bits / 8) << width) as u32,
        registers: columns.to_vec(),
        groups,
        idle: if direction == Direction::Store { copies } else { 0 },
    };
    let [transactions, lines, address_cycles] = access.count_transactions(registers, memory, &threads, target);
    Ok(GlobalAccessPlan { transactions, lines, address_cycles, ..access })
}

fn check_axes(registers: &LinearLayout, memory: &GlobalTensor) -> Result<(), LayoutError> {
    let sizes = memory.axis_sizes();
    for (dim, bits) in registers.outs().iter() {
        if let Some(&(dim, size, _)) = memory.axes.iter().find(|(_, size, _)| !size.is_power_of_two()) {
            return Err(LayoutError::NotPowerOfTwo { dim, size });
        }
        let Some(&(_, size)) = sizes.iter().find(|(known, _)| *known == dim) else {
            return Err(LayoutError::NoSuchDim { dim });
        };
        if size.trailing_zeros() != bits {
            return Err(LayoutError::SizeMismatch { dim, left: bits, right: size.trailing_zeros() });
        }
    }
    Ok(())
}

/// Returns the packed coordinates of the elements at distances 1, 2, 4, ... in memory from the first element of the run
/// of contiguous axes.
fn units(registers: &LinearLayout, memory: &GlobalTensor) -> Vec<u64> {
    memory.run().0.into_iter().flat_map(|segment| segment.units(registers.outs())).collect()
}

/// Returns log2 of the number of elements in the widest vector, and the reason why it is not wider.
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
    let unshared = units.iter().take_while(|&&unit| moved & unit == 0).count() as u32;
    let element_bytes = u64::from(element_bits / 8);
    let elements = |bytes: u64| (bytes / element_bytes).max(1).ilog2();
    let divisibility = memory.divisibility(element_bytes);
    let aligned = if divisibility < target.global.sufficient_alignment() { divisibility } else { u64::MAX };
    let offered = target.global.access_bits.iter().max().map_or(0, |&bits| (bits / element_bits).max(1).ilog2());
    let limits = [
        (offered, "the target has no wider access"),
        (together, "a lane has no more elements that are contiguous in memory"),
        (unshared, "other lanes have neighbours within a wider vector"),
        (elements(aligned), "wider vectors are not known to be aligned"),
        (elements(memory.max_access_bytes), "the elements of wider vectors may differ in their masks"),
    ];
    let (width, why) = limits.into_iter().min_by_key(|(width, _)| *width).unwrap_or((0, ""));
    (width, why.to_owned())
}

/// Returns the registers of each access, in the order of memory: one register for each element of a vector. `columns`
/// are the elements that the register bits add, `vector` the elements at the distances 1, 2, 4, ... in memory.
fn groups(columns: &[u64], vector: &[u64]) -> Vec<Vec<usize>> {
    let solver = Solver::new(columns);
    let mut space = Subspace::span(vector.iter().copied());
    let low = vector.iter().fold(0, |all, unit| all | unit);
    let steps: Vec<u64> = columns.iter().map(|&column| column & !low).filter(|&column| space.insert(column)).collect();
    let register_of = |column: u64| solver.solve(column).unwrap_or(0) as usize;
    let group = |index: u64| {
        let start = multiply_vector(&steps, index);
        (0..1u64 << vector.len()).map(|element| register_of(start ^ multiply_vector(vector, element))).collect()
    };
    (0..1u64 << steps.len()).map(group).collect()
}

impl GlobalAccessPlan {
    /// Returns the registers that each access of a lane moves, in the order of memory.
    #[must_use]
    pub fn register_groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Returns the number of bytes that a lane moves in one access.
    #[must_use]
    pub fn bytes_per_lane(&self) -> u64 {
        self.vector_elements * u64::from(self.element.bits() / 8)
    }

    /// Whether the plan stores without replicas: some threads hold elements that other threads store.
    #[must_use]
    pub fn omits_replicas(&self) -> bool {
        self.idle != 0
    }

    /// Returns the number of transactions, of first-level cache lines, and of cycles of the address unit, of all warps
    /// of a block.
    fn count_transactions(
        &self,
        registers: &LinearLayout,
        memory: &GlobalTensor,
        threads: &[u64],
        target: &TargetDescription,
    ) -> [u64; 3] {
        let bytes = u64::from(self.element.bits() / 8);
        let unit = u64::from(target.global.transaction_bytes.max(1));
        let (lanes, warps) = threads.split_at(self.lane_bits as usize);
        let distances = memory.distances(registers.outs(), bytes);
        let address = |column: u64| {
            let set = std::iter::successors(Some(column), |rest| Some(rest & rest.wrapping_sub(1)));
            let bits = set.take_while(|rest| *rest != 0).map(|rest| rest.trailing_zeros() as usize);
            bits.filter_map(|bit| distances.get(bit)).fold(0u64, |sum, distance| sum.wrapping_add(*distance))
        };
        let active = |thread: u64| thread & self.idle == 0;
        let own: Vec<u64> =
            (0..1u64 << lanes.len()).filter(|lane| active(*lane)).map(|lane| multiply_vector(lanes, lane)).collect();
        let per_line = (CACHE_LINE_BYTES / unit).max(1);
        let touched_by = |start: u64, lanes: &[u64]| -> Vec<u64> {
            let from = lanes.iter().map(|column| address(start ^ column));
            let mut touched: Vec<u64> =
                from.flat_map(|from| from / unit..=(from + bytes * self.vector_elements - 1) / unit).collect();
            touched.sort_unstable();
            touched.dedup();
            touched
        };
        let address_cycles = |start: u64| match &target.global.address_unit {
            Some(unit) => {
                let groups = own.chunks(unit.group_lanes.max(1) as usize);
                groups.map(|lanes| unit.group_cycles(touched_by(start, lanes).len() as u64)).sum()
            }
            None => 0,
        };
        let sectors_from = |start: u64| -> [u64; 3] {
            let touched = touched_by(start, &own);
            let lines = 1 + touched.windows(2).filter(|pair| pair[0] / per_line != pair[1] / per_line).count();
            [touched.len() as u64, lines as u64, address_cycles(start)]
        };
        // If lanes do not change the offset of an access within its transaction, all bytes of the access shift
        // together; a shift by a multiple of the transaction size keeps the number of transactions.
        let moved_by_lanes = lanes.iter().fold(0, |all, column| all | column);
        let mut known: HashMap<u64, [u64; 3]> = HashMap::new();
        let mut counts = [0; 3];
        for warp in (0..1u64 << warps.len()).filter(|warp| active(warp << self.lane_bits)) {
            let of_warp = multiply_vector(warps, warp);
            for group in &self.groups {
                let start = of_warp ^ multiply_vector(&self.registers, group[0] as u64);
                let of_access = match start & moved_by_lanes {
                    0 => *known.entry(address(start) % (unit * per_line)).or_insert_with(|| sectors_from(start)),
                    _ => sectors_from(start),
                };
                counts = array::from_fn(|index| counts[index] + of_access[index]);
            }
        }
        counts
    }

    /// Emits the loads. `emit_address` returns the address of the element of a register: it is called with the first
    /// register of each access, and the address must be valid for the whole vector. The result has one scalar integer
    /// for each register.
    pub fn emit_load(
        &self,
        builder: &mut Builder,
        emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
    ) -> Vec<Value> {
        let count = self.vector_elements as u32;
        let mut loaded: Vec<Option<Value>> = vec![None; 1 << self.registers.len()];
        for group in &self.groups {
            let PredicatedGlobalAddress { pointer, offset, predicate } = emit_address(builder, group[0]);
            let (ty, alignment) = (wide_type(self.element, count), self.alignment);
            let value = builder.value(ty, Op::Load { pointer, predicate, offset, alignment, other: None });
            for (&register, element) in group.iter().zip(narrowed(builder, value, self.element, count)) {
                loaded[register] = Some(element);
            }
        }
        let solver = Solver::new(&self.registers);
        let register_of =
            |register: u64| solver.solve(multiply_vector(&self.registers, register)).unwrap_or(0) as usize;
        (0..1u64 << self.registers.len()).filter_map(|register| loaded[register_of(register)]).collect()
    }

    /// Emits the stores, without replicas. `registers` holds one scalar integer for each register; `emit_address` is as
    /// for [`GlobalAccessPlan::emit_load`].
    ///
    /// # Panics
    /// If `registers` has fewer values than the layout has registers.
    pub fn emit_store(
        &self,
        builder: &mut Builder,
        registers: &[Value],
        emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
    ) {
        let active = (self.idle != 0)
            .then(|| ThreadIndices::new(builder, self.lane_bits).emit_are_bits_zero(builder, self.idle));
        for group in &self.groups {
            let PredicatedGlobalAddress { pointer, offset, predicate } = emit_address(builder, group[0]);
            let elements: Vec<Value> = group.iter().map(|&register| registers[register]).collect();
            let value = widened(builder, &elements);
            let predicate = match (active.flatten(), predicate) {
                (Some(own), Some(given)) => Some(builder.binary(Binary::And, own, given)),
                (own, given) => own.or(given),
            };
            builder.effect(Op::Store { pointer, value, predicate, offset, alignment: self.alignment });
        }
    }
}

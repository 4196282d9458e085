//! Accesses between registers and shared memory of a given layout (Triton `ttg.local_store`, `ttg.local_load`).
//!
//! Candidates are plain accesses of every width and the data-movement instructions of the target's table. Each is a
//! tile that must divide the map from positions (register, thread) to offsets, up to a permutation of registers.
//! Padding, replicas and sub-word elements are supported. Constants that share no bit with the thread's part of the
//! offset become immediates.

use tilewright_kernel::{Builder, Counts, Value};
use tilewright_layout::f2::{Columns, Subspace};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Padding};
use tilewright_target::{Direction, TargetDescription};

use super::super::address::ThreadIndices;
use super::super::tile::{Accesses, Loads, LocatedAccessor, Memory, PlacedAccessor, Stores, Tile};
use super::super::{CountLowerBounds, MovementError, PlanContext, PlanStats, bound, check_size, predict_cycles};
use crate::movement::check::check_element;

/// A plan that stores a tensor from registers to shared memory, or loads it from there.
#[derive(Debug, Clone)]
pub struct SharedAccessPlan {
    /// The counts and cost of the plan, and the lower bound of accesses between these layouts.
    pub stats: PlanStats,
    /// Number of elements that a lane moves in one access.
    pub vector_elements: u64,
    padding: Vec<Padding>,
    lane_bits: u32,
    accesses: Accesses,
}

/// Plans the cheapest stores of a tensor in layout `registers` to shared memory of layout `memory`, each element once,
/// or the cheapest loads from there. Registers may hold a part of the tensor. Candidates are plain accesses of any
/// width and the instructions of the table. They are ordered by predicted cycles
/// ([`predict_cycles`](crate::movement::predict_cycles)), then by the number of accesses.
///
/// # Errors
/// [`MovementError`] if the layouts have different tensors, if a block's memory lacks elements of its registers, if no
/// access of the target moves elements of this width, or if the memory is larger than a block of the target has.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
/// use tilewright_plan::movement::plan_shared_access;
/// use tilewright_target::Direction;
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // 64 words; a lane has four consecutive ones at a time, which one access of 16 bytes stores.
/// let part = |dim, size| LinearLayout::identity(size, dim, Dim::tensor(0));
/// let four = part(Dim::REGISTER, 4)?.direct_sum(&part(Dim::LANE, 8)?)?;
/// let registers = four.direct_sum(&part(Dim::REGISTER, 2)?)?;
/// let memory = MemoryLayout::from_linear(LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0))?);
/// let stores = plan_shared_access(&registers, &memory, 32, Direction::Store, &target)?;
/// assert_eq!((stores.vector_elements, stores.stats.counts.shared_stores), (4, 2));
/// assert_eq!(stores.wavefronts(), stores.stats.bound.wavefronts_stored);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_shared_access<'a>(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    direction: Direction,
    context: impl Into<PlanContext<'a>>,
) -> Result<SharedAccessPlan, MovementError> {
    let context = context.into();
    let side = locate_registers(registers, memory, element_bits, direction)?;
    let (needed, have) = (memory.allocated_bytes(element_bits), u64::from(context.target.shared.bytes));
    if needed > have {
        let reasons = format!("{needed} bytes of shared memory are needed and {have} are there");
        return Err(MovementError::impossible(reasons));
    }
    let units: Columns = (0..memory.linear.in_bits(Dim::OFFSET)).map(|bit| 1 << bit).collect();
    let offsets = Memory::new(&units, &memory.padding);
    let placed = PlacedAccessor::new(&side, &offsets, context.target);
    let bound = bound(&side, &context);
    let mut tiles = Tile::plain(context.target, direction, side.element, side.lane_bits).into_vec();
    let rows = Tile::of_rows(context.instructions, side.lane_bits);
    tiles.extend(rows.into_iter().filter(|row| row.direction == direction));
    if context.keeps_order {
        tiles.retain(|tile| placed.has_registers_in_order(tile));
    }
    let planned = |side: &LocatedAccessor, tile: &Tile<'_>| {
        let placed = PlacedAccessor::new(side, &offsets, context.target);
        let taken = if context.keeps_words { placed.best_with_words(tile)? } else { placed.best_by(tile)? };
        let accesses = Accesses::new(taken, &placed)?;
        let wavefronts = placed.wavefronts_of(&accesses, tile);
        Some(priced(accesses, wavefronts, side, bound, &memory.padding, context.target))
    };
    let plans = tiles.iter().flat_map(|tile| {
        let shared = if context.shares_replicas { placed.shared_stores(tile) } else { Vec::new() };
        std::iter::once(&side).chain(&shared).filter_map(|side| planned(side, tile)).collect::<Vec<_>>()
    });
    let cheapest = plans.min_by(|a, b| a.stats.cost.total_cmp(&b.stats.cost).then(a.issued().cmp(&b.issued())));
    cheapest.ok_or_else(|| {
        MovementError::impossible(format!(
            "target {} has no access of {element_bits} bits to shared memory",
            context.target.name
        ))
    })
}

/// Checks a register layout and a memory layout, for stores or loads of elements of `element_bits` bits. Returns the
/// accessor whose elements are offsets in a block's memory.
pub(in super::super) fn locate_registers(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    direction: Direction,
) -> Result<LocatedAccessor, MovementError> {
    let element = check_element(element_bits)?;
    let known = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    if let Some(dim) = registers.ins().dims().find(|dim| !known.contains(dim)) {
        return Err(MovementError::NotDistributed { side: "registers'", dim });
    }
    check_size("tensor", registers)?;
    let memory_map = registers.invert_and_compose(&memory.linear).map_err(MovementError::memory)?;
    let offsets = |dim: Dim| -> Result<Columns, MovementError> {
        let columns = memory_map.columns_of(dim).iter().enumerate();
        columns
            .map(|(bit, &column)| {
                let block = memory_map.outs().coordinate(column, Dim::BLOCK);
                let own = if dim == Dim::BLOCK { 1 << bit } else { 0 };
                match block == own || (dim == Dim::BLOCK && block == 0) {
                    true => Ok(memory_map.outs().coordinate(column, Dim::OFFSET)),
                    false => Err(MovementError::memory(format!("basis {bit} of {dim} leads to block {block}"))),
                }
            })
            .collect()
    };
    if offsets(Dim::BLOCK)?.iter().any(|&offset| offset != 0) {
        return Err(MovementError::memory("blocks have different offsets of one memory"));
    }
    let lane_bits = registers.in_bits(Dim::LANE);
    let mut threads = offsets(Dim::LANE)?;
    threads.extend(offsets(Dim::WARP)?);
    let kept = (memory.linear.in_bits(Dim::OFFSET), 0);
    Ok(LocatedAccessor::new((element, direction, lane_bits), offsets(Dim::REGISTER)?, threads, kept))
}

/// Returns the lower bound of the wavefronts. For stores, each distinct element of a block is stored once, divided
/// evenly among its warps; for loads, each distinct element of a warp is loaded once.
fn bound(side: &LocatedAccessor, context: &PlanContext<'_>) -> CountLowerBounds {
    let bits = u64::from(side.element.bits());
    let (threads, warps) = match side.direction {
        Direction::Store => (&side.threads[..], side.warps()),
        Direction::Load => (&side.threads[..side.lane_bits as usize], 1),
    };
    let all = bits << Subspace::span(side.registers.iter().chain(threads).copied()).dimension();
    let most = bound::most_at_once(context, side.direction, bits, bits << side.span.dimension());
    let wavefronts = all.div_ceil(most * warps);
    match side.direction {
        Direction::Store => CountLowerBounds { wavefronts_stored: wavefronts, ..CountLowerBounds::default() },
        Direction::Load => CountLowerBounds { wavefronts_loaded: wavefronts, ..CountLowerBounds::default() },
    }
}

fn priced(
    accesses: Accesses,
    wavefronts: u64,
    side: &LocatedAccessor,
    bound: CountLowerBounds,
    padding: &[Padding],
    target: &TargetDescription,
) -> SharedAccessPlan {
    let counts = accesses.counts(wavefronts);
    let above = accesses.why_above(&counts, &bound);
    let permutes = accesses.stats.permutes;
    let packing = Counts { permutes, ..Counts::default() };
    SharedAccessPlan {
        stats: PlanStats {
            counts,
            permutes,
            shared_bytes: 0,
            largest_buffer_bytes: 0,
            shared_bits: accesses.shared_bits(),
            cost: predict_cycles(&packing.add_counts(counts), side.warps(), 1, target),
            bound,
            above_bound: above.map(|reason| format!("{reason}, as the memory layout lets it")),
        },
        vector_elements: accesses.vector_elements(),
        padding: padding.to_vec(),
        lane_bits: side.lane_bits,
        accesses,
    }
}

impl SharedAccessPlan {
    /// Returns the name of the instruction that makes the accesses; `None` for plain accesses.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.accesses.instruction()
    }

    /// Returns the alignment in bytes that the access instructions need; the shared memory must start at a multiple of
    /// it.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.accesses.alignment()
    }

    /// Returns the number of shared-memory wavefronts of the busiest warp.
    #[must_use]
    pub fn wavefronts(&self) -> u64 {
        self.stats.counts.wavefronts_stored + self.stats.counts.wavefronts_loaded
    }

    /// Returns the number of access instructions that a warp issues.
    pub(crate) fn issued(&self) -> u64 {
        self.accesses.stats.issued()
    }

    /// Returns the same accesses for another part of the memory: the offset `start`, in elements, is added over F2 to
    /// the offsets of all accesses. `None` if it is no multiple of their alignment.
    #[must_use]
    pub fn starting_at(self, start: u64) -> Option<Self> {
        Some(Self { accesses: self.accesses.starting_at(start)?, ..self })
    }

    /// Emits the stores. `registers` holds one scalar integer of the element's width for each register; `buffer` is the
    /// address of the shared memory.
    ///
    /// # Panics
    /// If `registers` has fewer values than the layout has registers.
    pub fn emit_store(&self, builder: &mut Builder, buffer: Value, registers: &[Value]) {
        let thread = ThreadIndices::new(builder, self.lane_bits);
        Stores::new(builder, &self.accesses, thread, buffer, &self.padding).round(builder, 0, registers);
    }

    /// Emits the loads from the shared memory at `buffer`; returns one scalar integer for each register.
    pub fn emit_load(&self, builder: &mut Builder, buffer: Value) -> Vec<Value> {
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let mut loads = Loads::new(builder, &self.accesses, thread, buffer, &self.padding);
        loads.round(builder, 0);
        loads.finish()
    }
}

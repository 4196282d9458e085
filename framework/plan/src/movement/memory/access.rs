//! Accesses of registers to shared memory of a given layout: local stores and loads.
//!
//! The plain accesses of every width and the rows of an instruction table are weighed as tiles that
//! divide the map from positions to offsets, up to a permutation of registers; padding, copies and
//! sub-word elements are regarded. Constants that share no bit with the thread's part of the offset are
//! immediates.

use tilewright_kernel::{Builder, Value};
use tilewright_layout::f2::{Columns, Subspace};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Padding};
use tilewright_target::{Direction, TargetDescription};

use super::super::address::Thread;
use super::super::tile::{Accesses, Loads, Located, Memory, Placed, Stores, Tile};
use super::super::{Bound, MovementError, PlanContext, PlanStats, bound, check_size, cost, slots};
use crate::movement::check::check_element;

/// How a tensor in registers is stored to shared memory, or loaded from it.
#[derive(Debug, Clone)]
pub struct SharedAccess {
    /// Counts, cost, and the bound of accesses between these layouts.
    pub stats: PlanStats,
    /// How many elements of each lane an access moves.
    pub vector_elements: u64,
    padding: Vec<Padding>,
    lane_bits: u32,
    accesses: Accesses,
}

/// The cheapest stores of a tensor in layout `registers` to shared memory of layout `memory`, each
/// element once, or the cheapest loads of it from there, by the given means, such as `&TargetDescription`:
/// plain accesses of any width, or a row of the instruction table. Fewest wavefront [`slots`] win, then
/// fewest cycles, then fewest accesses.
///
/// # Errors
/// [`MovementError`]: layouts of different tensors, memory of other blocks, elements that no access
/// of the target carries, more memory than a block of the target has.
///
/// [`slots`]: crate::movement::slots
pub fn access_shared<'a>(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    direction: Direction,
    context: impl Into<PlanContext<'a>>,
) -> Result<SharedAccess, MovementError> {
    let context = context.into();
    let side = located(registers, memory, element_bits, direction)?;
    let (needed, have) = (memory.allocated_bytes(element_bits), u64::from(context.target.shared.bytes));
    if needed > have {
        let reasons = format!("{needed} bytes of shared memory are needed and {have} are there");
        return Err(MovementError::impossible(reasons));
    }
    let units: Columns = (0..memory.linear.in_bits(Dim::OFFSET)).map(|bit| 1 << bit).collect();
    let offsets = Memory::new(&units, &memory.padding);
    let placed = Placed::new(&side, &offsets, context.target);
    let bound = bound(&side, &context);
    let mut tiles = Tile::plain(context.target, direction, side.element, side.lane_bits).into_vec();
    let rows = Tile::of_rows(context.instructions, side.lane_bits);
    tiles.extend(rows.into_iter().filter(|row| row.direction == direction));
    let plans = tiles.iter().filter_map(|tile| {
        let accesses = Accesses::new(placed.best_by(tile)?, &placed)?;
        let wavefronts = placed.wavefronts_of(&accesses, tile);
        Some(priced(accesses, wavefronts, &side, bound, &memory.padding, context.target))
    });
    let cheapest = plans.min_by(|a, b| {
        let by_slots = slots(&a.stats.counts).total_cmp(&slots(&b.stats.counts));
        by_slots.then(a.stats.cost.total_cmp(&b.stats.cost)).then(a.issued().cmp(&b.issued()))
    });
    cheapest.ok_or_else(|| {
        MovementError::impossible(format!(
            "target {} has no access of {element_bits} bits to shared memory",
            context.target.name
        ))
    })
}

/// What registers and threads hold, by offset in a block's memory.
pub(in super::super) fn located(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    direction: Direction,
) -> Result<Located, MovementError> {
    let element = check_element(element_bits)?;
    let known = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    if let Some(dim) = registers.ins().dims().find(|dim| !known.contains(dim)) {
        return Err(MovementError::NotDistributed { side: "registers'", dim });
    }
    check_size("tensor", registers)?;
    let places = registers.invert_and_compose(&memory.linear).map_err(MovementError::memory)?;
    let offsets = |dim: Dim| -> Result<Columns, MovementError> {
        let columns = places.columns_of(dim).iter().enumerate();
        columns
            .map(|(bit, &column)| {
                let block = places.outs().coordinate(column, Dim::BLOCK);
                let own = if dim == Dim::BLOCK { 1 << bit } else { 0 };
                match block == own || (dim == Dim::BLOCK && block == 0) {
                    true => Ok(places.outs().coordinate(column, Dim::OFFSET)),
                    false => Err(MovementError::memory(format!("basis {bit} of {dim} leads to block {block}"))),
                }
            })
            .collect()
    };
    if offsets(Dim::BLOCK)?.iter().any(|&offset| offset != 0) {
        return Err(MovementError::memory("blocks hold different offsets of one memory"));
    }
    let lane_bits = registers.in_bits(Dim::LANE);
    let mut threads = offsets(Dim::LANE)?;
    threads.extend(offsets(Dim::WARP)?);
    let kept = (memory.linear.in_bits(Dim::OFFSET), 0);
    Ok(Located::new((element, direction, lane_bits), offsets(Dim::REGISTER)?, threads, kept))
}

/// Stores: the different elements of a block, shared evenly by its warps. Loads: those of a warp.
fn bound(side: &Located, context: &PlanContext<'_>) -> Bound {
    let bits = u64::from(side.element.bits());
    let (threads, warps) = match side.direction {
        Direction::Store => (&side.threads[..], side.warps()),
        Direction::Load => (&side.threads[..side.lane_bits as usize], 1),
    };
    let all = bits << Subspace::span(side.registers.iter().chain(threads).copied()).dimension();
    let most = bound::most_at_once(context, side.direction, bits, bits << side.span.dimension());
    let wavefronts = all.div_ceil(most * warps);
    match side.direction {
        Direction::Store => Bound { wavefronts_stored: wavefronts, ..Bound::default() },
        Direction::Load => Bound { wavefronts_loaded: wavefronts, ..Bound::default() },
    }
}

fn priced(
    accesses: Accesses,
    wavefronts: u64,
    side: &Located,
    bound: Bound,
    padding: &[Padding],
    target: &TargetDescription,
) -> SharedAccess {
    let counts = accesses.counts(wavefronts);
    let above = accesses.why_above(&counts, &bound);
    SharedAccess {
        stats: PlanStats {
            counts,
            shared_bytes: 0,
            shared_bits: accesses.shared_bits(),
            cost: cost(&counts, side.warps(), 1, target),
            bound,
            above_bound: above.map(|reason| format!("{reason}, as the memory layout lets it")),
        },
        vector_elements: accesses.vector_elements(),
        padding: padding.to_vec(),
        lane_bits: side.lane_bits,
        accesses,
    }
}

impl SharedAccess {
    /// The row of the instruction table by which registers move; plain accesses where there is none.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.accesses.instruction()
    }

    /// Bytes of which the addresses of accesses are multiples, if that of the memory is.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.accesses.alignment()
    }

    /// Wavefronts of the busiest warp.
    #[must_use]
    pub fn wavefronts(&self) -> u64 {
        self.stats.counts.wavefronts_stored + self.stats.counts.wavefronts_loaded
    }

    /// Accesses that a warp issues.
    pub(crate) fn issued(&self) -> u64 {
        self.accesses.stats.issued()
    }

    /// Writes the stores' kernel IR: `registers` holds one scalar integer of the element's width for
    /// each register, `buffer` is the address of the memory.
    ///
    /// # Panics
    /// Where `registers` has not as many values as the layout has registers.
    pub fn emit_store(&self, builder: &mut Builder, buffer: Value, registers: &[Value]) {
        let thread = Thread::new(builder, self.lane_bits);
        Stores::new(builder, &self.accesses, thread, buffer, &self.padding).round(builder, 0, registers);
    }

    /// Writes the loads' kernel IR; the result holds one scalar integer for each register.
    pub fn emit_load(&self, builder: &mut Builder, buffer: Value) -> Vec<Value> {
        let thread = Thread::new(builder, self.lane_bits);
        let mut loads = Loads::new(builder, &self.accesses, thread, buffer, &self.padding);
        loads.round(builder, 0);
        loads.finish()
    }
}

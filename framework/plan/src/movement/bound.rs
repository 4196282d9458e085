//! Lower bounds: what no plan of a kind can go below, from counting alone.

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Counts, is_result};
use tilewright_layout::Dim;
use tilewright_layout::f2::Subspace;
use tilewright_target::{BankRow, Direction, InstructionKind, Operand, TargetDescription};

use super::{Conversion, PlanContext};

/// What no plan on the same path can go below, for the busiest warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Wavefronts stored to shared memory.
    pub wavefronts_stored: u64,
    /// Wavefronts loaded from shared memory.
    pub wavefronts_loaded: u64,
    /// Exchanges between lanes.
    pub exchanges: u64,
}

impl Bound {
    /// Wavefront slots that no plan on this path can go below.
    pub(super) fn slots(&self) -> f64 {
        (self.wavefronts_stored + self.wavefronts_loaded + self.exchanges) as f64
    }

    /// Whether the counts are no more than the bound.
    pub(super) fn is_met(&self, counts: &Counts) -> bool {
        counts.wavefronts_stored <= self.wavefronts_stored
            && counts.wavefronts_loaded <= self.wavefronts_loaded
            && counts.exchanges <= self.exchanges
    }
}

/// The bound of plans that pass every element through shared memory.
///
/// Stores: the elements of a block, each once, shared evenly by the warps. Loads: what a warp needs,
/// each element once; and what one lane needs, by the accesses that make that cheapest, every
/// phase taking a wavefront of its own. A wavefront moves no more than the banks take, nor than the
/// lanes of one phase have or want by the widest access that a lane's elements fill.
pub(super) fn of_shared(conversion: &Conversion, context: &PlanContext<'_>) -> Bound {
    let dst = &conversion.dst;
    let in_block = Subspace::span(dst.registers.iter().chain(&dst.threads).copied()).dimension();
    through_memory(conversion, context, in_block, conversion.warps())
}

/// The bound of plans that pass every element through the shared memory of a block of the cluster: the
/// elements of the tensor, each stored once, shared evenly by the warps of all blocks; loads as in
/// one block.
pub(super) fn of_cluster(conversion: &Conversion, context: &PlanContext<'_>) -> Bound {
    let dst = &conversion.dst;
    let all = Subspace::span(dst.registers.iter().chain(&dst.threads).chain(&dst.blocks).copied()).dimension();
    through_memory(conversion, context, all, conversion.warps() << dst.blocks.len())
}

/// The bound where so many `warps` store 2^`stored` elements.
fn through_memory(conversion: &Conversion, context: &PlanContext<'_>, stored: u32, warps: u64) -> Bound {
    let bits = u64::from(conversion.element.bits());
    let (src, dst) = (&conversion.src, &conversion.dst);
    let dimension = |columns: &[u64]| Subspace::span(columns.iter().copied()).dimension();
    let in_warp = dimension(&[&dst.registers[..], &dst.threads[..conversion.lane_bits as usize]].concat());
    let in_lane = dimension(&dst.registers);
    let in_source_lane = dimension(&src.registers);
    let at_once = |direction, in_lane| most_at_once(context, direction, bits, bits << in_lane);
    let stored = (bits << stored).div_ceil(at_once(Direction::Store, in_source_lane) * warps);
    let by_warp = (bits << in_warp).div_ceil(at_once(Direction::Load, in_lane));
    let by_lane = ways(context, Direction::Load).map(|way| {
        let slot_bits = way.slot_bits.unwrap_or(conversion.lane_bits);
        (bits << in_lane).div_ceil(way.held) << slot_bits.saturating_sub(way.phase_bits)
    });
    let loaded = by_warp.max(by_lane.min().unwrap_or(0));
    Bound { wavefronts_stored: stored, wavefronts_loaded: loaded, exchanges: 0 }
}

/// The most bits of different elements that one wavefront can move, where a lane has `held` bits of
/// elements of `element` bits.
pub(super) fn most_at_once(context: &PlanContext<'_>, direction: Direction, element: u64, held: u64) -> u64 {
    let filled = ways(context, direction).filter(|way| (element..=held).contains(&way.held));
    filled.map(|way| way.at_once).max().unwrap_or(1).max(1)
}

/// One kind of access of shared memory.
struct Way {
    /// Bits that a lane moves.
    held: u64,
    /// Log2 of the slots; where none is said, those of the lanes.
    slot_bits: Option<u32>,
    /// Log2 of the slots that are served together.
    phase_bits: u32,
    /// The most bits that one wavefront moves.
    at_once: u64,
}

impl Way {
    fn new(held: u64, slot_bits: Option<u32>, slot: u32, row: &BankRow) -> Self {
        let phase_bits = row.phase.len().min(32) as u32;
        let at_once = (row.wavefront_bytes() * 8).min(u64::from(slot) << phase_bits);
        Self { held, slot_bits, phase_bits, at_once }
    }
}

/// The plain accesses and those by rows of the instruction table.
fn ways<'a>(context: &'a PlanContext<'_>, direction: Direction) -> impl Iterator<Item = Way> + 'a {
    let target = context.target;
    let plain = target
        .shared
        .access_bits
        .iter()
        .filter_map(move |&bits| Some(Way::new(u64::from(bits), None, bits, target.bank_row(direction, bits)?)));
    let moves = context.instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
    let rows = moves.filter_map(move |row| {
        let data = row.operands.iter().find_map(|operand| match operand {
            Operand::Access { data, .. } => Some(data),
            _ => None,
        })?;
        let byte = Dim::named("byte");
        let slot = 8u32.checked_shl(data.out_bits(byte))?;
        let held = 8u64.checked_shl(data.in_bits(byte) + data.in_bits(Dim::REGISTER)).filter(|&held| held > 0)?;
        let banks = target.instruction_bank_row(&row.name, direction, slot)?;
        let own = row.operands.iter().any(is_result) == (direction == Direction::Load);
        own.then(|| Way::new(held, Some(data.out_bits(Dim::named("slot"))), slot, banks))
    });
    plain.chain(rows)
}

/// The bound of plans that stay within warps: the elements that the neediest lane lacks, as many at
/// a time as an exchange carries.
pub(super) fn of_exchanges(conversion: &Conversion, target: &TargetDescription) -> Bound {
    let exchange_bits = target.index_exchange_bits().unwrap_or(u32::BITS);
    let (src, dst) = (&conversion.src, &conversion.dst);
    let held = Subspace::span(src.registers.iter().copied());
    let required = Subspace::span(dst.registers.iter().copied());
    let both = held.sum(&required);
    // What a thread wants and what it holds are cosets; they meet in all threads or not in some.
    let meet_everywhere = src.threads.iter().zip(&dst.threads).all(|(s, d)| both.contains(s ^ d));
    let wanted_count = 1u64 << required.dimension();
    let there = if meet_everywhere { 1u64 << held.intersection(&required).dimension() } else { 0 };
    let missing_bits = (wanted_count - there) * u64::from(conversion.element.bits());
    Bound { exchanges: missing_bits.div_ceil(u64::from(exchange_bits)), ..Bound::default() }
}

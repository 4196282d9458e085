//! Lower bounds of a plan's counts (wavefronts, shuffles), from counting elements and bits.

use serde::{Deserialize, Serialize};

use tilewright_kernel::{Counts, is_result_operand};
use tilewright_layout::Dim;
use tilewright_layout::f2::Subspace;
use tilewright_target::{BankTableEntry, Direction, InstructionKind, TargetDescription};

use super::{ConversionProblem, PlanContext};

/// Lower bounds of the counts of the busiest warp, over all plans of one kind (such as all plans by shuffles).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountLowerBounds {
    /// Lower bound of the wavefronts stored to shared memory.
    pub wavefronts_stored: u64,
    /// Lower bound of the wavefronts loaded from shared memory.
    pub wavefronts_loaded: u64,
    /// Lower bound of the shuffles between lanes.
    #[serde(rename = "exchanges")]
    pub shuffles: u64,
}

impl CountLowerBounds {
    /// Returns the counts of the cheapest plan that reaches this bound: its wavefronts, one access for each direction
    /// that has wavefronts, and its shuffles as the cheapest kind of shuffle.
    pub(super) fn least_counts(&self) -> Counts {
        Counts {
            wavefronts_stored: self.wavefronts_stored,
            wavefronts_loaded: self.wavefronts_loaded,
            shared_stores: self.wavefronts_stored.min(1),
            shared_loads: self.wavefronts_loaded.min(1),
            shuffles: self.shuffles,
            shuffles_xor: self.shuffles,
            ..Counts::default()
        }
    }

    /// Whether a plan's counts of wavefronts and shuffles do not exceed the bound, so that no plan has lower ones.
    pub(super) fn is_met(&self, counts: &Counts) -> bool {
        counts.wavefronts_stored <= self.wavefronts_stored
            && counts.wavefronts_loaded <= self.wavefronts_loaded
            && counts.shuffles <= self.shuffles
    }
}

/// Computes the bound of plans that move every element through shared memory.
///
/// The bound of the stores counts each element of a block once, divided evenly among the warps. The bound of the loads
/// is the greater of two: each element that a warp needs is loaded once; the elements that one lane needs are loaded by
/// the cheapest accesses, with one wavefront for every phase. A wavefront moves at most the bytes of all banks, and at
/// most the bytes that the lanes of one phase hold or need by the widest access that the elements of a lane fill.
pub(super) fn of_shared(conversion: &ConversionProblem, context: &PlanContext<'_>) -> CountLowerBounds {
    let dst = &conversion.dst;
    let in_block = Subspace::span(dst.registers.iter().chain(&dst.threads).copied()).dimension();
    through_memory(conversion, context, in_block, conversion.warps())
}

/// Computes the bound of plans through the shared memory of the blocks of a cluster. The bound of the stores counts
/// each element of the tensor once, divided evenly among the warps of all blocks; the loads have the same bound as in
/// [`of_shared`].
pub(super) fn of_cluster(conversion: &ConversionProblem, context: &PlanContext<'_>) -> CountLowerBounds {
    let dst = &conversion.dst;
    let all = Subspace::span(dst.registers.iter().chain(&dst.threads).chain(&dst.blocks).copied()).dimension();
    through_memory(conversion, context, all, conversion.warps() << dst.blocks.len())
}

/// Computes the bound of plans of `warps` warps that together store 2^`stored` distinct elements to shared memory.
fn through_memory(
    conversion: &ConversionProblem,
    context: &PlanContext<'_>,
    stored: u32,
    warps: u64,
) -> CountLowerBounds {
    let bits = u64::from(conversion.element.bits());
    let (src, dst) = (&conversion.src, &conversion.dst);
    let dimension = |columns: &[u64]| Subspace::span(columns.iter().copied()).dimension();
    let in_warp = dimension(&[&dst.registers[..], &dst.threads[..conversion.lane_bits as usize]].concat());
    let in_lane = dimension(&dst.registers);
    let in_source_lane = dimension(&src.registers);
    let at_once = |direction, in_lane| most_at_once(context, direction, bits, bits << in_lane);
    let stored = (bits << stored).div_ceil(at_once(Direction::Store, in_source_lane) * warps);
    let by_warp = (bits << in_warp).div_ceil(at_once(Direction::Load, in_lane));
    let by_lane = access_instructions(context, Direction::Load).map(|access| {
        let segment_bits = access.segment_bits.unwrap_or(conversion.lane_bits);
        (bits << in_lane).div_ceil(access.bits_per_lane) << segment_bits.saturating_sub(access.phase_bits)
    });
    let loaded = by_warp.max(by_lane.min().unwrap_or(0));
    CountLowerBounds { wavefronts_stored: stored, wavefronts_loaded: loaded, shuffles: 0 }
}

/// Returns the max number of bits of distinct elements that one wavefront moves, if a lane moves `bits_per_lane` bits
/// in elements of `element` bits.
pub(super) fn most_at_once(context: &PlanContext<'_>, direction: Direction, element: u64, bits_per_lane: u64) -> u64 {
    let filled = access_instructions(context, direction)
        .filter(|access| (element..=bits_per_lane).contains(&access.bits_per_lane));
    filled.map(|access| access.at_once).max().unwrap_or(1).max(1)
}

/// Returns the fewest accesses of shared memory that a warp issues if each of its lanes moves `bits_per_lane` bits.
pub(super) fn fewest_accesses(context: &PlanContext<'_>, direction: Direction, bits_per_lane: u64) -> u64 {
    let widest = access_instructions(context, direction).map(|access| access.bits_per_lane).max();
    bits_per_lane.div_ceil(widest.unwrap_or(1).max(1)).max(1)
}

/// An access instruction of shared memory, with the numbers that limit its wavefronts.
struct AccessInstruction {
    /// Bits that one lane moves in one access.
    bits_per_lane: u64,
    /// Log2 of the number of slots of an access; a slot is contiguous memory at one address. `None` for plain accesses:
    /// each lane addresses its own slot.
    segment_bits: Option<u32>,
    /// Log2 of the number of slots that one wavefront serves; such a set of slots is a phase.
    phase_bits: u32,
    /// Max number of bits that one wavefront moves.
    at_once: u64,
}

impl AccessInstruction {
    fn new(bits_per_lane: u64, segment_bits: Option<u32>, segment: u32, row: &BankTableEntry) -> Self {
        let phase_bits = row.most_phase_bits();
        let at_once = (row.wavefront_bytes() * 8).min(u64::from(segment) << phase_bits);
        Self { bits_per_lane, segment_bits, phase_bits, at_once }
    }
}

/// Iterates over the access instructions of shared memory: plain accesses of each width, and the data-movement
/// instructions of the target's instruction table.
fn access_instructions<'a>(
    context: &'a PlanContext<'_>,
    direction: Direction,
) -> impl Iterator<Item = AccessInstruction> + 'a {
    let target = context.target;
    let plain = target.shared.access_bits.iter().filter_map(move |&bits| {
        Some(AccessInstruction::new(u64::from(bits), None, bits, target.find_bank_row(direction, bits)?))
    });
    let moves = context.instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
    let rows = moves.filter_map(move |row| {
        let (data, ..) = row.access_operand()?;
        let byte = Dim::named("byte");
        let segment = 8u32.checked_shl(data.out_bits(byte))?;
        let bits_per_lane = 8u64
            .checked_shl(data.in_bits(byte) + data.in_bits(Dim::REGISTER))
            .filter(|&bits_per_lane| bits_per_lane > 0)?;
        let banks = target.find_instruction_bank_row(&row.name, direction, segment)?;
        let own = row.operands.iter().any(is_result_operand) == (direction == Direction::Load);
        own.then(|| AccessInstruction::new(bits_per_lane, Some(data.out_bits(Dim::named("slot"))), segment, banks))
    });
    plain.chain(rows)
}

/// Computes the bound of plans that stay within warps: the bits that the lane with the most missing elements must
/// receive, divided by the bits of a shuffle.
pub(super) fn of_shuffles(conversion: &ConversionProblem, target: &TargetDescription) -> CountLowerBounds {
    let shuffle_bits = target.index_shuffle_bits().unwrap_or(u32::BITS);
    let (src, dst) = (&conversion.src, &conversion.dst);
    let src_span = Subspace::span(src.registers.iter().copied());
    let required = Subspace::span(dst.registers.iter().copied());
    let both = src_span.sum(&required);
    // In each thread, the elements in source registers and the elements in destination registers are cosets of two
    // fixed spaces. So they either intersect in all threads, or in some threads they do not.
    let all_threads_overlap = src.threads.iter().zip(&dst.threads).all(|(s, d)| both.contains(s ^ d));
    let required_count = 1u64 << required.dimension();
    let there = if all_threads_overlap { 1u64 << src_span.intersection(&required).dimension() } else { 0 };
    let missing_bits = (required_count - there) * u64::from(conversion.element.bits());
    CountLowerBounds { shuffles: missing_bits.div_ceil(u64::from(shuffle_bits)), ..CountLowerBounds::default() }
}

//! The cost of an MMA plan, computed from the atom and the layouts alone.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, ElementType, TargetDescription};

use super::MmaProblem;
use super::cast;
use super::mma_atom::MmaAtom;
use super::tiling::Tiling;
use crate::cost;

/// The cost of an MMA plan: cycles of a compute unit for one block, and registers of a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MmaCost {
    /// Number of times that each warp issues the atom.
    pub issues: u64,
    /// Cycles of the matrix pipes for the issues of all warps; the warps of each pipe issue one after the other.
    pub issue_cycles: f64,
    /// Number of instructions that each warp issues in addition to the atom to bring scales from registers to the
    /// matrix pipe.
    pub scale_issues: u64,
    /// Cycles of the compute unit's issue slots for the atom's instructions, of all warps, for those that bring scales
    /// to the matrix pipe, and for moves of loaded operands to the registers from which the atom reads them.
    pub slot_cycles: f64,
    /// Lower bound of the cycles of shared-memory wavefronts that bring operands and scales to the warps, plus the
    /// cycles that move the accumulator and scales between registers and tensor memory. Reads of shared memory by
    /// asynchronous MMAs count only with the cycles that they take beyond the MMAs.
    pub traffic_cycles: f64,
    /// Cycles of casting and scaling the elements of both operands, for all warps.
    pub cast_cycles: f64,
    /// Cycles of converting operands that another MMA produced to the operand layouts of this MMA's atom.
    pub operand_load_cycles: f64,
    /// Cycles of converting the result to the required layout; 0 if no layout is required.
    pub conversion_cycles: f64,
    /// Cycles of storing and loading the registers that a lane lacks ([`MmaProblem::may_spill`]), once for each chunk.
    pub spill_cycles: f64,
    /// Number of 32-bit registers of a lane for both operands, their scales and the accumulator.
    pub registers: u64,
}

impl MmaCost {
    /// Returns the sum of all cycles of the plan, in cycles of a compute unit for one block.
    #[must_use]
    pub fn cycles(&self) -> f64 {
        self.issue_cycles
            + self.slot_cycles
            + self.traffic_cycles
            + self.cast_cycles
            + self.operand_load_cycles
            + self.conversion_cycles
            + self.spill_cycles
    }

    /// Computes the cost of an MMA whose atom is repeated as `tiling` states, from the layouts of `a`, `b`, of the
    /// accumulator `c` and of the scales.
    pub(super) fn new(
        problem: &MmaProblem,
        (atom, tiling): (&MmaAtom, &Tiling),
        ([a, b], c): ([&LinearLayout; 2], &LinearLayout),
        scale_layouts: &[Option<LinearLayout>; 2],
        target: &TargetDescription,
    ) -> Self {
        let [m, n, k] = tiling.repeats();
        let chunks = problem.shape[2] >> tiling.chunk;
        let issues = chunks << (m + n + k);
        let warps_per_pipe = problem.warps.div_ceil(atom.pipes);
        let accumulator = words(c, atom.accumulator.bits);
        // An accumulator in tensor memory takes registers only after the last MMA, when the operands take none.
        let registers = if atom.tensor.is_some() { 0 } else { accumulator };
        let mut work = OperandWork { registers, ..OperandWork::default() };
        for (side, layout) in [a, b].into_iter().enumerate() {
            work.count_operand(problem, atom, (side, layout), (chunks, issues), widest_wavefront(target));
        }
        work.count_scales(problem, atom, scale_layouts, chunks, widest_wavefront(target));
        let OperandWork { wavefronts, read, operations, scales, moves, registers } = work;
        let moved = match (&atom.tensor, &target.tensor) {
            (Some(_), Some(memory)) => (accumulator + scales) as f64 * memory.column_cycles * f64::from(warps_per_pipe),
            _ => 0.0,
        };
        let warps = f64::from(problem.warps);
        let issue_cycles = issues as f64 * atom.cycles * f64::from(warps_per_pipe);
        let reads_scales = atom.scales.as_ref().is_some_and(|scales| scales.tensor.is_none());
        let per_issue = target.matrix.as_ref().filter(|_| reads_scales).map_or(0, |unit| unit.scale_instructions);
        let scale_issues = issues * u64::from(per_issue);
        let cycles = |wavefronts: u64| wavefronts as f64 * target.costs.shared_load_wavefront.cycles * warps;
        let read_cycles = cycles(read) / f64::from(atom.group).exp2();
        // The MMAs' own reads of shared memory overlap the MMAs, if these are asynchronous; only the excess takes time.
        let hidden = if atom.queue.is_some() { issue_cycles } else { 0.0 };
        Self {
            issues,
            issue_cycles,
            scale_issues,
            slot_cycles: (issues + scale_issues + moves) as f64 * cost::plain_instruction_cycles(target) * warps,
            traffic_cycles: cycles(wavefronts) + (read_cycles - hidden).max(0.0) + moved,
            cast_cycles: operations as f64 * target.costs.select.cycles * warps,
            operand_load_cycles: 0.0,
            conversion_cycles: 0.0,
            spill_cycles: 0.0,
            registers: if atom.tensor.is_some() { registers.max(accumulator) } else { registers },
        }
    }
}

/// The work of loading and casting the operands of an MMA and their scales.
#[derive(Default)]
struct OperandWork {
    /// Wavefronts of a warp for operands that pass shared memory.
    wavefronts: u64,
    /// Wavefronts by which MMAs read operands in shared memory.
    read: u64,
    /// Operations of casts.
    operations: u64,
    /// Registers of scales that are moved to tensor memory.
    scales: u64,
    /// Moves between registers.
    moves: u64,
    /// Number of 32-bit registers of a lane.
    registers: u64,
}

impl OperandWork {
    /// Adds operand A (0) or B (1), for all chunks of K and all issues.
    fn count_operand(
        &mut self,
        problem: &MmaProblem,
        atom: &MmaAtom,
        (side, layout): (usize, &LinearLayout),
        (chunks, issues): (u64, u64),
        wavefront: u64,
    ) {
        let (from, to) = [(problem.a, &atom.a), (problem.b, &atom.b)][side];
        let scaling = match problem.scales[side] {
            Some(_) if atom.scales.is_none() => cast::SCALING_OPERATION_COUNT,
            _ => 0,
        };
        let conversion_ops = cast::cast_operation_count(from, to.element_type) + scaling;
        if to.memory.is_some() {
            // Each warp group reads the tiles of each issue once. All warps of the block share the stores.
            self.read += (issues * to.tile_bits()).div_ceil(wavefront);
            let own = (1u64 << layout.outs().total_bits()).div_ceil(u64::from(problem.lanes * problem.warps));
            self.operations += chunks * conversion_ops * own;
            if problem.in_shared[side] {
                return;
            }
            self.registers += (own * u64::from(from.bits())).div_ceil(32);
            if from != to.element_type {
                self.registers += (own * u64::from(to.bits)).div_ceil(32);
            }
            return;
        }
        let is_produced = problem.operand_layouts[side].is_some();
        if !is_produced {
            self.wavefronts += chunks * different_bits(layout, from).div_ceil(wavefront);
        }
        self.operations += chunks * (conversion_ops << layout.in_bits(Dim::REGISTER));
        let contiguous = Dim::tensor(if problem.along_k[side] { 1 - side } else { side });
        if !is_produced && conversion_ops == 0 && atom.row.is_some() {
            self.moves += chunks * moved_registers(layout, to.bits, contiguous);
        }
        self.registers += words(layout, to.bits);
        if from != to.element_type {
            self.registers += words(layout, from.bits());
        }
    }

    /// Adds the scales of both operands.
    fn count_scales(
        &mut self,
        problem: &MmaProblem,
        atom: &MmaAtom,
        layouts: &[Option<LinearLayout>; 2],
        chunks: u64,
        wavefront: u64,
    ) {
        for (layout, scale) in layouts.iter().zip(problem.scales) {
            let (Some(layout), Some(scale)) = (layout, scale) else { continue };
            let registers = words(layout, scale.element_type.bits());
            self.wavefronts += chunks * different_bits(layout, scale.element_type).div_ceil(wavefront);
            self.registers += registers;
            self.scales += if atom.scales.is_some() { chunks * registers } else { 0 };
        }
    }
}

/// Returns the limits for the 32-bit registers of a lane that a plan may use, smallest first: one for each register
/// mode of the target, the default mode first. If the problem requests a number of registers, only the mode with this
/// number remains; on a target without modes, the requested number caps the limit.
pub(super) fn limits(problem: &MmaProblem, target: &TargetDescription) -> Vec<u32> {
    let threads = problem.lanes.saturating_mul(problem.warps).max(1);
    let modes = target.limits.register_budgets(threads);
    let Some(requested) = problem.registers else { return modes.collect() };
    match target.limits.register_modes.is_empty() {
        true => modes.map(|mode| mode.min(requested)).collect(),
        false => modes.filter(|mode| *mode == requested).collect(),
    }
}

fn words(layout: &LinearLayout, bits: u32) -> u64 {
    (u64::from(bits) << layout.in_bits(Dim::REGISTER)).div_ceil(32)
}

/// Returns the number of 32-bit registers that are moved between an operand's load and the atom: all registers of the
/// operand, or 0. One wide load of elements that are contiguous in memory along the axis `contiguous` fills consecutive
/// registers; if the atom takes these elements in another order of registers, every register is moved.
fn moved_registers(layout: &LinearLayout, bits: u32, contiguous: Dim) -> u64 {
    let Some(shift) = layout.outs().shift_of(contiguous) else { return 0 };
    let columns = layout.columns_of(Dim::REGISTER);
    let within_register = (32 / bits.min(32)).ilog2() as usize;
    let is_run = |&(bit, column): &(usize, &u64)| *column == 1 << (shift + bit as u32);
    let run = (0..layout.out_bits(contiguous)).take_while(|bit| columns.contains(&(1 << (shift + bit)))).count();
    let in_order = columns.iter().enumerate().take_while(is_run).count();
    // Elements that share a register are loaded together, or merged in any case.
    if within_register <= in_order && in_order < run { words(layout, bits) } else { 0 }
}

/// Returns the number of bits of all distinct elements that one warp holds in this layout.
fn different_bits(layout: &LinearLayout, element_type: ElementType) -> u64 {
    let warp_span = Subspace::span([layout.columns_of(Dim::REGISTER), layout.columns_of(Dim::LANE)].concat());
    u64::from(element_type.bits()) << warp_span.dimension()
}

fn widest_wavefront(target: &TargetDescription) -> u64 {
    let loads = target.shared.banks.iter().filter(|row| row.directions.contains(&Direction::Load));
    loads.map(|row| row.wavefront_bytes() * 8).max().unwrap_or(1).max(1)
}

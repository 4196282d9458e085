//! What a contraction costs, from the unit and the layouts alone.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, ElementType, TargetDescription};

use super::MmaProblem;
use super::cast;
use super::tiling::Tiling;
use super::unit::Unit;

/// Cycles of a compute unit for one block, and registers of a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContractionCost {
    /// Issues of the unit by each warp.
    pub issues: u64,
    /// Cycles of all issues: each pipe's warps one after the other.
    pub issue_cycles: f64,
    /// Cycles of the wavefronts in which both factors reach the warps, at least, and of bringing sums from tensor
    /// memory.
    pub traffic_cycles: f64,
    /// Cycles of changing the elements' types.
    pub cast_cycles: f64,
    /// Cycles of bringing factors that another product has made to where the unit takes them.
    pub operand_load_cycles: f64,
    /// Cycles of bringing the result to the wanted layout, where one is wanted.
    pub conversion_cycles: f64,
    /// 32-bit registers of a lane for both factors and the sums.
    pub registers: u64,
}

impl ContractionCost {
    /// All cycles.
    #[must_use]
    pub fn cycles(&self) -> f64 {
        self.issue_cycles + self.traffic_cycles + self.cast_cycles + self.operand_load_cycles + self.conversion_cycles
    }

    /// The cost of a unit repeated over layouts of the factors, of the sums and of the scales.
    pub(super) fn new(
        problem: &MmaProblem,
        (unit, tiling): (&Unit, &Tiling),
        ([a, b], c): ([&LinearLayout; 2], &LinearLayout),
        scale_layouts: &[Option<LinearLayout>; 2],
        target: &TargetDescription,
    ) -> Self {
        let [m, n, k] = tiling.repeats();
        let chunks = problem.shape[2] >> tiling.chunk;
        let issues = chunks << (m + n + k);
        let turns = problem.warps.div_ceil(unit.pipes);
        let factors = [(a, problem.a, &unit.a), (b, problem.b, &unit.b)];
        let by_unit = unit.scales.is_some();
        let (mut wavefronts, mut read, mut operations, mut scales) = (0, 0, 0, 0);
        let accumulator = words(c, unit.accumulator.bits);
        // Sums in tensor memory come to registers when no factor is there anymore.
        let mut registers = if unit.tensor.is_some() { 0 } else { accumulator };
        let wavefront = widest_wavefront(target);
        for (((layout, from, to), scale), made) in factors.into_iter().zip(problem.scales).zip(&problem.made) {
            let scaling = if scale.is_some() && !by_unit { cast::SCALING } else { 0 };
            let making = cast::operations(from, to.number) + scaling;
            if to.memory.is_some() {
                // A group of warps reads the tile of each issue once; warps share the rest of the way.
                read += (issues * to.tile_bits()).div_ceil(wavefront);
                let own = (1u64 << layout.outs().bits()).div_ceil(u64::from(problem.lanes * problem.warps));
                operations += chunks * making * own;
                registers += (own * u64::from(from.bits())).div_ceil(32);
                if from != to.number {
                    registers += (own * u64::from(to.bits)).div_ceil(32);
                }
                continue;
            }
            if made.is_none() {
                wavefronts += chunks * different_bits(layout, from).div_ceil(wavefront);
            }
            operations += chunks * (making << layout.in_bits(Dim::REGISTER));
            registers += words(layout, to.bits);
            if from != to.number {
                registers += words(layout, from.bits());
            }
        }
        for (layout, scale) in scale_layouts.iter().zip(problem.scales) {
            let (Some(layout), Some(scale)) = (layout, scale) else { continue };
            wavefronts += chunks * different_bits(layout, scale.number).div_ceil(wavefront);
            registers += words(layout, scale.number.bits());
            scales += if by_unit { chunks * words(layout, scale.number.bits()) } else { 0 };
        }
        let moved = match (&unit.tensor, &target.tensor) {
            (Some(_), Some(memory)) => (accumulator + scales) as f64 * memory.column_cycles * f64::from(turns),
            _ => 0.0,
        };
        let warps = f64::from(problem.warps);
        let issue_cycles = issues as f64 * unit.cycles * f64::from(turns);
        let cycles = |wavefronts: u64| wavefronts as f64 * target.costs.shared_load_wavefront.cycles * warps;
        let read_cycles = cycles(read) / f64::from(unit.group).exp2();
        // What a unit reads by itself while it multiplies takes time only beyond that.
        let hidden = if unit.queue.is_some() { issue_cycles } else { 0.0 };
        Self {
            issues,
            issue_cycles,
            traffic_cycles: cycles(wavefronts) + (read_cycles - hidden).max(0.0) + moved,
            cast_cycles: operations as f64 * target.costs.select.cycles * warps,
            operand_load_cycles: 0.0,
            conversion_cycles: 0.0,
            registers: if unit.tensor.is_some() { registers.max(accumulator) } else { registers },
        }
    }
}

/// Registers of a lane that a kernel of the question may use.
pub(super) fn limit(problem: &MmaProblem, target: &TargetDescription) -> u64 {
    let threads = problem.lanes.saturating_mul(problem.warps).max(1);
    u64::from(target.limits.registers_per_lane.min(target.limits.registers_per_block / threads))
}

fn words(layout: &LinearLayout, bits: u32) -> u64 {
    (u64::from(bits) << layout.in_bits(Dim::REGISTER)).div_ceil(32)
}

/// Bits of the different elements that a warp holds.
fn different_bits(layout: &LinearLayout, number: ElementType) -> u64 {
    let held = Subspace::span([layout.columns_of(Dim::REGISTER), layout.columns_of(Dim::LANE)].concat());
    u64::from(number.bits()) << held.dimension()
}

fn widest_wavefront(target: &TargetDescription) -> u64 {
    let loads = target.shared.banks.iter().filter(|row| row.directions.contains(&Direction::Load));
    loads.map(|row| row.wavefront_bytes() * 8).max().unwrap_or(1).max(1)
}

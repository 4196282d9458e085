//! Test cases of repeated movements: the result after several rounds, each applied to the previous result.

use tilewright_kernel::{Counts, Kernel};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::registers::row_major_index;
use tilewright_plan::movement::{ConversionPlan, CountLowerBounds, GatherPlan, SharedAccessPlan};

use super::elements::{element, little_endian, registers};
use super::registers::{gathered, index_at};
use crate::CheckFailure;
use crate::expected_counts::ExpectedCounts;
use crate::kernels::{build_repeated_conversion_kernel, build_repeated_gather_kernel, build_repeated_staging_kernel};
use crate::test_case::{PredictedStats, TestCase, input};

/// A movement within a block that a kernel can repeat: its result has as many registers as its source.
#[derive(Debug, Clone, Copy)]
pub enum RepeatedMovement<'a> {
    /// A conversion between two layouts.
    Conversion([&'a LinearLayout; 2], &'a ConversionPlan),
    /// A conversion through the given shared-memory layout, by a store and a load.
    Staging([&'a LinearLayout; 2], &'a MemoryLayout, [&'a SharedAccessPlan; 2]),
    /// A gather along an axis of a tensor by pseudo-random indices of the same layout.
    Gather(&'a LinearLayout, Dim, &'a GatherPlan),
}

/// The parts of a test of a repeated movement: the contents of the kernel's input buffers, and the expected elements
/// (row-major) of the result, whose layout is `layout`.
struct Movement<'a> {
    inputs: Vec<Vec<u8>>,
    elements: Vec<u64>,
    layout: &'a LinearLayout,
}

impl RepeatedMovement<'_> {
    /// Creates a test of `rounds` rounds on the test tensor, which compares the final result, and the wavefronts and
    /// shuffles of all rounds. For a gather, more wavefronts are accepted, since bank conflicts depend on its indices.
    ///
    /// # Errors
    /// [`CheckFailure::Row`] if layouts hold elements twice, so that a round cannot start from the previous result;
    /// [`CheckFailure::Movement`] if no element has this width.
    pub fn build_case(&self, element_bits: u32, rounds: u32) -> Result<TestCase, CheckFailure> {
        let Movement { inputs, elements, layout } = self.movement(element_bits, rounds)?;
        let predicted = self.predict_round(element_bits, rounds);
        let mut buffers: Vec<_> = inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        buffers.push(registers(0, layout, element_bits, &elements));
        let planned =
            (0..rounds).fold(Counts::default(), |sum, _| sum.add_counts(predicted.counts.unwrap_or_default()));
        let counts = ExpectedCounts {
            may_conflict: matches!(self, Self::Gather(..)),
            ..ExpectedCounts::all(moves(planned), CountLowerBounds::default()).comparing(moves)
        };
        let case = TestCase::of_buffers(self.kernel(element_bits, rounds)?, 1, buffers);
        Ok(case.with_counts(counts).with_predicted(predicted))
    }

    /// Returns the predicted counts and cycles of one round, with the number of rounds of the kernel.
    #[must_use]
    pub fn predict_round(&self, element_bits: u32, rounds: u32) -> PredictedStats {
        match self {
            Self::Conversion(_, plan) => PredictedStats::of(&plan.stats, rounds),
            Self::Staging(_, memory, [store, load]) => {
                let counts = store
                    .stats
                    .counts
                    .add_counts(load.stats.counts)
                    .add_counts(Counts { barriers: 1, ..Counts::default() });
                let (cycles, shared_bytes) = (store.stats.cost + load.stats.cost, memory.allocated_bytes(element_bits));
                PredictedStats { rounds, counts: Some(counts), cycles, shared_bytes }
            }
            Self::Gather(_, _, plan) => PredictedStats::of(&plan.stats, rounds),
        }
    }

    fn movement(&self, element_bits: u32, rounds: u32) -> Result<Movement<'_>, CheckFailure> {
        let (src, dst) = match self {
            Self::Conversion([src, dst], _) | Self::Staging([src, dst], ..) => (*src, *dst),
            Self::Gather(layout, ..) => (*layout, *layout),
        };
        let holds_once = |layout: &LinearLayout| layout.ins().total_bits() == layout.outs().total_bits();
        let same_block = src.ins().dims().all(|dim| src.in_bits(dim) == dst.in_bits(dim));
        if !(holds_once(src) && holds_once(dst) && same_block) {
            let message = "layouts of different blocks or with replicated elements cannot be swapped";
            return Err(CheckFailure::Row(message.to_owned()));
        }
        let size = 1u64 << src.outs().total_bits();
        let mut tensor: Vec<u64> = (0..size).map(|index| element(index, element_bits)).collect();
        let mut inputs = vec![little_endian(tensor.iter().copied(), (element_bits / 8) as usize)];
        for round in 0..rounds {
            tensor = match self {
                // The last round's result is the tensor in `dst`; each earlier result is reinterpreted in `src` for the
                // next round.
                Self::Conversion(..) | Self::Staging(..) if round == 0 => tensor,
                Self::Conversion(..) | Self::Staging(..) => reinterpret(&tensor, src, dst),
                Self::Gather(layout, axis, _) => gathered(layout, layout, *axis, |position| tensor[position as usize]),
            };
        }
        if let Self::Gather(layout, axis, _) = self {
            inputs.push(little_endian((0..size).map(|position| index_at(layout, *axis, position)), 4));
        }
        Ok(Movement { inputs, elements: tensor, layout: dst })
    }

    fn kernel(&self, element_bits: u32, rounds: u32) -> Result<Kernel, CheckFailure> {
        Ok(match self {
            Self::Conversion(layouts, plan) => build_repeated_conversion_kernel(*layouts, element_bits, plan, rounds)?,
            Self::Staging(layouts, memory, accesses) => {
                build_repeated_staging_kernel(*layouts, element_bits, memory, *accesses, rounds)?
            }
            Self::Gather(layout, _, plan) => build_repeated_gather_kernel(layout, element_bits, plan, rounds)?,
        })
    }
}

/// Returns the counts of wavefronts and shuffles, with all other counts zero. The loop around the rounds adds nothing
/// to these two.
fn moves(counts: Counts) -> Counts {
    let Counts { shuffles, wavefronts_stored, wavefronts_loaded, .. } = counts;
    Counts { shuffles, wavefronts_stored, wavefronts_loaded, ..Counts::default() }
}

/// Reinterprets the registers that hold `tensor` in layout `dst` as registers of layout `src`; returns the tensor that
/// they then hold, row-major.
fn reinterpret(tensor: &[u64], src: &LinearLayout, dst: &LinearLayout) -> Vec<u64> {
    let mut taken = vec![0; tensor.len()];
    for position in 0..1u64 << src.ins().total_bits() {
        // Both sides have the same register, lane and warp, though the layouts may list the dims in different orders.
        let shift = |dim| dst.ins().shift_of(dim).unwrap_or(0);
        let same = dst.ins().dims().fold(0, |packed, dim| packed | src.ins().coordinate(position, dim) << shift(dim));
        let from = row_major_index(dst, dst.apply_packed(same));
        taken[row_major_index(src, src.apply_packed(position)) as usize] = tensor[from as usize];
    }
    taken
}

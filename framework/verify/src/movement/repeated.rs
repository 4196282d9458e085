//! Movements that are done many times over, each time to what the last left: what they leave in the end.

use tilewright_kernel::{Counts, Kernel};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::registers::row_major;
use tilewright_plan::movement::{Bound, Gather, Plan, SharedAccess};

use super::elements::{element, little_endian, registers};
use super::registers::{gathered, index_at};
use crate::CheckFailure;
use crate::expected_counts::ExpectedCounts;
use crate::kernels::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
use crate::test_case::{Predicted, TestCase, input};

/// A movement within a block whose result has as many registers as what it begins with.
#[derive(Debug, Clone, Copy)]
pub enum Repeated<'a> {
    /// A conversion between two layouts.
    Conversion([&'a LinearLayout; 2], &'a Plan),
    /// From one layout to another through shared memory of a given layout, by a store and a load.
    Staging([&'a LinearLayout; 2], &'a MemoryLayout, [&'a SharedAccess; 2]),
    /// A gather along an axis of a tensor by indices of the same layout, in no order.
    Gather(&'a LinearLayout, Dim, &'a Gather),
}

/// What a kernel reads, and the elements that it leaves in a layout, row-major.
struct Movement<'a> {
    inputs: Vec<Vec<u8>>,
    elements: Vec<u64>,
    layout: &'a LinearLayout,
}

impl Repeated<'_> {
    /// A kernel that does it so many times, on a tensor of known elements: what it must leave in the end, and the
    /// wavefronts and exchanges of all rounds. Conflicts of a gather depend on its indices.
    ///
    /// # Errors
    /// [`CheckFailure::Row`]: layouts hold elements twice, so that rounds cannot begin with what others left.
    pub fn case(&self, element_bits: u32, rounds: u32) -> Result<TestCase, CheckFailure> {
        let Movement { inputs, elements, layout } = self.movement(element_bits, rounds)?;
        let predicted = self.predicted(element_bits, rounds);
        let mut buffers: Vec<_> = inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        buffers.push(registers(0, layout, element_bits, &elements));
        let planned = (0..rounds).fold(Counts::default(), |sum, _| sum.plus(predicted.counts.unwrap_or_default()));
        let counts = ExpectedCounts {
            may_conflict: matches!(self, Self::Gather(..)),
            ..ExpectedCounts::all(moves(planned), Bound::default()).comparing(moves)
        };
        let case = TestCase::of_buffers(self.kernel(element_bits, rounds)?, 1, buffers);
        Ok(case.with_counts(counts).with_predicted(predicted))
    }

    /// What is predicted of a round.
    #[must_use]
    pub fn predicted(&self, element_bits: u32, rounds: u32) -> Predicted {
        match self {
            Self::Conversion(_, plan) => Predicted::of(&plan.stats, rounds),
            Self::Staging(_, memory, [store, load]) => {
                let counts =
                    store.stats.counts.plus(load.stats.counts).plus(Counts { barriers: 1, ..Counts::default() });
                let (cycles, shared_bytes) = (store.stats.cost + load.stats.cost, memory.allocated_bytes(element_bits));
                Predicted { rounds, counts: Some(counts), cycles, shared_bytes }
            }
            Self::Gather(_, _, plan) => Predicted::of(&plan.stats, rounds),
        }
    }

    fn movement(&self, element_bits: u32, rounds: u32) -> Result<Movement<'_>, CheckFailure> {
        let (src, dst) = match self {
            Self::Conversion([src, dst], _) | Self::Staging([src, dst], ..) => (*src, *dst),
            Self::Gather(layout, ..) => (*layout, *layout),
        };
        let holds_once = |layout: &LinearLayout| layout.ins().bits() == layout.outs().bits();
        let same_block = src.ins().dims().all(|dim| src.in_bits(dim) == dst.in_bits(dim));
        if !(holds_once(src) && holds_once(dst) && same_block) {
            let message = "layouts of other blocks, or that hold elements twice, cannot take each other's place";
            return Err(CheckFailure::Row(message.to_owned()));
        }
        let size = 1u64 << src.outs().bits();
        let mut tensor: Vec<u64> = (0..size).map(|index| element(index, element_bits)).collect();
        let mut inputs = vec![little_endian(tensor.iter().copied(), (element_bits / 8) as usize)];
        for round in 0..rounds {
            tensor = match self {
                // What is left is the tensor in the one layout; it is begun with as one in the other.
                Self::Conversion(..) | Self::Staging(..) if round == 0 => tensor,
                Self::Conversion(..) | Self::Staging(..) => taken_for(&tensor, src, dst),
                Self::Gather(layout, axis, _) => gathered(layout, layout, *axis, |place| tensor[place as usize]),
            };
        }
        if let Self::Gather(layout, axis, _) = self {
            inputs.push(little_endian((0..size).map(|place| index_at(layout, *axis, place)), 4));
        }
        Ok(Movement { inputs, elements: tensor, layout: dst })
    }

    fn kernel(&self, element_bits: u32, rounds: u32) -> Result<Kernel, CheckFailure> {
        Ok(match self {
            Self::Conversion(layouts, plan) => repeated_conversion_kernel(*layouts, element_bits, plan, rounds)?,
            Self::Staging(layouts, memory, accesses) => {
                repeated_staging_kernel(*layouts, element_bits, memory, *accesses, rounds)?
            }
            Self::Gather(layout, _, plan) => repeated_gather_kernel(layout, element_bits, plan, rounds)?,
        })
    }
}

/// Wavefronts and exchanges, which loops add nothing to.
fn moves(counts: Counts) -> Counts {
    let Counts { exchanges, wavefronts_stored, wavefronts_loaded, .. } = counts;
    Counts { exchanges, wavefronts_stored, wavefronts_loaded, ..Counts::default() }
}

/// The tensor, row-major, that registers of layout `dst` are when they are taken for registers of layout `src`.
fn taken_for(tensor: &[u64], src: &LinearLayout, dst: &LinearLayout) -> Vec<u64> {
    let mut taken = vec![0; tensor.len()];
    for place in 0..1u64 << src.ins().bits() {
        // The same register, lane and warp, in whatever order the layouts list those.
        let shift = |dim| dst.ins().shift_of(dim).unwrap_or(0);
        let same = dst.ins().dims().fold(0, |packed, dim| packed | src.ins().coordinate(place, dim) << shift(dim));
        let from = row_major(dst, dst.apply_packed(same));
        taken[row_major(src, src.apply_packed(place)) as usize] = tensor[from as usize];
    }
    taken
}

//! Movements that are done many times over, each time to what the last left: what they leave in the end.

use crate::kernels::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
use crate::trial::{Predicted, Trial};
use tilewright_emulator::Report;
use tilewright_kernel::{Counts, Kernel};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::row_major;
use tilewright_plan::movement::{Gather, Means, Plan, SharedAccess};

use super::Disproof;
use super::asked::{Asked, Left};
use super::execute::{element, little_endian};
use super::registers::{gathered, index_at, on_emulator};

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

impl Repeated<'_> {
    /// A kernel that does it so many times, on a tensor of known elements.
    ///
    /// # Errors
    /// [`Disproof::Row`] where layouts hold elements twice, so that rounds cannot begin with what others left.
    pub fn trial(&self, element_bits: u32, rounds: u32) -> Result<Trial, Disproof> {
        Ok(self.ask(element_bits, rounds)?.trial(self.predicted(element_bits, rounds)))
    }

    /// Runs it on the emulator and compares every register.
    ///
    /// # Errors
    /// [`Disproof`]: the first thing that is wrong.
    pub fn prove(&self, element_bits: u32, rounds: u32, means: Means<'_>) -> Result<Report, Disproof> {
        on_emulator(means, |execute| self.ask(element_bits, rounds)?.show(execute))
    }

    /// What is predicted of a round.
    #[must_use]
    pub fn predicted(&self, element_bits: u32, rounds: u32) -> Predicted {
        let (counts, cycles, shared_bytes) = match self {
            Self::Conversion(_, plan) => (plan.counts, plan.cost, plan.shared_bytes),
            Self::Staging(_, memory, [store, load]) => {
                let counts = store.counts.plus(load.counts).plus(Counts { barriers: 1, ..Counts::default() });
                (counts, store.cost + load.cost, memory.allocated_bytes(element_bits))
            }
            Self::Gather(_, _, plan) => (plan.counts, plan.cost, plan.shared_bytes),
        };
        Predicted { rounds, counts: Some(counts), cycles, shared_bytes }
    }

    fn ask(&self, element_bits: u32, rounds: u32) -> Result<Asked<'_>, Disproof> {
        let (src, dst) = match self {
            Self::Conversion([src, dst], _) | Self::Staging([src, dst], ..) => (*src, *dst),
            Self::Gather(layout, ..) => (*layout, *layout),
        };
        let holds_once = |layout: &LinearLayout| layout.ins().bits() == layout.outs().bits();
        let same_block = src.ins().dims().all(|dim| src.in_bits(dim) == dst.in_bits(dim));
        if !(holds_once(src) && holds_once(dst) && same_block) {
            let message = "layouts of other blocks, or that hold elements twice, cannot take each other's place";
            return Err(Disproof::Row(message.to_owned()));
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
        let outputs = vec![Left { layout: dst, bits: element_bits, elements: tensor }];
        Ok(Asked { kernel: self.kernel(element_bits, rounds)?, inputs, outputs, blocks: 1 })
    }

    fn kernel(&self, element_bits: u32, rounds: u32) -> Result<Kernel, Disproof> {
        Ok(match self {
            Self::Conversion(layouts, plan) => repeated_conversion_kernel(*layouts, element_bits, plan, rounds)?,
            Self::Staging(layouts, memory, accesses) => {
                repeated_staging_kernel(*layouts, element_bits, memory, *accesses, rounds)?
            }
            Self::Gather(layout, _, plan) => repeated_gather_kernel(layout, element_bits, plan, rounds)?,
        })
    }
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

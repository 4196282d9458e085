//! Copies of a tensor's tiles by boxes, in stages, to shared memory and back.

use crate::kernels::{Stages, tensor_copy_kernel};
use tilewright_kernel::{Counts, Launch, MAX_RANK, TensorMapBinding};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_plan::movement::{Bound, PlanContext, TensorCopy};
use tilewright_target::TargetDescription;

use super::elements::{element, little_endian};
use crate::CheckFailure;
use crate::case::CaseValue;
use crate::expected_counts::{ExpectedCounts, PlannedSectors};
use crate::test_case::{Legend, TestCase, changed, input};

/// Copies of tiles by boxes, in stages: every element of each tile; what the warp that copies executes for each; and, if
/// all tiles are inside of the tensor, the sectors that were touched.
///
/// The tensor is `stages.tensors` tiles high along the first axis of `memory`. Tiles begin where each other end; with
/// `shifted` they begin so many elements lower along every axis, so that some are partly outside.
///
/// # Errors
/// [`CheckFailure::Movement`]: the plan is not for this memory.
pub fn box_tiles_case<'a>(
    copy: &TensorCopy,
    memory: &MemoryLayout,
    launch: Launch,
    stages: Stages,
    shifted: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = tensor_copy_kernel(copy, memory, launch, stages)?;
    let tiles = Tiles::new(copy, memory, stages.tensors, shifted);
    let [tensor, origins, held] = tiles.contents();
    let (mut left, mut brought) = (tensor.clone(), held.clone());
    match copy.queue() {
        None => brought = tiles.bytes(tiles.brought()),
        Some(_) => left = tiles.bytes(tiles.put_back()),
    }
    let elements: Vec<_> = (0..tiles.places()).map(|place| tiles.element(place).unwrap_or(0)).collect();
    let of_tensor = Legend::of_elements(tiles.bits, |index| (format!("place {index}"), index));
    let of_held = Legend::of_elements(tiles.bits, move |place| (format!("place {place}"), elements[place as usize]));
    let buffers = vec![
        changed("tensor", tiles.bits, tensor, left, of_tensor),
        input(1, origins),
        changed("held", tiles.bits, held, brought, of_held),
    ];
    let arguments = vec![CaseValue::Tensor(tiles.given(0)), CaseValue::Buffer(1), CaseValue::Buffer(2)];
    let counts = planned_counts(copy, u64::from(stages.tensors), shifted, context.into().target);
    Ok(TestCase::new(kernel, [1, 1, 1], arguments, buffers).with_counts(counts))
}

/// What the warp that copies executes for each tile; and sectors, if the tensor lies as the plan has it and each tile
/// begins a sector.
fn planned_counts(copy: &TensorCopy, tiles: u64, shifted: u32, target: &TargetDescription) -> ExpectedCounts {
    let row_major = (0..copy.axes.len()).rev().map(Dim::tensor).eq(copy.axes.iter().copied());
    let unit = u64::from(target.global.transaction_bytes.max(1));
    let is_exact = shifted == 0 && row_major && copy.bytes().is_multiple_of(unit);
    let sectors = match copy.queue() {
        // Where each tile begins is loaded, one sector for each axis.
        None => PlannedSectors {
            accesses: "copies by boxes",
            planned: tiles * (copy.transactions + copy.axes.len() as u64),
            executed: |sectors| sectors.loaded,
        },
        Some(_) => PlannedSectors {
            accesses: "copies by boxes",
            planned: tiles * copy.transactions,
            executed: |sectors| sectors.stored,
        },
    };
    let compared: fn(Counts) -> Counts = |counts| {
        let Counts { bulk_copies, bulk_bytes, mbarrier_arrivals, .. } = counts;
        Counts { bulk_copies, bulk_bytes, mbarrier_arrivals, ..Counts::default() }
    };
    let planned = (0..tiles).fold(Counts::default(), |sum, _| sum.plus(copy.counts));
    ExpectedCounts::all(compared(planned), Bound::default())
        .comparing(compared)
        .with_sectors([is_exact.then_some(sectors), None])
}

/// The tiles of one tensor.
struct Tiles<'a> {
    memory: &'a MemoryLayout,
    axes: &'a [Dim],
    bits: u32,
    /// Of the tensor, by the axes of the map.
    sizes: Vec<u64>,
    /// Where each tile begins.
    origins: Vec<Vec<i32>>,
}

impl<'a> Tiles<'a> {
    fn new(copy: &'a TensorCopy, memory: &'a MemoryLayout, tiles: u32, shifted: u32) -> Self {
        let size = |&dim: &Dim| 1u64 << memory.linear.out_bits(dim);
        let stacked = |dim: &Dim| if *dim == Dim::tensor(0) { u64::from(tiles) } else { 1 };
        let origin = |tile: u32, dim: &Dim| {
            let begin = if *dim == Dim::tensor(0) { size(dim) as i32 * tile.cast_signed() } else { 0 };
            begin - shifted.cast_signed()
        };
        Self {
            memory,
            axes: &copy.axes,
            bits: copy.map.element_bits,
            sizes: copy.axes.iter().map(|dim| size(dim) * stacked(dim)).collect(),
            origins: (0..tiles).map(|tile| copy.axes.iter().map(|dim| origin(tile, dim)).collect()).collect(),
        }
    }

    fn elements(&self) -> u64 {
        self.sizes.iter().product()
    }

    fn offsets(&self) -> u64 {
        1 << self.memory.linear.in_bits(Dim::OFFSET)
    }

    fn places(&self) -> u64 {
        self.offsets() * self.origins.len() as u64
    }

    fn given<B: Copy>(&self, buffer: B) -> TensorMapBinding<B> {
        let packed = TensorMapBinding::packed(buffer, &self.sizes, u64::from(self.bits / 8));
        packed.unwrap_or(TensorMapBinding { buffer, offset: 0, sizes: [1; MAX_RANK], strides: [0; MAX_RANK] })
    }

    fn bytes(&self, elements: Vec<u64>) -> Vec<u8> {
        little_endian(elements.into_iter(), (self.bits / 8) as usize)
    }

    /// What the tensor has, where tiles begin, and what is held, before.
    fn contents(&self) -> [Vec<u8>; 3] {
        let bytes = (self.bits / 8) as usize;
        let of = |index: u64| element(index, self.bits);
        let tensor = little_endian((0..self.elements()).map(of), bytes);
        let held = little_endian((0..self.places()).map(|place| of(place ^ HELD)), bytes);
        let origins = self.origins.iter().flatten().flat_map(|at| at.to_le_bytes()).collect();
        [tensor, origins, held]
    }

    /// What each place of shared memory has that was copied to.
    fn brought(&self) -> Vec<u64> {
        let of = |place| self.element(place).map_or(0, |index| element(index, self.bits));
        (0..self.places()).map(of).collect()
    }

    /// What each element of the tensor is that was copied to.
    fn put_back(&self) -> Vec<u64> {
        let mut expected: Vec<u64> = (0..self.elements()).map(|index| element(index, self.bits)).collect();
        for place in 0..self.places() {
            if let Some(index) = self.element(place) {
                expected[index as usize] = element(place ^ HELD, self.bits);
            }
        }
        expected
    }

    /// Which element of the tensor a place of shared memory has; none outside.
    fn element(&self, place: u64) -> Option<u64> {
        let (tile, offset) = (place / self.offsets(), place % self.offsets());
        let image = self.memory.linear.apply_packed(offset);
        let (mut index, mut stride) = (0, 1);
        for ((&dim, &size), &origin) in self.axes.iter().zip(&self.sizes).zip(&self.origins[tile as usize]) {
            let at = i64::from(origin) + self.memory.linear.outs().coordinate(image, dim) as i64;
            let at = u64::try_from(at).ok().filter(|&at| at < size)?;
            index += at * stride;
            stride *= size;
        }
        Some(index)
    }
}

/// What is held has the numbers of other elements than the tensor.
const HELD: u64 = 0x5555_0000;

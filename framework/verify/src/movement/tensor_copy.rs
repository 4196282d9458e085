//! Test cases of bulk tensor copies of a tensor's tiles in a pipeline, to shared memory and back.

use crate::kernels::{CopyPipelineConfig, build_tensor_copy_kernel};
use tilewright_kernel::{Counts, MAX_TENSOR_MAP_RANK, StaticLaunchConfig, TensorMapBinding};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_plan::movement::{CountLowerBounds, PlanContext, TensorCopy};
use tilewright_target::TargetDescription;

use super::elements::{element, little_endian};
use crate::CheckFailure;
use crate::case::CaseValue;
use crate::expected_counts::{ExpectedCounts, PlannedSectorCount};
use crate::test_case::{BufferLegend, TestCase, changed, input};

/// Creates a test of pipelined bulk tensor copies of tiles. It compares every element of each tile, the counts of the
/// copying warp for each tile, and, if all tiles are inside of the tensor, the touched sectors.
///
/// The tensor is `stages.tensors` tiles high along the first axis of `memory`. Tiles are adjacent. Their origins are
/// lowered by `shifted` elements along every axis, so that some tiles are partly outside of the tensor.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width, or if the pipeline has fewer tiles than buffers, or no
/// buffer.
pub fn build_tensor_copy_case<'a>(
    copy: &TensorCopy,
    memory: &MemoryLayout,
    launch: StaticLaunchConfig,
    stages: CopyPipelineConfig,
    shifted: u32,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_tensor_copy_kernel(copy, memory, launch, stages)?;
    let tiles = Tiles::new(copy, memory, stages.tensors, shifted);
    let [tensor, origins, shared_contents] = tiles.contents();
    let (mut left, mut brought) = (tensor.clone(), shared_contents.clone());
    match copy.completion_queue() {
        None => brought = tiles.bytes(tiles.expected_shared_memory()),
        Some(_) => left = tiles.bytes(tiles.put_back()),
    }
    let elements: Vec<_> =
        (0..tiles.memory_size()).map(|memory_index| tiles.element(memory_index).unwrap_or(0)).collect();
    let of_tensor = BufferLegend::of_elements(tiles.bits, |index| (format!("element {index}"), index));
    let of_shared = BufferLegend::of_elements(tiles.bits, move |memory_index| {
        (format!("offset {memory_index}"), elements[memory_index as usize])
    });
    let buffers = vec![
        changed("tensor", tiles.bits, tensor, left, of_tensor),
        input(1, origins),
        changed("held", tiles.bits, shared_contents, brought, of_shared),
    ];
    let arguments = vec![CaseValue::Tensor(tiles.given(0)), CaseValue::Buffer(1), CaseValue::Buffer(2)];
    let counts = planned_counts(copy, u64::from(stages.tensors), shifted, context.into().target);
    Ok(TestCase::new(kernel, [1, 1, 1], arguments, buffers).with_counts(counts))
}

/// Predicts the counts of the copying warp, over all tiles; and the touched sectors, if the tensor has the planned
/// strides and each tile starts at a sector.
fn planned_counts(copy: &TensorCopy, tiles: u64, shifted: u32, target: &TargetDescription) -> ExpectedCounts {
    let row_major = (0..copy.axes.len()).rev().map(Dim::tensor).eq(copy.axes.iter().copied());
    let sector_bytes = u64::from(target.global.transaction_bytes.max(1));
    let is_exact = shifted == 0 && row_major && copy.total_box_bytes().is_multiple_of(sector_bytes);
    let sectors = match copy.completion_queue() {
        // The load of the origin of each tile touches one sector for each axis.
        None => PlannedSectorCount {
            accesses: "bulk tensor copies",
            planned: tiles * (copy.transactions + copy.axes.len() as u64),
            executed: |sectors| sectors.loaded,
        },
        Some(_) => PlannedSectorCount {
            accesses: "bulk tensor copies",
            planned: tiles * copy.transactions,
            executed: |sectors| sectors.stored,
        },
    };
    let compared: fn(Counts) -> Counts = |counts| {
        let Counts { bulk_copies, bulk_bytes, mbarrier_arrivals, .. } = counts;
        Counts { bulk_copies, bulk_bytes, mbarrier_arrivals, ..Counts::default() }
    };
    let planned = (0..tiles).fold(Counts::default(), |sum, _| sum.add_counts(copy.counts));
    ExpectedCounts::all(compared(planned), CountLowerBounds::default())
        .comparing(compared)
        .with_sectors([is_exact.then_some(sectors), None])
}

/// The tiles of one tensor, and the tensor's sizes.
struct Tiles<'a> {
    memory: &'a MemoryLayout,
    axes: &'a [Dim],
    bits: u32,
    /// Sizes of the tensor, by the axes of the tensor map.
    sizes: Vec<u64>,
    /// For each tile, its origin: a coordinate along each axis of the tensor map.
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

    fn memory_size(&self) -> u64 {
        self.offsets() * self.origins.len() as u64
    }

    fn given<B: Copy>(&self, buffer: B) -> TensorMapBinding<B> {
        let packed = TensorMapBinding::contiguous(buffer, &self.sizes, u64::from(self.bits / 8));
        packed.unwrap_or(TensorMapBinding {
            buffer,
            offset: 0,
            sizes: [1; MAX_TENSOR_MAP_RANK],
            strides: [0; MAX_TENSOR_MAP_RANK],
        })
    }

    fn bytes(&self, elements: Vec<u64>) -> Vec<u8> {
        little_endian(elements.into_iter(), (self.bits / 8) as usize)
    }

    /// Returns the initial contents in bytes of three buffers: the tensor, the origins of the tiles, and the contents
    /// of shared memory for all tiles.
    fn contents(&self) -> [Vec<u8>; 3] {
        let bytes = (self.bits / 8) as usize;
        let of = |index: u64| element(index, self.bits);
        let tensor = little_endian((0..self.elements()).map(of), bytes);
        let shared_contents =
            little_endian((0..self.memory_size()).map(|memory_index| of(memory_index ^ SHARED_CONTENTS_XOR)), bytes);
        let origins = self.origins.iter().flatten().flat_map(|at| at.to_le_bytes()).collect();
        [tensor, origins, shared_contents]
    }

    /// Returns the expected elements of shared memory after copies to it, for each tile in memory order.
    fn expected_shared_memory(&self) -> Vec<u64> {
        let of = |memory_index| self.element(memory_index).map_or(0, |index| element(index, self.bits));
        (0..self.memory_size()).map(of).collect()
    }

    /// Returns the expected elements of the tensor after the copies from shared memory to it, in the order of the
    /// tensor's memory.
    fn put_back(&self) -> Vec<u64> {
        let mut expected: Vec<u64> = (0..self.elements()).map(|index| element(index, self.bits)).collect();
        for memory_index in 0..self.memory_size() {
            if let Some(index) = self.element(memory_index) {
                expected[index as usize] = element(memory_index ^ SHARED_CONTENTS_XOR, self.bits);
            }
        }
        expected
    }

    /// Returns the index in the tensor's memory of the element at `memory_index`, which counts the offsets of shared
    /// memory over all tiles; `None` if the element lies outside of the tensor.
    fn element(&self, memory_index: u64) -> Option<u64> {
        let (tile, offset) = (memory_index / self.offsets(), memory_index % self.offsets());
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

/// XOR mask for element numbers, so that shared memory's initial contents differ from the tensor.
const SHARED_CONTENTS_XOR: u64 = 0x5555_0000;

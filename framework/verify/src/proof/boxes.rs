//! Copies of a tensor's tiles by boxes, in stages, to shared memory and back.

use tilewright_emulator::{Argument, Emulator, GlobalMemory, Limits, Meanings, Report};
use tilewright_kernel::{self as kernel, Counts, Launch, MAX_RANK, MappedTensor, Module};
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::{Stages, staged_box_kernel};
use tilewright_plan::movement::{BoxCopy, Means};

use super::Disproof;
use super::execute::{element, little_endian, word};
use crate::case::{self, After, Element, Given, Tolerance};
use crate::trial::{Trial, input};

/// Copies tiles by boxes on the emulator, in stages, and compares every element of each; and where all tiles are inside of
/// the tensor, for each tile what was executed and the units of global memory that were touched.
///
/// The tensor is `stages.tensors` tiles high along the first axis of `memory`. Tiles begin where each other end; with
/// `shifted` they begin so many elements lower along every axis, so that some are partly outside.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_box_tiles<'a>(
    copy: &BoxCopy,
    memory: &MemoryLayout,
    launch: Launch,
    stages: Stages,
    shifted: u32,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let means = means.into();
    let kernel = staged_box_kernel("tiles", copy, memory, launch, stages)?;
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module)?;
    kernel::verify_instructions(&module.kernels[0], means.instructions)?;
    let tiles = Tiles::new(copy, memory, stages.tensors, shifted);
    let bytes = (tiles.bits / 8) as usize;
    let mut global = GlobalMemory::new();
    let [tensor_at, origins_at, held_at] = tiles.contents().map(|bytes| global.allocate_with(&bytes));
    let arguments = [Argument::Tensor(tiles.given(tensor_at)), Argument::Buffer(origins_at), Argument::Buffer(held_at)];
    let meanings = Meanings::of_rows(means.instructions);
    let emulator = Emulator::new(&module.kernels[0], means.target);
    let run = emulator
        .and_then(|one| one.with_meanings(&meanings).run([1, 1, 1], &arguments, &mut global, &Limits::default()));
    let report = run.map_err(|fault| Disproof::Fault(Box::new(fault)))?;
    match copy.queue() {
        None => tiles.compare_held(global.read_all(held_at)?, bytes)?,
        Some(_) => tiles.compare_tensor(global.read_all(tensor_at)?, bytes)?,
    }
    let row_major = (0..copy.axes.len()).rev().map(Dim::tensor).eq(copy.axes.iter().copied());
    let unit = u64::from(means.target.global.transaction_bytes.max(1));
    let exact = shifted == 0 && row_major && copy.bytes().is_multiple_of(unit);
    compare_counts(copy, u64::from(stages.tensors), exact, &report).map(|()| report)
}

/// The same to be run on a device.
///
/// # Errors
/// [`Disproof`]: what of it no kernel can be made of.
pub fn box_tiles_trial(
    copy: &BoxCopy,
    memory: &MemoryLayout,
    launch: Launch,
    stages: Stages,
    shifted: u32,
) -> Result<Trial, Disproof> {
    let kernel = staged_box_kernel("tiles", copy, memory, launch, stages)?;
    let tiles = Tiles::new(copy, memory, stages.tensors, shifted);
    let bytes = (tiles.bits / 8) as usize;
    let [tensor, origins, held] = tiles.contents();
    let after = |elements: Vec<u64>| After::Expected {
        bytes: little_endian(elements.into_iter(), bytes),
        tolerance: Tolerance::default(),
    };
    let (tensor_after, held_after) = match copy.queue() {
        None => (After::Unchanged, after(tiles.brought())),
        Some(_) => (after(tiles.put_back()), After::Unchanged),
    };
    let element = Element::Unsigned(tiles.bits);
    let buffer = |name: &str, before: Vec<u8>, after| {
        let shape = vec![(before.len() / bytes) as u64];
        case::Buffer { name: name.to_owned(), element, shape, before, after }
    };
    let buffers = vec![buffer("tensor", tensor, tensor_after), input(1, origins), buffer("held", held, held_after)];
    let arguments = vec![Given::Tensor(tiles.given(0)), Given::Buffer(1), Given::Buffer(2)];
    Ok(Trial { kernel, grid: [1, 1, 1], arguments, buffers, predicted: None })
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
    fn new(copy: &'a BoxCopy, memory: &'a MemoryLayout, tiles: u32, shifted: u32) -> Self {
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

    fn given<B: Copy>(&self, buffer: B) -> MappedTensor<B> {
        let packed = MappedTensor::packed(buffer, &self.sizes, u64::from(self.bits / 8));
        packed.unwrap_or(MappedTensor { buffer, offset: 0, sizes: [1; MAX_RANK], strides: [0; MAX_RANK] })
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

    /// What shared memory held, of copies to there.
    fn compare_held(&self, held: &[u8], bytes: usize) -> Result<(), Disproof> {
        let all = (0..).zip(held.chunks(bytes).zip(self.brought()));
        all.into_iter().try_for_each(|(place, (found, expected))| {
            same(place, word(found), self.element(place).unwrap_or(0), expected)
        })
    }

    /// What the tensor has, of copies from there.
    fn compare_tensor(&self, tensor: &[u8], bytes: usize) -> Result<(), Disproof> {
        let all = (0..).zip(tensor.chunks(bytes).zip(self.put_back()));
        all.into_iter().try_for_each(|(index, (found, expected))| same(index, word(found), index, expected))
    }
}

/// What is held has the numbers of other elements than the tensor.
const HELD: u64 = 0x5555_0000;

fn same(place: u64, found: u64, element: u64, expected: u64) -> Result<(), Disproof> {
    if found == expected {
        return Ok(());
    }
    Err(Disproof::WrongElement { place: format!("place {place}"), found, element, expected })
}

/// The warp that copies executes for each tile what is planned. Units of memory are compared where `exact`: where the
/// tensor lies as the plan has it and each tile begins a unit.
fn compare_counts(copy: &BoxCopy, tiles: u64, exact: bool, report: &Report) -> Result<(), Disproof> {
    let planned = (0..tiles).fold(Counts::default(), |sum, _| sum.plus(copy.counts));
    let executed = report.counts;
    let of = |counts: &Counts| (counts.bulk_copies, counts.bulk_bytes, counts.mbarrier_arrivals);
    if of(&executed) != of(&planned) {
        return Err(Disproof::Counts { planned: Box::new(planned), executed: Box::new(executed) });
    }
    // Where each tile begins is loaded, one unit for each axis.
    let (planned, executed) = match copy.queue() {
        None => (tiles * (copy.transactions + copy.axes.len() as u64), report.transactions_loaded),
        Some(_) => (tiles * copy.transactions, report.transactions_stored),
    };
    if exact && executed != planned {
        return Err(Disproof::Transactions { what: "copies by boxes", planned, executed });
    }
    Ok(())
}

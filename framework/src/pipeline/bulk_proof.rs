//! Showing what a bulk copy does: one is run on the emulator, and every byte that it brings, or does not bring, is
//! compared with what follows from the tensor's sizes and strides, element by element.

use super::Disproof;
use super::exact::scrambled;
use crate::emulator::{Argument, Emulator, GlobalMemory, Limits, MappedTensor, Meanings, Report};
use crate::kernel::{self, MAX_RANK, Module, Outside, TensorMap};
use crate::lower::{Bulk, BulkFlaw, bulk_kernel};
use crate::target::{Completion, Instruction, TargetDescription};

/// A tensor of which a box is copied: twice the box and one along each axis, with gaps between its rows.
struct Mapped<'a> {
    map: &'a TensorMap,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    bytes: usize,
}

impl<'a> Mapped<'a> {
    fn new(map: &'a TensorMap) -> Self {
        let sizes: Vec<u64> = map.box_sizes.iter().map(|&size| 2 * u64::from(size) + 1).collect();
        let mut strides = vec![u64::from(map.element_bits / 8)];
        for (axis, size) in sizes.iter().enumerate() {
            // Strides but the first are multiples of any alignment asked for.
            let stride = strides[axis] * size;
            strides.push(stride.next_multiple_of(16) + 16);
        }
        let bytes = strides.pop().unwrap_or(0) as usize;
        Self { map, sizes, strides, bytes }
    }

    fn given(&self, buffer: crate::emulator::Buffer) -> MappedTensor {
        let (mut sizes, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        sizes.iter_mut().zip(&self.sizes).for_each(|(own, &size)| *own = size);
        strides.iter_mut().zip(&self.strides).for_each(|(own, &stride)| *own = stride);
        MappedTensor { buffer, offset: 0, sizes, strides }
    }

    /// Where the element of the box is in the tensor, in bytes; none where there is no tensor.
    fn place(&self, element: u64, origin: &[i32]) -> Option<usize> {
        let (mut rest, mut place) = (element, 0);
        for (axis, &origin) in origin.iter().enumerate() {
            let size = u64::from(self.map.box_sizes[axis]);
            let at = i64::from(origin) + (rest % size) as i64;
            rest /= size;
            let at = u64::try_from(at).ok().filter(|&at| at < self.sizes[axis])?;
            place += at * self.strides[axis];
        }
        Some(place as usize)
    }

    /// For each element of the box where it is in shared memory, which begins at zero, and in the tensor.
    fn places(&self, origin: &'a [i32]) -> impl Iterator<Item = (u64, usize, Option<usize>)> + '_ {
        let bytes = u64::from(self.map.element_bits / 8);
        (0..self.map.box_bytes() / bytes)
            .map(move |element| (element, self.map.mix.apply(element * bytes) as usize, self.place(element, origin)))
    }
}

/// Where the boxes that are shown begin, along an axis of so many elements in the box: inside, over the begin, over the
/// end, and beyond.
#[must_use]
pub fn box_origins(box_size: u32) -> [i32; 4] {
    let size = box_size.cast_signed();
    [1.min(size), -((size + 1) / 2), size + size / 2 + 1, 3 * size]
}

/// Copies the box that begins at these coordinates, by a row, and compares every element: those outside of the tensor
/// too.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong, with the row or with the emulator.
pub fn prove_box_copy(
    row: &Instruction,
    map: &TensorMap,
    origin: &[i32],
    flaw: Option<BulkFlaw>,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let mapped = Mapped::new(map);
    if origin.len() != map.rank() {
        return Err(Disproof::Row(format!("{} coordinates of {} axes", origin.len(), map.rank())));
    }
    let tensor: Vec<u8> = noise(mapped.bytes, 1);
    let held: Vec<u8> = noise(map.box_bytes() as usize, 2);
    let mut memory = GlobalMemory::new();
    let buffers = [memory.allocate_with(&tensor), memory.allocate_with(&held)];
    let coordinates: Vec<u8> = origin.iter().flat_map(|at| at.to_le_bytes()).collect();
    let coordinates = memory.allocate_with(&coordinates);
    let arguments =
        [Argument::Tensor(mapped.given(buffers[0])), Argument::Buffer(coordinates), Argument::Buffer(buffers[1])];
    let report = run(row, Bulk::Box(map), flaw, &arguments, &mut memory, target)?;
    let bytes = (map.element_bits / 8) as usize;
    let (found, kept) = (memory.read_all(buffers[1])?, memory.read_all(buffers[0])?);
    if row.completion == Completion::Mbarrier {
        let outside = match map.outside {
            Outside::Zeros => 0,
            Outside::NotANumber => 0xff,
        };
        for (element, at, place) in mapped.places(origin) {
            let expected = place.map_or(vec![outside; bytes], |place| tensor[place..place + bytes].to_vec());
            same("shared memory", element, &found[at..at + bytes], &expected)?;
        }
        return Ok(report);
    }
    let mut expected = tensor;
    for (_, at, place) in mapped.places(origin) {
        if let Some(place) = place {
            expected[place..place + bytes].copy_from_slice(&held[at..at + bytes]);
        }
    }
    kept.iter()
        .zip(&expected)
        .zip(0..)
        .try_for_each(|((&found, &expected), at)| same("the tensor's memory", at, &[found], &[expected]))?;
    Ok(report)
}

/// Copies so many bytes, by a row, and compares each.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong, with the row or with the emulator.
pub fn prove_span_copy(
    row: &Instruction,
    bytes: u32,
    flaw: Option<BulkFlaw>,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let contents = [noise(bytes as usize, 1), noise(bytes as usize, 2)];
    let mut memory = GlobalMemory::new();
    let buffers = [0, 1].map(|side| memory.allocate_with(&contents[side]));
    let report = run(row, Bulk::Span(bytes), flaw, &buffers.map(Argument::Buffer), &mut memory, target)?;
    let source = if row.completion == Completion::Mbarrier { 0 } else { 1 };
    for side in [0, 1] {
        let found = memory.read_all(buffers[side])?;
        let all = found.iter().zip(&contents[source]).zip(0..);
        all.into_iter().try_for_each(|((&found, &expected), at)| same("the span", at, &[found], &[expected]))?;
    }
    Ok(report)
}

fn run(
    row: &Instruction,
    bulk: Bulk<'_>,
    flaw: Option<BulkFlaw>,
    arguments: &[Argument],
    memory: &mut GlobalMemory,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = bulk_kernel("bulk", row, target.lanes.default, bulk, flaw).map_err(Disproof::Row)?;
    let module = Module { kernels: vec![kernel] };
    kernel::verify(&module)?;
    kernel::verify_instructions(&module.kernels[0], std::slice::from_ref(row))?;
    let meanings = Meanings::of_rows(std::slice::from_ref(row));
    let emulator = Emulator::new(&module.kernels[0], target).map(|emulator| emulator.with_meanings(&meanings));
    let run = emulator.and_then(|emulator| emulator.run([1, 1, 1], arguments, memory, &Limits::default()));
    run.map_err(|fault| Disproof::Fault(Box::new(fault)))
}

/// Bytes that look like any others, but not like what is outside.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64).map(|at| (scrambled(at, seed) % 254) as u8 + 1).collect()
}

fn same(place: &str, element: u64, found: &[u8], expected: &[u8]) -> Result<(), Disproof> {
    if found == expected {
        return Ok(());
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let (found, expected) = (word(found), word(expected));
    Err(Disproof::WrongElement { place: format!("place {element} of {place}"), found, element, expected })
}

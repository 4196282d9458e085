//! Showing what a bulk copy does: one is run on the emulator, and every byte that it brings, or does not bring, is
//! compared with what follows from the tensor's sizes and strides, element by element.

use super::Disproof;
use super::case::{After, Buffer, Element, Given, Tolerance};
use super::exact::scrambled;
use super::trial::{Trial, input};
use crate::kernels::{Bulk, BulkFlaw, bulk_kernel};
use tilewright_emulator::{self as emulator, Argument, Emulator, GlobalMemory, Limits, Meanings, Report};
use tilewright_kernel::{self as kernel, Kernel, MAX_RANK, MappedTensor, Module, Outside, TensorMap};
use tilewright_target::{Completion, Instruction, TargetDescription};
use tilewright_tile::Float;

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

    fn given<B>(&self, buffer: B) -> MappedTensor<B> {
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
    fn places(&self, origin: &'a [i32]) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
        let bytes = u64::from(self.map.element_bits / 8);
        (0..self.map.box_bytes() / bytes)
            .map(move |element| (self.map.mix.apply(element * bytes) as usize, self.place(element, origin)))
    }
}

/// What lies in global memory, and what lies or comes to lie in shared memory, before and after.
struct Sides {
    before: [Vec<u8>; 2],
    after: [Vec<u8>; 2],
}

impl Sides {
    /// Of a box that begins at these coordinates.
    fn of_box(row: &Instruction, mapped: &Mapped<'_>, origin: &[i32]) -> Result<Self, Disproof> {
        let map = mapped.map;
        if origin.len() != map.rank() {
            return Err(Disproof::Row(format!("{} coordinates of {} axes", origin.len(), map.rank())));
        }
        let before = [noise(mapped.bytes, 1), noise(map.box_bytes() as usize, 2)];
        let ([tensor, held], mut after) = (&before, before.clone());
        let bytes = (map.element_bits / 8) as usize;
        let outside = match map.outside {
            Outside::Zeros => 0,
            Outside::NotANumber => 0xff,
        };
        for (at, place) in mapped.places(origin) {
            match (row.completion == Completion::Mbarrier, place) {
                (true, Some(place)) => after[1][at..at + bytes].copy_from_slice(&tensor[place..place + bytes]),
                (true, None) => after[1][at..at + bytes].fill(outside),
                (false, Some(place)) => after[0][place..place + bytes].copy_from_slice(&held[at..at + bytes]),
                (false, None) => {}
            }
        }
        Ok(Self { before, after })
    }

    /// Of a span of so many bytes.
    fn of_span(row: &Instruction, bytes: u32) -> Self {
        let before = [noise(bytes as usize, 1), noise(bytes as usize, 2)];
        let source = before[usize::from(row.completion != Completion::Mbarrier)].clone();
        Self { before, after: [source.clone(), source] }
    }

    /// Compares what there is in elements of so many bytes.
    fn compare(&self, memory: &GlobalMemory, buffers: [emulator::Buffer; 2], bytes: usize) -> Result<(), Disproof> {
        for (side, name) in ["the tensor's memory", "shared memory"].into_iter().enumerate() {
            let found = memory.read_all(buffers[side])?.chunks(bytes);
            let all = found.zip(self.after[side].chunks(bytes)).zip(0..);
            all.into_iter().try_for_each(|((found, expected), element)| same(name, element, found, expected))?;
        }
        Ok(())
    }

    /// The kernel with what it is given: the tensor by its map or the span, where the box begins, what is held.
    fn trial(self, kernel: Kernel, tensor: Option<(Mapped<'_>, &[i32])>) -> Trial {
        let ([global, held], [global_after, held_after]) = (self.before, self.after);
        let anything = |mapped: &Mapped<'_>| mapped.map.outside == Outside::NotANumber;
        // Which number that is none is outside, nobody says: then numbers are compared.
        let element = match &tensor {
            Some((mapped, _)) if anything(mapped) => float(mapped.map.element_bits),
            _ => None,
        };
        let mut buffers = vec![changed("global", global, global_after, None)];
        let mut arguments = vec![Given::Buffer(0)];
        if let Some((mapped, origin)) = tensor {
            arguments = vec![Given::Tensor(mapped.given(0)), Given::Buffer(1)];
            buffers.push(input(1, origin.iter().flat_map(|at| at.to_le_bytes()).collect()));
        }
        arguments.push(Given::Buffer(buffers.len()));
        buffers.push(changed("held", held, held_after, element));
        Trial { kernel, grid: [1, 1, 1], arguments, buffers, predicted: None }
    }
}

/// A floating-point element of so many bits.
fn float(bits: u32) -> Option<Element> {
    let floats = [Float::F16, Float::F32, Float::F64].map(Element::Float);
    floats.into_iter().find(|element| element.bytes() * 8 == bits as usize)
}

/// A buffer that holds something before and something after, compared as elements of a kind.
fn changed(name: &str, before: Vec<u8>, bytes: Vec<u8>, element: Option<Element>) -> Buffer {
    let element = element.unwrap_or(Element::Unsigned(8));
    let shape = vec![(before.len() / element.bytes()) as u64];
    let after = After::Expected { bytes, tolerance: Tolerance::default() };
    Buffer { name: name.to_owned(), element, shape, before, after }
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
    let sides = Sides::of_box(row, &mapped, origin)?;
    let mut memory = GlobalMemory::new();
    let buffers = [0, 1].map(|side| memory.allocate_with(&sides.before[side]));
    let coordinates: Vec<u8> = origin.iter().flat_map(|at| at.to_le_bytes()).collect();
    let coordinates = memory.allocate_with(&coordinates);
    let arguments =
        [Argument::Tensor(mapped.given(buffers[0])), Argument::Buffer(coordinates), Argument::Buffer(buffers[1])];
    let report = run(row, Bulk::Box(map), flaw, &arguments, &mut memory, target)?;
    sides.compare(&memory, buffers, (map.element_bits / 8) as usize).map(|()| report)
}

/// The same to be run on a device.
///
/// # Errors
/// [`Disproof`]: what of it no kernel can be made of.
pub fn box_copy_trial(row: &Instruction, map: &TensorMap, origin: &[i32], lanes: u32) -> Result<Trial, Disproof> {
    let mapped = Mapped::new(map);
    let sides = Sides::of_box(row, &mapped, origin)?;
    let kernel = bulk_kernel("bulk", row, lanes, Bulk::Box(map), None).map_err(Disproof::Row)?;
    Ok(sides.trial(kernel, Some((mapped, origin))))
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
    let sides = Sides::of_span(row, bytes);
    let mut memory = GlobalMemory::new();
    let buffers = [0, 1].map(|side| memory.allocate_with(&sides.before[side]));
    let report = run(row, Bulk::Span(bytes), flaw, &buffers.map(Argument::Buffer), &mut memory, target)?;
    sides.compare(&memory, buffers, 1).map(|()| report)
}

/// The same to be run on a device.
///
/// # Errors
/// [`Disproof`]: what of it no kernel can be made of.
pub fn span_copy_trial(row: &Instruction, bytes: u32, lanes: u32) -> Result<Trial, Disproof> {
    let kernel = bulk_kernel("bulk", row, lanes, Bulk::Span(bytes), None).map_err(Disproof::Row)?;
    Ok(Sides::of_span(row, bytes).trial(kernel, None))
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

//! Test cases of bulk copies: every byte that a copy brings, or does not bring, as it follows from the tensor's sizes and
//! strides, element by element.

use super::CheckFailure;
use super::case::{CaseBuffer, CaseElement, CaseValue, Expectation};
use super::exact::scrambled;
use super::test_case::{Legend, TestBuffer, TestCase, input};
use crate::kernels::{Bulk, BulkFlaw, bulk_kernel};
use tilewright_kernel::{MAX_RANK, Outside, TensorMap, TensorMapBinding};
use tilewright_target::{Completion, Instruction};
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

    fn given<B>(&self, buffer: B) -> TensorMapBinding<B> {
        let (mut sizes, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        sizes.iter_mut().zip(&self.sizes).for_each(|(own, &size)| *own = size);
        strides.iter_mut().zip(&self.strides).for_each(|(own, &stride)| *own = stride);
        TensorMapBinding { buffer, offset: 0, sizes, strides }
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
    fn of_box(row: &Instruction, mapped: &Mapped<'_>, origin: &[i32]) -> Result<Self, CheckFailure> {
        let map = mapped.map;
        if origin.len() != map.rank() {
            return Err(CheckFailure::Row(format!("{} coordinates of {} axes", origin.len(), map.rank())));
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

    /// Buffers of what lies in global and in shared memory; elements in shared memory are of a kind.
    fn buffers(self, bytes: usize, held: CaseElement) -> [TestBuffer; 2] {
        let ([global, shared], [global_after, shared_after]) = (self.before, self.after);
        [
            changed("global", "the tensor's memory", CaseElement::Unsigned(8), bytes, [global, global_after]),
            changed("held", "shared memory", held, bytes, [shared, shared_after]),
        ]
    }
}

/// A floating-point element of so many bits.
fn float(bits: u32) -> Option<CaseElement> {
    let floats = [Float::F16, Float::F32, Float::F64].map(CaseElement::Float);
    floats.into_iter().find(|element| element.bytes() * 8 == bits as usize)
}

/// A buffer that holds something before and something after, compared as elements of a kind. Numbers need not have the
/// same bits, integers must: failures count them by so many bytes.
fn changed(
    name: &str,
    place: &'static str,
    element: CaseElement,
    bytes: usize,
    [before, after]: [Vec<u8>; 2],
) -> TestBuffer {
    let is_integer = matches!(element, CaseElement::Unsigned(_));
    let legend = Legend::of_elements(8 * bytes as u32, move |index| (format!("place {index} of {place}"), index));
    let shape = vec![(before.len() / element.bytes()) as u64];
    let content = CaseBuffer { name: name.to_owned(), element, shape, before, after: Expectation::exactly(after) };
    TestBuffer { content, is_output: false, legend: is_integer.then_some(legend) }
}

/// Where the boxes that are shown begin, along an axis of so many elements in the box: inside, over the begin, over the
/// end, and beyond.
#[must_use]
pub fn box_origins(box_size: u32) -> [i32; 4] {
    let size = box_size.cast_signed();
    [1.min(size), -((size + 1) / 2), size + size / 2 + 1, 3 * size]
}

/// A copy of the box that begins at these coordinates, by a row: every element of it, those outside of the tensor too.
/// Which number that is none is outside, nobody says.
///
/// # Errors
/// [`CheckFailure::Row`]: the row copies no such box.
pub fn box_copy_case(
    row: &Instruction,
    map: &TensorMap,
    origin: &[i32],
    lanes: u32,
    flaw: Option<BulkFlaw>,
) -> Result<TestCase, CheckFailure> {
    let mapped = Mapped::new(map);
    let sides = Sides::of_box(row, &mapped, origin)?;
    let kernel = bulk_kernel(row, lanes, Bulk::Box(map), flaw).map_err(CheckFailure::Row)?;
    let is_number = map.outside == Outside::NotANumber;
    let element = float(map.element_bits).filter(|_| is_number).unwrap_or(CaseElement::Unsigned(8));
    let [global, held] = sides.buffers((map.element_bits / 8) as usize, element);
    let origin = input(1, origin.iter().flat_map(|at| at.to_le_bytes()).collect());
    let arguments = vec![CaseValue::Tensor(mapped.given(0)), CaseValue::Buffer(1), CaseValue::Buffer(2)];
    Ok(TestCase::new(kernel, [1, 1, 1], arguments, vec![global, origin, held]))
}

/// A copy of so many bytes, by a row: each of them.
///
/// # Errors
/// [`CheckFailure::Row`]: the row copies no such span.
pub fn span_copy_case(
    row: &Instruction,
    bytes: u32,
    lanes: u32,
    flaw: Option<BulkFlaw>,
) -> Result<TestCase, CheckFailure> {
    let kernel = bulk_kernel(row, lanes, Bulk::Span(bytes), flaw).map_err(CheckFailure::Row)?;
    Ok(TestCase::of_buffers(kernel, 1, Sides::of_span(row, bytes).buffers(1, CaseElement::Unsigned(8)).into()))
}

/// Bytes that look like any others, but not like what is outside.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64).map(|at| (scrambled(at, seed) % 254) as u8 + 1).collect()
}

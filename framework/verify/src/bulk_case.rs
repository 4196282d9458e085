//! Test cases of bulk copies. The expected bytes, inside and outside of the copied part, are computed element by
//! element from the tensor's sizes and strides.

use super::CheckFailure;
use super::case::{CaseBuffer, CaseElement, CaseValue, ExpectedContents};
use super::exact::scrambled;
use super::test_case::{BufferLegend, TestBuffer, TestCase, input};
use crate::kernels::{BulkCopyExtent, BulkCopyFlaw, build_bulk_copy_kernel};
use tilewright_kernel::{MAX_TENSOR_MAP_RANK, OutOfBoundsFill, TensorMap, TensorMapBinding};
use tilewright_target::{Completion, ElementType, Instruction, MemoryReduction, Semantics, TensorCopyOperand};
use tilewright_tile::FloatType;

/// The tensor that a bulk copy of a box reads or writes: along an axis where the box has `b` elements, the tensor has
/// `2 * b + 1`; there are gaps between its rows.
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
            // All strides but the first are multiples of the required alignment of 16 bytes.
            let stride = strides[axis] * size;
            strides.push(stride.next_multiple_of(16) + 16);
        }
        let bytes = strides.pop().unwrap_or(0) as usize;
        Self { map, sizes, strides, bytes }
    }

    fn given<B>(&self, buffer: B) -> TensorMapBinding<B> {
        let (mut sizes, mut strides) = ([1; MAX_TENSOR_MAP_RANK], [0; MAX_TENSOR_MAP_RANK]);
        sizes.iter_mut().zip(&self.sizes).for_each(|(destination, &size)| *destination = size);
        strides.iter_mut().zip(&self.strides).for_each(|(destination, &stride)| *destination = stride);
        TensorMapBinding { buffer, offset: 0, sizes, strides }
    }

    /// Returns the byte offset of an element of the box in the tensor; `None` if the element is outside of the tensor.
    fn tensor_offset(&self, element: u64, origin: &[i32]) -> Option<usize> {
        let (mut rest, mut tensor_offset) = (element, 0);
        for (axis, &origin) in origin.iter().enumerate() {
            let size = u64::from(self.map.box_sizes[axis]);
            let at = i64::from(origin) + (rest % size) as i64;
            rest /= size;
            let at = u64::try_from(at).ok().filter(|&at| at < self.sizes[axis])?;
            tensor_offset += at * self.strides[axis];
        }
        Some(tensor_offset as usize)
    }

    /// Returns, for each element of the box with this origin, its byte offset in shared memory and its byte offset in
    /// the tensor; `None` if it is outside of the tensor.
    fn memory_offsets(&self, origin: &'a [i32]) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
        let bytes = u64::from(self.map.element_bits / 8);
        (0..self.map.box_bytes() / bytes)
            .map(move |element| (self.map.swizzle.apply(element * bytes) as usize, self.tensor_offset(element, origin)))
    }
}

/// The contents of global memory and of shared memory, in this order, before and after a copy, in bytes.
struct BulkContents {
    before: [Vec<u8>; 2],
    after: [Vec<u8>; 2],
}

impl BulkContents {
    /// Computes the contents for the copy of the box with this origin by the instruction `row`.
    fn of_box(row: &Instruction, mapped: &Mapped<'_>, origin: &[i32]) -> Result<Self, CheckFailure> {
        let map = mapped.map;
        if origin.len() != map.rank() {
            return Err(CheckFailure::Row(format!("{} coordinates of {} axes", origin.len(), map.rank())));
        }
        let before = [noise(mapped.bytes, 1), noise(map.box_bytes() as usize, 2)];
        let ([tensor, shared_contents], mut after) = (&before, before.clone());
        let bytes = (map.element_bits / 8) as usize;
        let outside = match map.outside {
            OutOfBoundsFill::Zeros => 0,
            OutOfBoundsFill::NotANumber => 0xff,
        };
        for (at, tensor_offset) in mapped.memory_offsets(origin) {
            match (row.completion == Completion::Mbarrier, tensor_offset) {
                (true, Some(tensor_offset)) => {
                    after[1][at..at + bytes].copy_from_slice(&tensor[tensor_offset..tensor_offset + bytes])
                }
                (true, None) => after[1][at..at + bytes].fill(outside),
                (false, Some(tensor_offset)) => {
                    let place = tensor_offset..tensor_offset + bytes;
                    let (old, new) = (&tensor[place.clone()], &shared_contents[at..at + bytes]);
                    let combined = match row.semantics {
                        Semantics::Reduce(reduction) => combine(reduction, map, old, new).map_err(CheckFailure::Row)?,
                        _ => new.to_vec(),
                    };
                    after[0][place].copy_from_slice(&combined);
                }
                (false, None) => {}
            }
        }
        Ok(Self { before, after })
    }

    /// Computes the contents for the copy of `bytes` contiguous bytes by the instruction `row`.
    fn of_bulk_copy_1d(row: &Instruction, bytes: u32) -> Self {
        let before = [noise(bytes as usize, 1), noise(bytes as usize, 2)];
        let source = before[usize::from(row.completion != Completion::Mbarrier)].clone();
        Self { before, after: [source.clone(), source] }
    }

    /// Creates the buffers of global and of shared memory, in this order. `bytes` is the size of an element; shared
    /// memory is compared as elements of the type `shared_contents`.
    fn buffers(self, bytes: usize, shared_contents: CaseElement) -> [TestBuffer; 2] {
        let ([global, shared], [global_after, shared_after]) = (self.before, self.after);
        [
            changed("global", "the tensor's memory", CaseElement::Unsigned(8), bytes, [global, global_after]),
            changed("held", "shared memory", shared_contents, bytes, [shared, shared_after]),
        ]
    }
}

/// Combines an element of the tensor with a copied one, as integers of the map's element type.
fn combine(reduction: MemoryReduction, map: &TensorMap, old: &[u8], new: &[u8]) -> Result<Vec<u8>, String> {
    let Some(ElementType::Integer { bits, signed }) = map.element.as_deref().and_then(ElementType::from_name) else {
        return Err("the cases of bulk reductions have integers".to_owned());
    };
    let number = |bytes: &[u8]| {
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | i128::from(byte));
        if signed && value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
    };
    let (a, b) = (number(old), number(new));
    let result = match reduction {
        MemoryReduction::Add => a + b,
        MemoryReduction::Min => a.min(b),
        MemoryReduction::Max => a.max(b),
        MemoryReduction::And => a & b,
        MemoryReduction::Or => a | b,
        MemoryReduction::Xor => a ^ b,
    };
    Ok(result.to_le_bytes()[..old.len()].to_vec())
}

/// Returns the map with an integer type of its elements' width, if the instruction with this operand computes with
/// elements; unchanged if it only copies them. `None` if the instruction computes with no integers of this width.
#[must_use]
pub fn with_combined_element(map: TensorMap, operand: &TensorCopyOperand) -> Option<TensorMap> {
    if operand.elements.is_empty() {
        return Some(map);
    }
    let is_fit = |name: &&String| {
        let element = ElementType::from_name(name);
        element.is_some_and(|element| !element.is_float() && element.bits() == map.element_bits)
    };
    let element = Some(operand.elements.iter().find(is_fit)?.clone());
    Some(TensorMap { element, ..map })
}

/// Returns the floating-point element type of this width; `None` if there is none.
fn float(bits: u32) -> Option<CaseElement> {
    let floats = [FloatType::F16, FloatType::F32, FloatType::F64].map(CaseElement::Float);
    floats.into_iter().find(|element| element.bytes() * 8 == bits as usize)
}

/// Creates a buffer with the contents `before` and `after` the copy, compared as elements of the type `element`:
/// integers must agree bit by bit, floating-point elements need not. For integers, failures name the element of `bytes`
/// bytes of `tensor`.
fn changed(
    name: &str,
    tensor: &'static str,
    element: CaseElement,
    bytes: usize,
    [before, after]: [Vec<u8>; 2],
) -> TestBuffer {
    let is_integer = matches!(element, CaseElement::Unsigned(_));
    let legend =
        BufferLegend::of_elements(8 * bytes as u32, move |index| (format!("element {index} of {tensor}"), index));
    let shape = vec![(before.len() / element.bytes()) as u64];
    let content =
        CaseBuffer { name: name.to_owned(), element, shape, before, after: ExpectedContents::exact_bytes(after) };
    TestBuffer { content, is_output: false, legend: is_integer.then_some(legend) }
}

/// Returns four origins of boxes with `box_size` elements along one axis: within the tensor, across its start, across
/// its end, and beyond its end.
#[must_use]
pub fn edge_box_origins(box_size: u32) -> [i32; 4] {
    let size = box_size.cast_signed();
    [1.min(size), -((size + 1) / 2), size + size / 2 + 1, 3 * size]
}

/// Creates a test of an instruction's copy of one box of a tensor: every element is compared, including those outside
/// of the tensor. If the map fills with NaN, any NaN is accepted there. The kernel has the synchronization error
/// `flaw`; `None` for a correct kernel.
///
/// # Errors
/// [`CheckFailure::Row`] if the row is no bulk tensor copy of this box.
pub fn build_box_copy_case(
    row: &Instruction,
    map: &TensorMap,
    origin: &[i32],
    lanes: u32,
    flaw: Option<BulkCopyFlaw>,
) -> Result<TestCase, CheckFailure> {
    let mapped = Mapped::new(map);
    let sides = BulkContents::of_box(row, &mapped, origin)?;
    let kernel = build_bulk_copy_kernel(row, lanes, BulkCopyExtent::Box(map), flaw)?;
    let is_number = map.outside == OutOfBoundsFill::NotANumber;
    let element = float(map.element_bits).filter(|_| is_number).unwrap_or(CaseElement::Unsigned(8));
    let [global, shared_contents] = sides.buffers((map.element_bits / 8) as usize, element);
    let origin = input(1, origin.iter().flat_map(|at| at.to_le_bytes()).collect());
    let arguments = vec![CaseValue::Tensor(mapped.given(0)), CaseValue::Buffer(1), CaseValue::Buffer(2)];
    Ok(TestCase::new(kernel, [1, 1, 1], arguments, vec![global, origin, shared_contents]))
}

/// Creates a test of an instruction's copy of `bytes` contiguous bytes. The kernel has the synchronization error
/// `flaw`; `None` for a correct kernel.
///
/// # Errors
/// [`CheckFailure::Row`] if the row is no bulk copy of so many bytes.
pub fn build_bulk_copy_1d_case(
    row: &Instruction,
    bytes: u32,
    lanes: u32,
    flaw: Option<BulkCopyFlaw>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_bulk_copy_kernel(row, lanes, BulkCopyExtent::Copy1d(bytes), flaw)?;
    Ok(TestCase::of_buffers(
        kernel,
        1,
        BulkContents::of_bulk_copy_1d(row, bytes).buffers(1, CaseElement::Unsigned(8)).into(),
    ))
}

/// Returns pseudo-random bytes from 1 to 254, so that they differ from the fill values outside of a tensor (0 and 255).
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    (0..bytes as u64).map(|at| (scrambled(at, seed) % 254) as u8 + 1).collect()
}

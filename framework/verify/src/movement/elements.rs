//! Tensors of known elements: what kernels read, and how they write registers.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::registers::row_major;

use crate::case::{CaseElement, Expectation};
use crate::test_case::{Legend, TestBuffer, output};

/// The values as so many bytes each.
pub(super) fn little_endian(values: impl Iterator<Item = u64>, bytes: usize) -> Vec<u8> {
    values.flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect()
}

/// The low bits of a number.
pub(super) fn low(value: u64, bits: u32) -> u64 {
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

/// Element `index` of the tensor: a pattern in which neighbours differ in all bytes.
pub(super) fn element(index: u64, bits: u32) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = mixed ^ mixed >> 29;
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Where a kernel writes the element of a place, counted in elements: for each register all threads, side by side.
pub(super) fn written_at(dst: &LinearLayout, place: u64) -> usize {
    let (lane_bits, warp_bits) = (dst.in_bits(Dim::LANE), dst.in_bits(Dim::WARP));
    let at = |dim| dst.ins().coordinate(place, dim);
    let thread = at(Dim::LANE) | at(Dim::WARP) << lane_bits;
    let register = at(Dim::BLOCK) << dst.in_bits(Dim::REGISTER) | at(Dim::REGISTER);
    (register << (lane_bits + warp_bits) | thread) as usize
}

/// An output that every register of a layout is written to; `elements` are the tensor's, row-major.
pub(super) fn registers(number: usize, layout: &LinearLayout, bits: u32, elements: &[u64]) -> TestBuffer {
    let (width, places) = ((bits / 8) as usize, 1u64 << layout.ins().bits());
    let mut bytes = vec![0; width << layout.ins().bits()];
    for place in 0..places {
        let element = elements[row_major(layout, layout.apply_packed(place)) as usize];
        let start = written_at(layout, place) * width;
        bytes[start..start + width].copy_from_slice(&element.to_le_bytes()[..width]);
    }
    let after = Expectation::exactly(bytes);
    let named = layout.clone();
    let legend = Legend::of_elements(bits, move |index| {
        let place = (0..places).find(|&place| written_at(&named, place) as u64 == index).unwrap_or_default();
        let dims = named.ins().unpack(place).map(|(dim, value)| format!("{dim} {value}"));
        (dims.collect::<Vec<_>>().join(", "), row_major(&named, named.apply_packed(place)))
    });
    TestBuffer { legend: Some(legend), ..output(number, CaseElement::Unsigned(bits), vec![places], after) }
}

/// An output of a tensor as it lies in memory, element by element; `name` says which place and element an index is.
pub(super) fn tensor(
    bits: u32,
    elements: impl Iterator<Item = u64>,
    name: impl Fn(u64) -> (String, u64) + Send + Sync + 'static,
) -> TestBuffer {
    let bytes = little_endian(elements, (bits / 8) as usize);
    let shape = vec![bytes.len() as u64 * 8 / u64::from(bits)];
    let legend = Some(Legend::of_elements(bits, name));
    TestBuffer { legend, ..output(0, CaseElement::Unsigned(bits), shape, Expectation::exactly(bytes)) }
}

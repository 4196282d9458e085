//! Tensors with known elements: kernel inputs, and expected registers.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::registers::row_major_index;

use crate::case::{CaseElement, ExpectedContents};
use crate::test_case::{BufferLegend, TestBuffer, output};

/// Encodes each value in `bytes` bytes, the lowest first.
pub(super) fn little_endian(values: impl Iterator<Item = u64>, bytes: usize) -> Vec<u8> {
    values.flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect()
}

/// Returns the lowest `bits` bits of a number.
pub(super) fn low(value: u64, bits: u32) -> u64 {
    if bits < 64 { value & ((1 << bits) - 1) } else { value }
}

/// Returns element `index` of the test tensor, of `bits` bits: a pattern with different bytes in adjacent elements.
pub(super) fn element(index: u64, bits: u32) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = mixed ^ mixed >> 29;
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Returns the index in the output, in elements, at which a kernel writes the element at the position `packed`
/// (register, lane, warp and block) of `dst`: all threads of one register are adjacent.
pub(super) fn written_at(dst: &LinearLayout, packed: u64) -> usize {
    let (lane_bits, warp_bits) = (dst.in_bits(Dim::LANE), dst.in_bits(Dim::WARP));
    let at = |dim| dst.ins().coordinate(packed, dim);
    let thread = at(Dim::LANE) | at(Dim::WARP) << lane_bits;
    let register = at(Dim::BLOCK) << dst.in_bits(Dim::REGISTER) | at(Dim::REGISTER);
    (register << (lane_bits + warp_bits) | thread) as usize
}

/// Creates an output buffer that receives every register of a layout. `elements` are the expected elements of the
/// tensor, row-major, each of `bits` bits.
pub(super) fn registers(buffer_index: usize, layout: &LinearLayout, bits: u32, elements: &[u64]) -> TestBuffer {
    let (width, packed_count) = ((bits / 8) as usize, 1u64 << layout.ins().total_bits());
    let mut bytes = vec![0; width << layout.ins().total_bits()];
    for packed in 0..packed_count {
        let element = elements[row_major_index(layout, layout.apply_packed(packed)) as usize];
        let start = written_at(layout, packed) * width;
        bytes[start..start + width].copy_from_slice(&element.to_le_bytes()[..width]);
    }
    let after = ExpectedContents::exact_bytes(bytes);
    let named = layout.clone();
    let legend = BufferLegend::of_elements(bits, move |index| {
        let packed = (0..packed_count).find(|&packed| written_at(&named, packed) as u64 == index).unwrap_or_default();
        let dims = named.ins().unpack(packed).map(|(dim, value)| format!("{dim} {value}"));
        (dims.collect::<Vec<_>>().join(", "), row_major_index(&named, named.apply_packed(packed)))
    });
    TestBuffer { legend: Some(legend), ..output(buffer_index, CaseElement::Unsigned(bits), vec![packed_count], after) }
}

/// Creates an output buffer that receives the expected `elements`, each of `bits` bits, one after the other. `name`
/// describes the location of an index, and returns it with the row-major index of the element.
pub(super) fn tensor(
    bits: u32,
    elements: impl Iterator<Item = u64>,
    name: impl Fn(u64) -> (String, u64) + Send + Sync + 'static,
) -> TestBuffer {
    let bytes = little_endian(elements, (bits / 8) as usize);
    let shape = vec![bytes.len() as u64 * 8 / u64::from(bits)];
    let legend = Some(BufferLegend::of_elements(bits, name));
    TestBuffer { legend, ..output(0, CaseElement::Unsigned(bits), shape, ExpectedContents::exact_bytes(bytes)) }
}

//! Test cases of copies of tensors with arbitrary strides in global memory.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::GlobalAccessPlan;

use super::elements::{element, little_endian, low};
use super::memory::planned_sectors;
use crate::CheckFailure;
use crate::kernels::{StridedTensor, build_strided_copy_kernel};
use crate::test_case::{BufferLegend, TestCase, changed, input};

/// Creates a test of a copy of a tensor through registers. It compares every element of memory, including padding and
/// elements beyond the limit, which must stay unchanged; and, without a limit, the sectors that each access touches.
/// `planned` is whether the accesses were planned with these strides; if not, sectors are not compared.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width.
pub fn build_strided_copy_case(
    layout: &LinearLayout,
    tensor: &StridedTensor,
    planned: bool,
    element_bits: u32,
    [load, store]: [&GlobalAccessPlan; 2],
) -> Result<TestCase, CheckFailure> {
    let kernel = build_strided_copy_kernel(layout, tensor, element_bits, load, store)?;
    let bytes = (element_bits / 8) as usize;
    let there = Elements::of(layout, tensor);
    let before = |at: u64| low(!element(at, element_bits), element_bits);
    let source = little_endian((0..there.span).map(|at| element(at, element_bits)), bytes);
    let untouched = little_endian((0..there.span).map(before), bytes);
    let copied = |at| if there.is_there(at) { element(at, element_bits) } else { before(at) };
    let after = little_endian((0..there.span).map(copied), bytes);
    let legend = BufferLegend::of_elements(element_bits, |at| (format!("element {at} of the copy's memory"), at));
    let buffers = vec![input(0, source), changed("copy", element_bits, untouched, after, legend)];
    let case = TestCase::of_buffers(kernel, 1, buffers);
    Ok(match planned && tensor.limit.is_none() {
        true => case.with_counts(planned_sectors([load, store])),
        false => case,
    })
}

/// The elements of memory that belong to a tensor, found by visiting all of its coordinates.
struct Elements {
    /// Number of elements in memory from the tensor's first element to its last, including elements between them that
    /// are not the tensor's.
    span: u64,
    there: Vec<bool>,
}

impl Elements {
    fn of(registers: &LinearLayout, tensor: &StridedTensor) -> Self {
        let address_of = |packed: u64| {
            let along = |&(dim, stride): &(Dim, u64)| registers.outs().coordinate(packed, dim) * stride;
            tensor.strides.iter().map(along).sum::<u64>()
        };
        let within =
            |packed: u64| tensor.limit.is_none_or(|(axis, limit)| registers.outs().coordinate(packed, axis) < limit);
        let all = || 0..1u64 << registers.outs().total_bits();
        let span = all().map(address_of).max().unwrap_or(0) + 1;
        let mut there = vec![false; span as usize];
        all().filter(|&packed| within(packed)).for_each(|packed| there[address_of(packed) as usize] = true);
        Self { span, there }
    }

    fn is_there(&self, at: u64) -> bool {
        self.there.get(at as usize).copied().unwrap_or(false)
    }
}

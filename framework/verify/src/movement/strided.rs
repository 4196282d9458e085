//! Copies of tensors of any strides in global memory.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::GlobalAccess;

use super::elements::{element, little_endian, low};
use super::memory::planned_sectors;
use crate::CheckFailure;
use crate::kernels::{StridedTensor, strided_copy_kernel};
use crate::test_case::{Legend, TestCase, changed, input};

/// A copy of a tensor through registers: every element of memory, those between rows and beyond the limit included,
/// which must be left as they were; and, if the tensor is whole, the sectors that each access touches. The accesses must
/// have been planned with these strides: with others, sectors are not compared (`planned` is false).
///
/// # Errors
/// [`CheckFailure::Movement`]: the accesses are not for this layout.
pub fn strided_copy_case(
    layout: &LinearLayout,
    tensor: &StridedTensor,
    planned: bool,
    element_bits: u32,
    [load, store]: [&GlobalAccess; 2],
) -> Result<TestCase, CheckFailure> {
    let kernel = strided_copy_kernel(layout, tensor, element_bits, load, store)?;
    let bytes = (element_bits / 8) as usize;
    let there = Elements::of(layout, tensor);
    let before = |at: u64| low(!element(at, element_bits), element_bits);
    let source = little_endian((0..there.span).map(|at| element(at, element_bits)), bytes);
    let untouched = little_endian((0..there.span).map(before), bytes);
    let copied = |at| if there.is_there(at) { element(at, element_bits) } else { before(at) };
    let after = little_endian((0..there.span).map(copied), bytes);
    let legend = Legend::of_elements(element_bits, |at| (format!("element {at} of the copy's memory"), at));
    let buffers = vec![input(0, source), changed("copy", element_bits, untouched, after, legend)];
    let case = TestCase::of_buffers(kernel, 1, buffers);
    Ok(match planned && tensor.limit.is_none() {
        true => case.with_counts(planned_sectors([load, store])),
        false => case,
    })
}

/// Which elements of memory belong to a tensor, by visiting all its coordinates.
struct Elements {
    /// Elements from the first to the last, both included, those between them too.
    span: u64,
    there: Vec<bool>,
}

impl Elements {
    fn of(registers: &LinearLayout, tensor: &StridedTensor) -> Self {
        let place = |packed: u64| {
            let along = |&(dim, stride): &(Dim, u64)| registers.outs().coordinate(packed, dim) * stride;
            tensor.strides.iter().map(along).sum::<u64>()
        };
        let within =
            |packed: u64| tensor.limit.is_none_or(|(axis, limit)| registers.outs().coordinate(packed, axis) < limit);
        let all = || 0..1u64 << registers.outs().bits();
        let span = all().map(place).max().unwrap_or(0) + 1;
        let mut there = vec![false; span as usize];
        all().filter(|&packed| within(packed)).for_each(|packed| there[place(packed) as usize] = true);
        Self { span, there }
    }

    fn is_there(&self, at: u64) -> bool {
        self.there.get(at as usize).copied().unwrap_or(false)
    }
}

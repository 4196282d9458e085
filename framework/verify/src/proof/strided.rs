//! Copies of tensors of any strides in global memory.

use crate::kernels::{StridedTensor, strided_copy_kernel};
use tilewright_emulator::Report;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::GlobalAccess;
use tilewright_target::TargetDescription;

use super::Disproof;
use super::execute::{element, little_endian, run_on, word};
use super::memory::compare_transactions;

/// Copies a tensor through registers on the emulator and compares every element of memory, those between
/// rows and beyond the limit included, which must be left as they were; and, where the tensor is whole, how
/// many units of memory each access takes. The accesses must have been planned with these strides: with
/// others, the units are not compared (`planned` is false).
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_strided_copy(
    registers: &LinearLayout,
    tensor: &StridedTensor,
    planned: bool,
    element_bits: u32,
    [load, store]: [&GlobalAccess; 2],
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = strided_copy_kernel("copy", registers, tensor, element_bits, load, store)?;
    let bytes = (element_bits / 8) as usize;
    let there = Elements::of(registers, tensor);
    let before = |at: &u64| !element(*at, element_bits);
    let source = little_endian((0..there.span).map(|at| element(at, element_bits)), bytes);
    let untouched = little_endian((0..there.span).map(|at| before(&at)), bytes);
    let (report, written) = run_on(kernel, &[source, untouched], 1, target.into())?;
    for (at, found) in (0..there.span).zip(written[1].chunks(bytes)) {
        let unchanged = word(&before(&at).to_le_bytes()[..bytes]);
        let expected = if there.is_there(at) { element(at, element_bits) } else { unchanged };
        if word(found) != expected {
            let place = format!("element {at} of the copy's memory");
            return Err(Disproof::WrongElement { place, found: word(found), element: at, expected });
        }
    }
    if planned && tensor.limit.is_none() {
        compare_transactions([load, store], &report)?;
    }
    Ok(report)
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

//! A kernel around one reduction, by which its code is looked at, run and checked.

use tilewright_kernel::{Binary, Kernel};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{MovementError, Reduction};

use super::registers::kernel_around;

/// A kernel that reads tensors into the layout `src`, reduces them together by adding (integers,
/// modulo their width), and writes the registers of the results out.
///
/// The parameters are pointers to global memory: one for each tensor of the tuple, row-major; then
/// one for the registers of each result, as [`super::conversion_kernel`] writes them.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has one of these widths.
pub fn reduction_kernel(
    name: &str,
    src: &LinearLayout,
    element_bits: &[u32],
    reduction: &Reduction,
) -> Result<Kernel, MovementError> {
    kernel_around(name, src, &reduction.result, element_bits, |builder, tensors| {
        reduction.emit(builder, tensors, &mut |builder, left, right| {
            left.iter().zip(right).map(|(&left, &right)| builder.binary(Binary::Add, left, right)).collect()
        })
    })
}

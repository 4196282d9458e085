//! A kernel around one scan, by which its code is looked at, run and checked.

use tilewright_kernel::Kernel;
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{Combine, MovementError, Scan};

use super::registers::kernel_around;

/// A kernel that reads tensors into the layout `src`, scans them together, and writes the registers out.
///
/// The parameters are pointers to global memory: one for each tensor of the tuple, row-major; then
/// one for the registers of each result, as [`super::conversion_kernel`] writes them.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has one of these widths.
pub fn scan_kernel(
    name: &str,
    src: &LinearLayout,
    element_bits: &[u32],
    scan: &Scan,
    combine: &mut Combine,
) -> Result<Kernel, MovementError> {
    kernel_around(name, src, src, element_bits, |builder, tensors| scan.emit(builder, tensors, combine))
}

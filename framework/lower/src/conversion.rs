//! A kernel around one conversion, by which its code is looked at, run and checked.

use tilewright_kernel::Kernel;
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{MovementError, Plan};

use super::registers::kernel_around;

/// A kernel that reads a tensor into the layout `src`, converts it by `plan`, and writes the
/// registers out.
///
/// Parameters are two pointers to global memory. The first holds the tensor, row-major (the last
/// axis fastest). The second receives, for block `b`, register `r` and thread `t` of a block of `T`
/// threads with `R` destination registers, the element at index `(b * R + r) * T + t`, so that every
/// position of the destination layout is seen, replicas too. Threads are numbered lanes first.
/// Blocks of a cluster are programs along axis 0; the kernel is launched in clusters where the plan asks
/// for them.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn conversion_kernel(
    name: &str,
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    plan: &Plan,
) -> Result<Kernel, MovementError> {
    kernel_around(name, src, dst, &[element_bits], |builder, tensors| vec![plan.emit(builder, &tensors[0])])
}

//! A kernel around one gather, by which its code is looked at, run and checked.

use tilewright_kernel::{Element, Kernel};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{Gather, MovementError};

use super::registers::{begin, integer, read_tensor, write_registers};

/// A kernel that reads a tensor into the layout `src` and `i32` indices into the layout `indices`,
/// gathers, and writes the registers out.
///
/// The parameters are pointers to global memory: the tensor and the indices, row-major; the registers
/// of the result, as [`super::conversion_kernel`] writes them.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn gather_kernel(
    name: &str,
    src: &LinearLayout,
    indices: &LinearLayout,
    element_bits: u32,
    gather: &Gather,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin(name, src, &["tensor", "indices", "registers"]);
    let values = read_tensor(&mut builder, 0, src, element);
    let places = read_tensor(&mut builder, 1, indices, Element::I32);
    let gathered = gather.emit(&mut builder, &values, &places);
    write_registers(&mut builder, 2, indices, element, &gathered);
    Ok(builder.finish())
}

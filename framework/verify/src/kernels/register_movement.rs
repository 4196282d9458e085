//! Kernels around one movement between registers: a reduction, a scan, a gather. That of a conversion is
//! [`tilewright_lower::conversion_kernel`], which hosts ask for too.

use tilewright_kernel::{Binary, Builder, Element, Kernel, Value};
use tilewright_layout::LinearLayout;
use tilewright_lower::registers::{begin, integer, kernel_around, read_tensor, write_registers};
use tilewright_plan::movement::{Combine, Gather, MovementError, Reduction, Scan};

/// A kernel that reads tensors into the layout `src`, reduces them together by adding (integers,
/// modulo their width), and writes the registers of the results out.
///
/// The parameters are pointers to global memory: one for each tensor of the tuple, row-major; then
/// one for the registers of each result, as [`tilewright_lower::conversion_kernel`] writes them.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has one of these widths.
pub fn reduction_kernel(
    src: &LinearLayout,
    element_bits: &[u32],
    reduction: &Reduction,
) -> Result<Kernel, MovementError> {
    kernel_around("reduce", src, &reduction.result, element_bits, |builder, tensors| {
        reduction.emit(builder, tensors, &mut add)
    })
}

/// Adds two tuples, element by element.
pub fn add(builder: &mut Builder, left: &[Value], right: &[Value]) -> Vec<Value> {
    left.iter().zip(right).map(|(&left, &right)| builder.binary(Binary::Add, left, right)).collect()
}

/// A kernel that reads tensors into the layout `src`, scans them together, and writes the registers out; its parameters are
/// those of [`reduction_kernel`].
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has one of these widths.
pub fn scan_kernel(
    src: &LinearLayout,
    element_bits: &[u32],
    scan: &Scan,
    combine: &mut Combine<'_>,
) -> Result<Kernel, MovementError> {
    kernel_around("scan", src, src, element_bits, |builder, tensors| scan.emit(builder, tensors, combine))
}

/// A kernel that reads a tensor into the layout `src` and `i32` indices into the layout `indices`,
/// gathers, and writes the registers out.
///
/// The parameters are pointers to global memory: the tensor and the indices, row-major; the registers
/// of the result, as [`tilewright_lower::conversion_kernel`] writes them.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn gather_kernel(
    [src, indices]: [&LinearLayout; 2],
    element_bits: u32,
    gather: &Gather,
) -> Result<Kernel, MovementError> {
    gather_around([src, indices], element_bits, |builder, values, places| gather.emit(builder, values, places))
}

/// The kernel of [`gather_kernel`] around an `act` that gathers: it gets the registers of the tensor and of the indices.
pub(super) fn gather_around(
    [src, indices]: [&LinearLayout; 2],
    element_bits: u32,
    act: impl FnOnce(&mut Builder, &[Value], &[Value]) -> Vec<Value>,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin("gather", src, &["tensor", "indices", "registers"]);
    let values = read_tensor(&mut builder, 0, src, element);
    let places = read_tensor(&mut builder, 1, indices, Element::I32);
    let gathered = act(&mut builder, &values, &places);
    write_registers(&mut builder, 2, indices, element, &gathered);
    Ok(builder.finish())
}

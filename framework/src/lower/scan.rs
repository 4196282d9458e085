//! A kernel around one scan, by which its code is looked at, run and checked.

use crate::kernel::Kernel;
use crate::layout::LinearLayout;
use crate::movement::{Combine, MovementError, Scan};

use super::registers::{begin, integer, read_tensor, write_registers};

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
    let elements = element_bits.iter().map(|&bits| integer(bits)).collect::<Result<Vec<_>, _>>()?;
    let parameters: Vec<&str> = [vec!["tensor"; elements.len()], vec!["registers"; elements.len()]].concat();
    let mut builder = begin(name, src, &parameters);
    let read = |builder: &mut _, (parameter, &element)| read_tensor(builder, parameter, src, element);
    let inputs: Vec<_> = (0u32..).zip(&elements).map(|tensor| read(&mut builder, tensor)).collect();
    let results = scan.emit(&mut builder, &inputs, combine);
    let first = elements.len() as u32;
    for ((parameter, &element), values) in (first..).zip(&elements).zip(&results) {
        write_registers(&mut builder, parameter, src, element, values);
    }
    Ok(builder.finish())
}

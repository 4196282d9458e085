//! Kernels that copy a tensor of any strides, or the part of it below a limit, through registers.

use tilewright_kernel::{Binary, Builder, Compare, Kernel, Value};
use tilewright_layout::f2::multiply;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{GlobalAccess, GlobalPlace, MovementError, Thread};

use super::pointer_parameters::begin;
use tilewright_lower::registers::integer;

/// A tensor in global memory as a kernel finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StridedTensor {
    /// How far neighbours along each axis lie apart, in elements.
    pub strides: Vec<(Dim, u64)>,
    /// The elements that are there: along this axis those at coordinates below this; all where there
    /// is no limit.
    pub limit: Option<(Dim, u64)>,
}

/// A kernel that copies a tensor between two buffers of global memory with the same strides: loaded by one
/// access, stored by the other. Elements that are not there are neither read nor written; a limit must not
/// lie within a vector.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn strided_copy_kernel(
    registers: &LinearLayout,
    tensor: &StridedTensor,
    element_bits: u32,
    load: &GlobalAccess,
    store: &GlobalAccess,
) -> Result<Kernel, MovementError> {
    let bytes = integer(element_bits)?.bits() / 8;
    let mut builder = begin("copy", registers, &["tensor", "copy"]);
    let own = own_coordinates(&mut builder, registers, tensor);
    let mut from = |builder: &mut Builder, register| place(builder, 0, registers, tensor, bytes, &own, register);
    let values = load.emit_load(&mut builder, &mut from);
    let mut to = |builder: &mut Builder, register| place(builder, 1, registers, tensor, bytes, &own, register);
    store.emit_store(&mut builder, &values, &mut to);
    Ok(builder.finish())
}

/// Along each axis the coordinate that the thread adds.
fn own_coordinates(builder: &mut Builder, registers: &LinearLayout, tensor: &StridedTensor) -> Vec<Value> {
    let thread = Thread::new(builder, registers.in_bits(Dim::LANE));
    let columns = [registers.columns_of(Dim::LANE), registers.columns_of(Dim::WARP)].concat();
    let along = |&(dim, _): &(Dim, u64)| {
        let columns: Vec<u64> = columns.iter().map(|&column| registers.outs().coordinate(column, dim)).collect();
        thread.product(builder, &columns)
    };
    tensor.strides.iter().map(along).collect()
}

/// Where a register's element lies in a parameter's memory.
fn place(
    builder: &mut Builder,
    parameter: u32,
    registers: &LinearLayout,
    tensor: &StridedTensor,
    bytes: u32,
    own: &[Value],
    register: usize,
) -> GlobalPlace {
    let packed = multiply(registers.columns_of(Dim::REGISTER), register as u64);
    let mut pointer = builder.parameter(parameter);
    let mut predicate = None;
    for (&(dim, stride), &own) in tensor.strides.iter().zip(own) {
        let coordinate = builder.binary_const(Binary::Xor, own, registers.outs().coordinate(packed, dim) as u32);
        let apart = builder.binary_const(Binary::Mul, coordinate, stride as u32 * bytes);
        pointer = builder.advance(pointer, apart);
        if let Some((_, limit)) = tensor.limit.filter(|&(axis, _)| axis == dim) {
            let limit = builder.i32(limit as u32);
            predicate = Some(builder.compare(Compare::LtU, coordinate, limit));
        }
    }
    GlobalPlace { pointer, offset: 0, predicate }
}

//! Kernels that copy a tensor with arbitrary strides, or the part of it below a limit, through registers.

use tilewright_kernel::{Binary, Builder, Compare, Kernel, Value};
use tilewright_layout::f2::multiply_vector;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{GlobalAccessPlan, MovementError, PredicatedGlobalAddress, ThreadIndices};

use super::pointer_parameters::begin;
use tilewright_lower::registers::find_memory_integer;

/// Strides and extent of a tensor in global memory, at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StridedTensor {
    /// Stride along each axis of the tensor, in elements.
    pub strides: Vec<(Dim, u64)>,
    /// The valid part of the tensor: coordinates below the limit along this axis; `None` if all elements are valid.
    pub limit: Option<(Dim, u64)>,
}

/// Builds a kernel that copies a tensor between two buffers of global memory with the same strides: loaded by one
/// access, stored by the other. Invalid elements are neither read nor written; a limit must not split a vector.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_strided_copy_kernel(
    registers: &LinearLayout,
    tensor: &StridedTensor,
    element_bits: u32,
    load: &GlobalAccessPlan,
    store: &GlobalAccessPlan,
) -> Result<Kernel, MovementError> {
    let bytes = find_memory_integer(element_bits)?.bits() / 8;
    let mut builder = begin("copy", registers, &["tensor", "copy"]);
    let coordinates = own_coordinates(&mut builder, registers, tensor);
    let mut from =
        |builder: &mut Builder, register| emit_address(builder, 0, registers, tensor, bytes, &coordinates, register);
    let values = load.emit_load(&mut builder, &mut from);
    let mut to =
        |builder: &mut Builder, register| emit_address(builder, 1, registers, tensor, bytes, &coordinates, register);
    store.emit_store(&mut builder, &values, &mut to);
    Ok(builder.finish())
}

/// Emits, for each axis, the coordinate that the thread's lane and warp add to those of a register's element.
fn own_coordinates(builder: &mut Builder, registers: &LinearLayout, tensor: &StridedTensor) -> Vec<Value> {
    let thread = ThreadIndices::new(builder, registers.in_bits(Dim::LANE));
    let columns = [registers.columns_of(Dim::LANE), registers.columns_of(Dim::WARP)].concat();
    let along = |&(dim, _): &(Dim, u64)| {
        let columns: Vec<u64> = columns.iter().map(|&column| registers.outs().coordinate(column, dim)).collect();
        thread.emit_f2_product(builder, &columns)
    };
    tensor.strides.iter().map(along).collect()
}

/// Emits the address of the element that a register of this thread holds, in a parameter's memory, and the predicate if
/// the tensor has a limit. `coordinates` are those of [`own_coordinates`].
fn emit_address(
    builder: &mut Builder,
    parameter: u32,
    registers: &LinearLayout,
    tensor: &StridedTensor,
    bytes: u32,
    coordinates: &[Value],
    register: usize,
) -> PredicatedGlobalAddress {
    let packed = multiply_vector(registers.columns_of(Dim::REGISTER), register as u64);
    let mut pointer = builder.parameter(parameter);
    let mut predicate = None;
    for (&(dim, stride), &coordinates) in tensor.strides.iter().zip(coordinates) {
        let coordinate =
            builder.binary_const(Binary::Xor, coordinates, registers.outs().coordinate(packed, dim) as u32);
        let byte_offset = builder.binary_const(Binary::Mul, coordinate, stride as u32 * bytes);
        pointer = builder.ptr_add(pointer, byte_offset);
        if let Some((_, limit)) = tensor.limit.filter(|&(axis, _)| axis == dim) {
            let limit = builder.i32(limit as u32);
            predicate = Some(builder.compare(Compare::LtU, coordinate, limit));
        }
    }
    PredicatedGlobalAddress { pointer, offset: 0, predicate }
}

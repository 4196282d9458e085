//! The kernel values that each value of a tile program is lowered to.

use std::sync::Arc;

use smallvec::SmallVec;

use tilewright_kernel::Value;
use tilewright_layout::LinearLayout;

use super::pending::InFlightMma;

/// The kernel values that one value of the tile program is lowered to.
#[derive(Debug, Clone)]
pub(super) enum LoweredValue {
    /// A number or a pointer, uniform over the block.
    Scalar(Value),
    /// A tensor in registers.
    Tensor(Registers),
    /// A tensor in shared memory.
    Memory(SharedTensorRef),
    /// A tensor in global memory that is accessed by blocks (tensor descriptor).
    Descriptor(TensorDescriptor),
    /// An accumulator with MMAs in flight.
    Pending(InFlightMma),
    /// A token, for which no kernel value is needed, because the operation that produces it is synchronous in the
    /// kernel.
    Token,
}

/// A tensor in registers: one scalar for each register of its layout.
#[derive(Debug, Clone)]
pub(super) struct Registers {
    /// The register layout of the tensor.
    pub layout: Arc<LinearLayout>,
    /// The kernel value of each register.
    pub values: Arc<[Value]>,
}

/// A tensor in shared memory, or a subslice of one, as the kernel accesses it.
#[derive(Debug, Clone)]
pub(super) struct SharedTensorRef {
    /// The address of the first element of the tensor that the memory layout covers.
    pub pointer: Value,
    /// The first coordinates of a subslice in the memory layout, one for each axis; empty for the whole buffer.
    pub at: SmallVec<[u64; 4]>,
}

/// A tensor descriptor: the address, sizes and strides of a tensor in global memory.
#[derive(Debug, Clone)]
pub(super) struct TensorDescriptor {
    /// The address of the tensor's first element.
    pub pointer: Value,
    /// The size of the tensor along each axis, as `i32`.
    pub sizes: SmallVec<[Value; 4]>,
    /// The stride of the tensor along each axis in elements, as `i64`.
    pub strides: SmallVec<[Value; 4]>,
    /// The predicate of all copies through the descriptor, an `i1`: if it is false, they copy nothing.
    pub active: Value,
    /// A number of elements that divides both the offset of the tensor's start and its size along the last axis.
    pub last_multiple: u64,
    /// Whether elements beyond the tensor's sizes read as NaN; otherwise they read as zero.
    pub pads_with_nan: bool,
}

impl Registers {
    pub(super) fn new(layout: Arc<LinearLayout>, values: impl Into<Arc<[Value]>>) -> Self {
        Self { layout, values: values.into() }
    }
}

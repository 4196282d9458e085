//! Copies past the registers, as kernels whose code the vendors' crates look at.

use tilewright_plan::movement::SharedCopy;

use crate::prelude::*;

/// The copy of 64 rows of 64 elements of 16 bits, row after row in both memories, by four warps of the target's default
/// lanes, and a kernel that copies five such tensors to three buffers.
pub fn staged(target: &dyn Target, masked: bool) -> (SharedCopy, Kernel) {
    let axis = |axis| LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(axis)).unwrap();
    let memory = MemoryLayout::linear(axis(1).direct_sum(&axis(0)).unwrap());
    let global = GlobalTensor::row_major(&[64, 64], 16);
    let lanes = target.description().lanes.default;
    let problem =
        AsyncCopySpec { global: &global, memory: &memory, element_bits: 16, lanes, warps: 4, masked, mapped: false };
    let copy = copy_to_shared(&problem, context(target)).unwrap();
    let stages = Stages { buffers: 3, tensors: 5, omitted: None };
    let kernel = pointer_copy_kernel(&copy, &memory, 16, stages).unwrap();
    (copy, kernel)
}

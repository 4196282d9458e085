//! Asynchronous copies as kernels, whose code the vendors' crates check.

use tilewright_plan::movement::AsyncCopyPlan;

use crate::prelude::*;

/// Plans an asynchronous copy of 64 x 64 elements of 16 bits, row-major in global and shared memory, by four warps of
/// the target's default number of lanes. Returns the plan, and a kernel that copies five such tensors to a ring of
/// three buffers.
pub fn staged(target: &dyn Target, masked: bool) -> (AsyncCopyPlan, Kernel) {
    let axis = |axis| LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(axis)).unwrap();
    let memory = MemoryLayout::from_linear(axis(1).direct_sum(&axis(0)).unwrap());
    let global = GlobalTensor::row_major(&[64, 64], 16);
    let lanes = target.description().lanes.default;
    let problem = AsyncCopySpec::new(&global, &memory, 16, lanes, 4).with_masked(masked);
    let copy = plan_async_copy(&problem, build_plan_context(target)).unwrap();
    let stages = CopyPipelineConfig { buffers: 3, tensors: 5, omitted: None };
    let kernel = build_pointer_copy_pipeline_kernel(&copy, &memory, 16, stages).unwrap();
    (copy, kernel)
}

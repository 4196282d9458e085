//! The shared memory that reports state, beside the memory that lowering allocates.

use std::path::Path;

use super::claims::compared_programs;
use crate::prelude::*;
use tilewright_target::Optimization;

/// Programs of the suite whose only tensors in shared memory are the buffers of prefetched loads.
const PIPELINED: [&str; 3] = ["attention", "dot_loop", "dot_masked"];

/// The bytes of shared memory that a report states for a program, and the kernel's.
struct SharedBytes {
    /// The most bytes of tensors that are live at the same time.
    stated: u64,
    /// The bytes of all tensors.
    tensors: u64,
    kernel: u64,
    /// The bytes of all allocations of the kernel: tensors, scratch memory and mbarriers.
    allocations: u64,
}

/// Compiles each program, and compares the bytes of shared memory that are stated to be live at the same time with the
/// addresses that lowering assigns. The kernel never has fewer bytes, and at most those of its scratch memory and its
/// mbarriers more; three quarters of the programs have the stated ones, up to their mbarriers and the alignment.
pub fn check_shared_bytes(target: &dyn Target) {
    let (mut near, mut compared) = (0, 0);
    for (name, text, warps) in compared_programs() {
        let found = compile(target, &text, warps);
        let scratch = found.allocations - found.tensors;
        let range = found.stated..=found.stated + scratch + ALIGNMENT;
        assert!(range.contains(&found.kernel), "{name}: {} bytes of {range:?}", found.kernel);
        near += u64::from(found.kernel - found.stated <= ALIGNMENT);
        compared += 1;
    }
    assert!(4 * near >= 3 * compared, "{near} of {compared} programs have about the stated bytes");
    for name in PIPELINED {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../conformance/kernels/{name}.ttir"));
        let text = std::fs::read_to_string(file).expect("a program of the suite");
        let found = compile(target, &text, 4);
        let range = found.stated..=found.stated.max(found.allocations);
        assert!(range.contains(&found.kernel), "{name}: {} bytes of {range:?}", found.kernel);
    }
}

/// Max bytes between two allocations that are aligned to a swizzle atom.
const ALIGNMENT: u64 = 1024;

/// Compiles a program so that data movements share no barriers: lowering then gives the memory of each buffer to others
/// as soon as possible.
fn compile(target: &dyn Target, text: &str, warps: u32) -> SharedBytes {
    let disabled = [Optimization::MergedBarriers].into_iter().collect();
    let options = ProgramOptions::default().with_warps(warps).with_disabled(disabled);
    let (mut stated, mut tensors) = (0, 0);
    let kernel = compiler(target).compile_kernel(text, &options, &mut |stage| match stage {
        CompilationStageOutput::Synthesis(found) => {
            stated += found.shared_bytes;
            tensors += found.memories.iter().map(|memory| memory.bytes).sum::<u64>();
        }
        CompilationStageOutput::Layouts(assigned) => {
            stated += assigned.report.pipelined_loops().map(|of| of.bytes).sum::<u64>();
        }
        _ => {}
    });
    let kernel = kernel.unwrap_or_else(|error| panic!("{text}: {error}"));
    let allocations = kernel.shared.iter().map(|buffer| u64::from(buffer.bytes)).sum();
    SharedBytes { stated, tensors, kernel: kernel.shared_bytes(), allocations }
}

//! Kernels whose parameters are pointers to global memory.

use tilewright_kernel::{Builder, MemorySpace, StaticLaunchConfig, Type};
use tilewright_layout::{Dim, LinearLayout};

/// Starts a kernel with the block size of a layout; its parameters are pointers to global memory.
pub(super) fn begin(name: &str, layout: &LinearLayout, parameters: &[&str]) -> Builder {
    let launch = StaticLaunchConfig::new(1 << layout.in_bits(Dim::LANE), 1 << layout.in_bits(Dim::WARP));
    let pointers: Vec<_> = parameters.iter().map(|&name| (name, Type::Pointer(MemorySpace::Global))).collect();
    Builder::new(name, launch, &pointers)
}

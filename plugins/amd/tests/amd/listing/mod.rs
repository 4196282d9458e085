//! A static check of AMD's assembly listings, independent of the compiler that wrote them.
//!
//! - [`waits`]: no instruction uses a register before the wait for the load that writes it; accesses to shared memory
//!   have completed at a block barrier, and those to global memory at a fence.
//! - [`intervals`]: no access stands between other synchronizations (barriers, fences) than in the kernel IR.
//!
//! Which counters an access increments and a wait names differs between generations, see [`generation`]. The code
//! generator names each synchronization in a comment, which relates the listing to the kernel IR.

pub mod generation;
pub mod graph;
pub mod intervals;
pub mod parse;
pub mod waits;

use generation::Generation;
use parse::Listing;
use tilewright_vendor_testkit::prelude::*;

/// Checks the listing of a kernel; returns a line for each violation.
pub fn violations(architecture: &str, kernel: &Kernel, assembly: &str) -> Vec<String> {
    let listing = Listing::of_kernel(assembly, &kernel.name);
    let mut violations = waits::violations(Generation::of(architecture), kernel.launch.warps, &listing);
    violations.extend(intervals::violations(kernel, &listing));
    violations
}

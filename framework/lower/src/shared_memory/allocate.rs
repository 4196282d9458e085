//! Allocates buffers of shared memory by liveness: buffers that are not live at the same time may share addresses.

use super::annotations::Accesses;
use super::annotations::Annotations;
use super::assign_addresses;
use super::barriers;
use super::merge_barriers;
use super::merge_fences::merge_fences;
use super::uses::Uses;
use tilewright_kernel::Kernel;

/// Allocates all buffers, and inserts the barriers that address reuse and the program's accesses need.
///
/// Data movements may share barriers, which makes their buffers disjoint. They do if the kernel then takes at most
/// `free` bytes of shared memory, or no more than without sharing. With `None` they share none.
pub(crate) fn allocate_buffers(kernel: Kernel, annotations: &Annotations, free: Option<u64>) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let Some(free) = free else { return each_placed(kernel, annotations) };
    let (uses, accesses) = used(&kernel, annotations);
    let mut together = kernel.clone();
    merge_barriers::together(&mut together, &uses, &accesses);
    let together = each_placed(together, annotations);
    if together.shared_bytes() <= free {
        return together;
    }
    let separate = each_placed(kernel, annotations);
    if together.shared_bytes() <= separate.shared_bytes() { together } else { separate }
}

/// Allocates all buffers at disjoint addresses, and inserts the barriers that loops and the program's accesses need.
/// Data movements keep the barriers of their plans.
pub(crate) fn allocate_disjoint(mut kernel: Kernel, annotations: &Annotations) -> Kernel {
    let (mut uses, accesses) = used(&kernel, annotations);
    uses.buffers.iter_mut().for_each(|buffer| buffer.is_kept = true);
    assign_addresses::assign_addresses(&mut kernel.shared, &uses);
    barriers::insert_barriers(&mut kernel, &uses, &accesses);
    merge_fences(&mut kernel);
    kernel
}

/// Finds the live range of each buffer, and the accesses that `annotations` mark.
fn used(kernel: &Kernel, annotations: &Annotations) -> (Uses, Accesses) {
    let mut uses = Uses::of(kernel);
    let accesses = Accesses::of(kernel, annotations, &uses);
    uses.find(kernel, &accesses, &annotations.partings);
    (uses, accesses)
}

fn each_placed(mut kernel: Kernel, annotations: &Annotations) -> Kernel {
    let (uses, accesses) = used(&kernel, annotations);
    assign_addresses::assign_addresses(&mut kernel.shared, &uses);
    barriers::insert_barriers(&mut kernel, &uses, &accesses);
    merge_fences(&mut kernel);
    kernel
}

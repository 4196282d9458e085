//! Allocates buffers of shared memory by liveness.

use super::annotations::Accesses;
use super::annotations::Annotations;
use super::barriers;
use super::meet;
use super::place;
use super::uses::Uses;
use tilewright_kernel::Kernel;

/// Gives each buffer a place, and adds the barriers that this and the program's accesses take. Movements share barriers,
/// which keeps their buffers apart, where no more than `most` bytes are taken then.
pub(crate) fn placed(kernel: Kernel, annotations: &Annotations, most: u64) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let (uses, accesses) = used(&kernel, annotations);
    let mut together = kernel.clone();
    meet::together(&mut together, &uses, &accesses);
    let together = each_placed(together, annotations);
    if together.shared_bytes() <= most { together } else { each_placed(kernel, annotations) }
}

/// Gives each buffer a place that no other one has, and adds the barriers that loops and the program's accesses take: movements keep
/// the barriers of their plans.
pub(crate) fn placed_apart(mut kernel: Kernel, annotations: &Annotations) -> Kernel {
    let (mut uses, accesses) = used(&kernel, annotations);
    uses.buffers.iter_mut().for_each(|buffer| buffer.is_kept = true);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses, &accesses);
    kernel
}

/// Who touches which buffer, from where to where, and what the program told.
fn used(kernel: &Kernel, annotations: &Annotations) -> (Uses, Accesses) {
    let mut uses = Uses::of(kernel);
    let accesses = Accesses::of(kernel, annotations, &uses);
    uses.find(kernel, accesses.copied(), &annotations.partings);
    (uses, accesses)
}

fn each_placed(mut kernel: Kernel, annotations: &Annotations) -> Kernel {
    let (uses, accesses) = used(&kernel, annotations);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses, &accesses);
    kernel
}

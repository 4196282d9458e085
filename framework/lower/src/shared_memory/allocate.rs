//! Allocates buffers of shared memory by liveness.

use super::barriers;
use super::meet;
use super::place;
use super::told::Accesses;
use super::told::Told;
use super::uses::Uses;
use tilewright_kernel::Kernel;

/// Gives each buffer a place, and adds the barriers that this and the program's accesses take. Movements share barriers,
/// which keeps their buffers apart, where no more than `most` bytes are taken then.
pub(crate) fn placed(kernel: Kernel, told: &Told, most: u64) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let (uses, accesses) = used(&kernel, told);
    let mut together = kernel.clone();
    meet::together(&mut together, &uses, &accesses);
    let together = each_placed(together, told);
    if together.shared_bytes() <= most { together } else { each_placed(kernel, told) }
}

/// Gives each buffer a place that no other one has, and adds the barriers that loops and the program's accesses take: movements keep
/// the barriers of their plans.
pub(crate) fn placed_apart(mut kernel: Kernel, told: &Told) -> Kernel {
    let (mut uses, accesses) = used(&kernel, told);
    uses.buffers.iter_mut().for_each(|buffer| buffer.is_kept = true);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses, &accesses);
    kernel
}

/// Who touches which buffer, from where to where, and what the program told.
fn used(kernel: &Kernel, told: &Told) -> (Uses, Accesses) {
    let mut uses = Uses::of(kernel);
    let accesses = Accesses::of(kernel, told, &uses);
    uses.find(kernel, accesses.copied(), &told.partings);
    (uses, accesses)
}

fn each_placed(mut kernel: Kernel, told: &Told) -> Kernel {
    let (uses, accesses) = used(&kernel, told);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses, &accesses);
    kernel
}

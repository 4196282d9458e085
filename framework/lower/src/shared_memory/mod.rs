//! Where the shared buffers of a kernel lie, and the barriers between their uses.
//!
//! Each movement brings a buffer of its own, and with it the barriers between its own stores and loads. Buffers that are
//! not in use at the same time may lie at one place ([`place`]); then, and where a loop comes back to a buffer, the block
//! must meet before it is used again ([`barriers`]). Movements whose stores can come together share one barrier ([`meet`]).
//! A program's own tensors have no movement that orders their uses: the program tells where it accesses them ([`told`]), and
//! the block meets before an access that must come after others ([`since`]). Which values are addresses in which buffer, and
//! so who touches it, is found
//! by following data ([`uses`]): the alias classes of shared memory.

mod barriers;
mod meet;
mod place;
mod since;
mod told;
mod uses;

use tilewright_kernel::Kernel;

use told::Accesses;
pub(super) use told::{ALL_GROUPS, Access, Part, Told};
use uses::Uses;

/// Gives each buffer a place, and adds the barriers that this and the program's accesses take. Movements share barriers,
/// which keeps their buffers apart, where no more than `most` bytes are taken then.
pub(super) fn placed(kernel: Kernel, told: &Told, most: u64) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let (uses, accesses) = used(&kernel, told);
    let mut together = kernel.clone();
    meet::together(&mut together, &uses, &accesses);
    let together = each_placed(together, told);
    if together.shared_bytes() <= most { together } else { each_placed(kernel, told) }
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

#[cfg(test)]
mod tests;

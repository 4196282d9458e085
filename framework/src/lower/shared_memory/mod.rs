//! Where the shared buffers of a kernel lie, and the barriers between their uses.
//!
//! Each movement brings a buffer of its own, and with it the barriers between its own stores and loads. Buffers that are
//! not in use at the same time may lie at one place ([`place`]); then, and where a loop comes back to a buffer, the block
//! must meet before it is used again ([`barriers`]). Movements whose stores can come together share one barrier ([`meet`]). Which values are addresses in which buffer, and so who touches it, is found
//! by following data ([`uses`]): the alias classes of shared memory.
//!
//! May import `kernel`.

mod barriers;
mod meet;
mod place;
mod uses;

use crate::kernel::Kernel;

use uses::Uses;

/// Gives each buffer a place, and adds the barriers that this takes. Movements share barriers, which keeps their buffers
/// apart, where no more than `most` bytes are taken then.
pub(super) fn placed(kernel: Kernel, most: u64) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let mut together = kernel.clone();
    meet::together(&mut together, &Uses::of(&kernel));
    let together = each_placed(together);
    if together.shared_bytes() <= most { together } else { each_placed(kernel) }
}

fn each_placed(mut kernel: Kernel) -> Kernel {
    let uses = Uses::of(&kernel);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses);
    kernel
}

#[cfg(test)]
mod tests;

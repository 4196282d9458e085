//! Where the shared buffers of a kernel lie, and the barriers between their uses.
//!
//! Each movement brings a buffer of its own, and with it the barriers between its own stores and loads. Buffers that are
//! not in use at the same time may lie at one place ([`place`]); then, and where a loop comes back to a buffer, the block
//! must meet before it is used again ([`barriers`]). Which values are addresses in which buffer, and so who touches it, is found
//! by following data ([`uses`]): the alias classes of shared memory.
//!
//! May import `kernel`.

mod barriers;
mod place;
mod uses;

use crate::kernel::Kernel;

use uses::Uses;

/// Gives each buffer a place, and adds the barriers that this takes.
pub(super) fn placed(mut kernel: Kernel) -> Kernel {
    if kernel.shared.is_empty() {
        return kernel;
    }
    let uses = Uses::of(&kernel);
    place::place(&mut kernel.shared, &uses);
    barriers::add(&mut kernel, &uses);
    kernel
}

#[cfg(test)]
mod tests;

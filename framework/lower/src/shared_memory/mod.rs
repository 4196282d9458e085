//! Where the shared buffers of a kernel lie, and the barriers between their uses.
//!
//! Each movement brings a buffer of its own, and with it the barriers between its own stores and loads. Buffers that are
//! not in use at the same time may lie at one place ([`place`]); then, and where a loop comes back to a buffer, the block
//! must meet before it is used again ([`barriers`]). Movements whose stores can come together share one barrier ([`meet`]).
//! A program's own tensors have no movement that orders their uses: the program tells where it accesses them ([`annotations`]), and
//! the block meets before an access that must come after others ([`since`]). Which values are addresses in which buffer, and
//! so who touches it, is found
//! by following data ([`uses`]): the alias classes of shared memory.

mod allocate;
mod annotations;
mod barriers;
mod meet;
mod place;
mod since;
#[cfg(test)]
mod tests;
mod uses;

pub(super) use allocate::{placed, placed_apart};
pub(super) use annotations::{Access, Annotations, Part};
pub(super) use uses::ALL_GROUPS;

//! Operations along an axis.

mod combine;
mod gather;
mod histogram;
mod reduce;
mod scan;
mod sides;

pub(super) use gather::gathered;
pub(super) use histogram::histogram;
pub(super) use reduce::reduced;
pub use reduce::without_axis;
pub(super) use scan::scanned;

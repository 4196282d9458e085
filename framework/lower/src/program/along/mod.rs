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
pub(super) use scan::scanned;

//! Lowers operations along an axis: reductions, scans, gathers, histograms.

mod combine;
mod gather;
mod histogram;
mod reduce;
mod scan;
mod sides;

pub(super) use gather::gathered;
pub(super) use histogram::histogram;
pub(super) use reduce::reduced;
pub use reduce::reduced_layout;
pub(super) use scan::scanned;

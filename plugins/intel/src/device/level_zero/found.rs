//! A Level Zero device as its driver describes it.

use super::super::limits::Limits;
use super::functions::Object;

/// A device from a driver's list, with the properties that the driver reports.
pub(super) struct Found {
    pub(super) driver: Object,
    pub(super) device: Object,
    pub(super) name: String,
    /// PCI device id of the device.
    pub(super) number: u32,
    /// Version of the device's driver, as the driver encodes it.
    pub(super) version: u32,
    pub(super) limits: Limits,
    /// Nanoseconds of one tick of the device's clock.
    pub(super) tick: u64,
    /// Width of the device's clock counter in bits.
    pub(super) tick_bits: u32,
}

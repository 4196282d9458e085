//! The properties of a Level Zero device, as its driver reports them.

use super::super::limits::Limits;
use super::functions::Object;

/// A device that a driver lists, and its properties.
pub(super) struct Found {
    pub(super) driver: Object,
    pub(super) device: Object,
    pub(super) name: String,
    /// PCI device id, which identifies the GPU's model.
    pub(super) number: u32,
    /// Version of the device's driver, in the driver's own encoding.
    pub(super) version: u32,
    pub(super) limits: Limits,
    /// Length of one tick of the device's clock in nanoseconds.
    pub(super) tick: u64,
    /// Number of valid bits of the device's clock counter, which wraps around.
    pub(super) tick_bits: u32,
}

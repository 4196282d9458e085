//! A device, as its driver describes it.

use super::super::limits::Limits;
use super::functions::Object;

/// A device that a driver lists, with its properties.
pub(super) struct Found {
    pub(super) driver: Object,
    pub(super) device: Object,
    pub(super) name: String,
    /// Its number on the bus.
    pub(super) number: u32,
    /// Of the driver.
    pub(super) version: u32,
    pub(super) limits: Limits,
    /// Nanoseconds of a tick of its clock.
    pub(super) tick: u64,
    /// Bits of the clock's ticks.
    pub(super) tick_bits: u32,
}

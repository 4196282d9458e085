//! Devices of HIP. Where this machine has none, what is said of it is shown.
#![cfg(feature = "drivers")]

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;

/// Without the runtime it is told what is missing and where it comes from; with it and no GPU of the architecture there
/// are no devices, and no error.
#[test]
fn a_machine_without_the_gpu_has_no_devices() {
    match target("mi250").devices() {
        Ok(devices) => devices.iter().for_each(|device| assert!(device.name().contains("HIP driver"))),
        Err(DeviceError::NoRuntime(why)) => assert!(why.contains("libamdhip64") && why.contains("Debian"), "{why}"),
        Err(other) => panic!("{other}"),
    }
}

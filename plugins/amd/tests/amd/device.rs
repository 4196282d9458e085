//! HIP devices. On machines without devices, the error is tested.

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;

/// Checks a machine without a matching GPU: without the runtime, the error names the missing library and its package;
/// with the runtime, the list of devices is empty.
#[test]
fn a_machine_without_the_gpu_has_no_devices() {
    match target("mi250").devices() {
        Ok(devices) => devices.iter().for_each(|device| assert!(device.name().contains("HIP driver"))),
        Err(DeviceError::NoRuntime(why)) => assert!(why.contains("libamdhip64") && why.contains("Debian"), "{why}"),
        Err(other) => panic!("{other}"),
    }
}

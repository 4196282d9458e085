//! A machine without an OpenCL driver.
#![cfg(feature = "drivers")]

use crate::validated_target::target;
use std::process::Command;

use tilewright_vendor_testkit::prelude::*;

/// Leads OpenCL's loader to a folder of drivers, and a process of this test to an empty one.
const DRIVERS: &str = "OCL_ICD_VENDORS";
const NONE: &str = "/nonexistent";

/// The list of drivers is read once in a process, so a process of its own asks for devices.
#[test]
fn without_a_driver_it_is_said_what_to_install() {
    if std::env::var_os(DRIVERS).is_some_and(|folder| folder == NONE) {
        return asks_for_devices();
    }
    let mut child = Command::new(std::env::current_exe().expect("tests have a program"));
    child.args(["no_driver::without_a_driver_it_is_said_what_to_install", "--exact", "--nocapture"]);
    let output = child.env(DRIVERS, NONE).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

fn asks_for_devices() {
    match target("max1550").devices() {
        Err(DeviceError::NoRuntime(why)) => {
            assert!(why.contains("Debian") || why.contains("intel-tools.sh"), "{why}");
        }
        Err(other) => panic!("{other}"),
        Ok(devices) => panic!("{} devices without a driver", devices.len()),
    }
}

//! A machine without an OpenCL driver.

use crate::validated_target::target;
use std::process::Command;

use tilewright_vendor_testkit::prelude::*;

/// The environment variable that names OpenCL's folder of drivers; the test's process gets an empty folder.
const DRIVERS: &str = "OCL_ICD_VENDORS";
const NONE: &str = "/nonexistent";

/// Checks the error without drivers, in a new process, because the list of drivers is read once in a process.
#[test]
fn a_missing_driver_names_what_to_install() {
    if std::env::var_os(DRIVERS).is_some_and(|folder| folder == NONE) {
        return check_no_devices();
    }
    let mut child = Command::new(std::env::current_exe().expect("tests have a program"));
    child.args(["no_driver::a_missing_driver_names_what_to_install", "--exact", "--nocapture"]);
    let output = child.env(DRIVERS, NONE).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

fn check_no_devices() {
    match target("max1550").devices() {
        Err(DeviceError::NoRuntime(why)) => {
            assert!(why.contains("Debian") || why.contains("intel-tools.sh"), "{why}");
        }
        Err(other) => panic!("{other}"),
        Ok(devices) => panic!("{} devices without a driver", devices.len()),
    }
}

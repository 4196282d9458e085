//! Committed counts of what the virtual device executes of the test programs' code: ours may not grow.

use crate::prelude::*;

use tilewright_vendor_testkit::recorded_counts::{check_no_growth, file};
use tilewright_verify::run_and_check_launch;
use tilewright_virtual_ptx::VirtualDevice;

fn check_executed(name: &str) {
    let target = target(name);
    check_no_growth(&file(&format!("executed.{name}.jsonl")), &target, |compiled| {
        let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
        run_and_check_launch(&compiled.launch, &compiled.artifact, &mut device).unwrap();
        device.report().metrics().into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    });
}

#[test]
fn executed_instructions_do_not_grow_on_a100() {
    check_executed("a100");
}

#[test]
fn executed_instructions_do_not_grow_on_h100() {
    check_executed("h100");
}

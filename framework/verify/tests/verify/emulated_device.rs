//! The emulator as a device, and failures of checks on it: unwritten outputs, changed inputs, differing counts.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;

use emulator_target::{kernel, target};
use tilewright_emulator::FaultKind;
use tilewright_kernel::{Counts, Module};
use tilewright_plan::movement::{CountLowerBounds, PlanContext};
use tilewright_plugin::{Artifact, Device, DeviceError, LaunchArgument, LaunchRequest};
use tilewright_verify::case::{CaseBuffer, CaseElement, CaseValue, ExpectedContents};
use tilewright_verify::{
    CheckFailure, EmulatedDevice, ExpectedCounts, PlannedSectorCount, TestBuffer, TestCase, TestLaunch,
    build_emulator_artifact, check_emulated,
};

/// The text of a kernel whose eight lanes copy a word each after executing `body`.
fn copy(body: &str) -> String {
    format!(
        "kernel copy(%0 from: ptr.global, %1 to: ptr.global) lanes 8 warps 1 {{
           %2: i32 = special lane
           %3: i32 = constant 4
           %4: i32 = binary mul %2, %3
           %5: ptr.global = ptr_add %0, %4
           %6: ptr.global = ptr_add %1, %4
           {body}
           %7: i32 = load %5 align 4
           store %6, %7 align 4
         }}"
    )
}

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A test case of a kernel that copies `count` words from one buffer to another.
fn case(text: &str, count: u32) -> TestCase {
    let buffer = |name: &str, before: Vec<u8>, after| CaseBuffer {
        name: name.to_owned(),
        element: CaseElement::Unsigned(32),
        shape: vec![count.into()],
        before,
        after,
    };
    let from = buffer("from", words(1..=count), ExpectedContents::Unchanged);
    let to = buffer("to", words((0..count).map(|_| 0xa5a5_a5a5)), ExpectedContents::exact_bytes(words(1..=count)));
    let kernel = kernel(text);
    let launch = TestLaunch {
        kernel: kernel.name.clone(),
        grid: [1, 1, 1],
        arguments: vec![CaseValue::Buffer(0), CaseValue::Buffer(1)],
        buffers: vec![from.into(), TestBuffer { is_output: true, ..to.into() }],
        counts: None,
        predicted: None,
    };
    TestCase { kernel, launch }
}

fn checked(case: &TestCase) -> Result<tilewright_emulator::RunReport, CheckFailure> {
    check_emulated(case, PlanContext::new(&target(true)))
}

#[test]
fn a_case_that_is_right_passes_with_its_report() {
    let report = checked(&case(&copy(""), 8)).unwrap();
    assert!(report.transactions_loaded > 0 && report.transactions_stored > 0, "{report:?}");
}

#[test]
fn what_stays_unwritten_or_is_read_before_is_found() {
    let wrong = checked(&case(&copy(""), 9)).unwrap_err().to_string();
    assert!(wrong.contains("byte 32 of the buffer has not been written"), "{wrong}");
    match checked(&case(&copy("%8: i32 = load %6 align 4"), 8)) {
        Err(CheckFailure::Fault(fault)) => {
            assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
            assert!(fault.location.is_some_and(|location| location.text.contains("load %6")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn buffers_that_are_others_are_found() {
    let wrong = checked(&case(&copy("store %5, %3 align 4"), 8)).unwrap_err();
    assert!(matches!(&wrong, CheckFailure::Differences(all) if all.len() == 2 && all[0].buffer == "from"), "{wrong}");
    let mut masked = case(&copy(""), 8);
    let after = |mask: u32| ExpectedContents::Masked {
        bytes: words((1..=8).map(|word| word | 0xff00)),
        mask: words([mask; 8]),
    };
    masked.launch.buffers[1].content.after = after(0xff);
    checked(&masked).unwrap();
    masked.launch.buffers[1].content.after = after(0x1ff);
    assert!(matches!(checked(&masked), Err(CheckFailure::Differences(all)) if all[0].wrong == 8));
}

#[test]
fn counts_that_are_others_are_found() {
    let counted = |change: fn(&mut ExpectedCounts)| {
        let mut case = case(&copy(""), 8);
        let mut counts = ExpectedCounts {
            planned: Counts::default(),
            compared: |counts| counts,
            may_conflict: false,
            bound: CountLowerBounds::default(),
            sectors: [None; 2],
        };
        change(&mut counts);
        case.launch.counts = Some(counts);
        checked(&case)
    };
    counted(|_| {}).unwrap();
    assert!(matches!(counted(|counts| counts.planned.shuffles = 1), Err(CheckFailure::Counts { .. })));
    assert!(matches!(counted(|counts| counts.planned.wavefronts_loaded = 1), Err(CheckFailure::Counts { .. })));
    assert!(matches!(counted(|counts| counts.bound.wavefronts_stored = 1), Err(CheckFailure::Bound { .. })));
    let sectors = counted(|counts| {
        let executed = |sectors: &tilewright_plugin::SectorCounts| sectors.stored;
        counts.sectors[0] = Some(PlannedSectorCount { accesses: "stores", planned: 1000, executed });
    });
    assert!(matches!(sectors, Err(CheckFailure::Transactions { planned: 1000, .. })), "{sectors:?}");
}

#[test]
fn the_emulated_device_reports_unsupported_requests() {
    let target = target(true);
    let mut device = EmulatedDevice::new(&target, &[]);
    let none = Artifact { payloads: Vec::new(), kernels: Vec::new(), accepted_by: None };
    assert!(matches!(device.load(&none), Err(DeviceError::BadLaunch(message)) if message.contains("no kernel IR")));
    let code = device.load(&build_emulator_artifact(&Module { kernels: vec![kernel(&copy(""))] }, &[])).unwrap();
    let [from, to] = [32, 32].map(|bytes| device.allocate(bytes).unwrap());
    assert_eq!(device.read(from, 0, 32), Ok(vec![0; 32]), "memory is zeroed");
    let launch = |kernel: &str, buffers: [_; 2]| LaunchRequest {
        code,
        kernel: kernel.to_owned(),
        grid: [1, 1, 1],
        arguments: buffers.map(LaunchArgument::Buffer).to_vec(),
    };
    let launched = device.launch(&launch("copy", [from, to])).unwrap();
    assert!(launched.counts.is_some() && launched.sectors.is_some_and(|sectors| sectors.loaded == sectors.stored));
    assert!(matches!(device.launch(&launch("other", [from, to])), Err(DeviceError::BadLaunch(_))));
    device.free(to);
    assert!(matches!(device.launch(&launch("copy", [from, to])), Err(DeviceError::BadBuffer(_))));
    let small = device.allocate(16).unwrap();
    assert!(matches!(device.launch(&launch("copy", [from, small])), Err(DeviceError::Fault(_))));
    let fault = device.take_fault().unwrap();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }) && fault.location.is_some(), "{fault}");
    device.unload(code);
    assert!(matches!(device.launch(&launch("copy", [from, small])), Err(DeviceError::BadLaunch(_))));
}

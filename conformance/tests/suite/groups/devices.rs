//! Tests of cases on devices: the device's results decide, and without a device nothing passes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use conformance::groups::dot::Dots;
use conformance::groups::instructions::Instructions;
use conformance::{Case, CaseGroup, Context, EvidenceLevel, Status, Verdict, list_cases};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_plugin::{
    Artifact, CompileError, CompileOptions, Device, DeviceBufferId, DeviceError, LaunchRequest, LaunchStats,
    LoadedCodeId, Target,
};
use tilewright_target::{Instruction, TargetDescription};
use tilewright_verify::{EmulatedDevice, build_emulator_artifact};

use super::invented::{Flaw, Invented};

/// The behaviour of a test device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeviceBehavior {
    /// The device is correct.
    Right,
    /// The device loses the last byte that a launch writes.
    LosesAByte,
    /// The device runs nothing and reports success.
    Idle,
    /// The device has too few lanes.
    TooSmall,
    /// The plugin's process ends at the first launch.
    Lost,
    /// The target has no device.
    Absent,
    /// The vendor's runtime is missing.
    NoRuntime,
}

/// The invented GPU, with a device that runs kernels on the emulator.
struct WithDevice {
    target: &'static Invented,
    behavior: DeviceBehavior,
    opened: AtomicU32,
}

impl Target for WithDevice {
    fn description(&self) -> &TargetDescription {
        self.target.description()
    }

    fn families(&self) -> &dyn Families {
        self.target.families()
    }

    fn instructions(&self) -> &[Instruction] {
        self.target.instructions()
    }

    fn compile(&self, module: &Module, _: &CompileOptions) -> Result<Artifact, CompileError> {
        Ok(build_emulator_artifact(module, self.target.instructions()))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        let opened = self.opened.fetch_add(1, Ordering::Relaxed);
        let behavior =
            if self.behavior == DeviceBehavior::Lost && opened > 0 { DeviceBehavior::Right } else { self.behavior };
        let device = EmulatedDevice::new(self.target.description(), self.target.instructions());
        match behavior {
            DeviceBehavior::Absent => Ok(Vec::new()),
            DeviceBehavior::NoRuntime => Err(DeviceError::NoRuntime("install the runtime".to_owned())),
            behavior => Ok(vec![Box::new(FaultyDevice { device, behavior, buffers: HashMap::new() })]),
        }
    }
}

/// A device based on the emulator, with one of the behaviours.
struct FaultyDevice {
    device: EmulatedDevice<'static>,
    behavior: DeviceBehavior,
    /// Size in bytes of each allocated buffer.
    buffers: HashMap<DeviceBufferId, u64>,
}

impl Device for FaultyDevice {
    fn name(&self) -> String {
        "the emulator".to_owned()
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        let buffer = self.device.allocate(bytes)?;
        self.buffers.insert(buffer, bytes);
        Ok(buffer)
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        self.buffers.remove(&buffer).expect("a buffer is freed once");
        self.device.free(buffer);
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.write(buffer, offset, bytes)
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.device.read(buffer, offset, bytes)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        match self.behavior {
            DeviceBehavior::TooSmall => Err(DeviceError::Unsupported("only one lane".to_owned())),
            _ => self.device.load(artifact),
        }
    }

    fn unload(&mut self, code: LoadedCodeId) {
        assert!(self.buffers.is_empty(), "a case leaves no memory behind");
        self.device.unload(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        match self.behavior {
            DeviceBehavior::Lost => return Err(DeviceError::Plugin("its process ended".to_owned())),
            DeviceBehavior::Idle => return Ok(LaunchStats::default()),
            _ => {}
        }
        let mut last = Vec::new();
        for (&buffer, &bytes) in self.buffers.iter().filter(|_| self.behavior == DeviceBehavior::LosesAByte) {
            last.push((buffer, bytes - 1, self.device.read(buffer, bytes - 1, 1)?));
        }
        let launched = self.device.launch(launch)?;
        for (buffer, offset, before) in last {
            self.device.write(buffer, offset, &before)?;
        }
        Ok(launched)
    }
}

fn context(behavior: DeviceBehavior) -> Context {
    let target: &Invented = Box::leak(Box::new(Invented::new(Flaw::None)));
    Context::new(Arc::new(WithDevice { target, behavior, opened: AtomicU32::new(0) })).with_devices()
}

fn cases(context: &Context, leading: &str) -> Vec<Case> {
    let groups: [Box<dyn CaseGroup>; 2] = [Box::new(Dots), Box::new(Instructions)];
    let cases = list_cases(&groups, context).expect("names are right");
    cases.into_iter().filter(|case| case.name().starts_with(leading)).collect()
}

/// Returns the verdicts on a dot by the MMA instruction, on a dot by multiply-adds, and on the group of instructions.
fn verdicts(behavior: DeviceBehavior) -> Vec<Verdict> {
    let context = context(behavior);
    let leading =
        ["dot/device/plain/f16-f16-f16/16x16x16/", "dot/device/small/i8-i8-i32/2x4x2/", "instructions/device/"];
    let all: Vec<_> = leading.iter().flat_map(|leading| cases(&context, leading)).collect();
    assert_eq!(all.len(), 4);
    all.iter().map(|case| case.run(&context)).collect()
}

#[test]
fn every_dot_and_instruction_is_a_case_if_devices_are_requested() {
    let with = context(DeviceBehavior::Absent);
    assert_eq!(cases(&with, "dot/device/").len(), cases(&with, "dot/emulated/").len());
    assert_eq!(cases(&with, "instructions/device/").len(), with.target().instructions().len());
    let without = Context::new(Arc::new(Invented::new(Flaw::None)));
    assert!(cases(&without, "dot/device/").is_empty() && cases(&without, "instructions/device/").is_empty());
}

#[test]
fn what_a_device_computes_right_passes_at_that_level_and_names_it() {
    for verdict in verdicts(DeviceBehavior::Right) {
        assert_eq!((verdict.status, verdict.level), (Status::Pass, Some(EvidenceLevel::Device)), "{verdict:?}");
        assert!(verdict.detail.ends_with("on the emulator"), "{verdict:?}");
    }
}

#[test]
fn what_it_computes_wrong_or_not_at_all_fails() {
    for behavior in [DeviceBehavior::LosesAByte, DeviceBehavior::Idle] {
        for verdict in verdicts(behavior) {
            assert_eq!(
                (verdict.status, verdict.level),
                (Status::Fail, Some(EvidenceLevel::Device)),
                "{behavior:?}: {verdict:?}"
            );
        }
    }
}

#[test]
fn without_a_device_nothing_passes() {
    for (behavior, status, reason) in [
        (DeviceBehavior::Absent, Status::Skip, "no device of the target"),
        (DeviceBehavior::NoRuntime, Status::Skip, "install the runtime"),
        (DeviceBehavior::TooSmall, Status::Unsupported, "only one lane"),
    ] {
        for verdict in verdicts(behavior) {
            assert_eq!((verdict.status, verdict.level), (status, None), "{behavior:?}: {verdict:?}");
            assert!(verdict.detail.contains(reason), "{verdict:?}");
        }
    }
}

#[test]
fn a_lost_device_is_a_crash_of_one_case_and_reopened() {
    let statuses: Vec<_> = verdicts(DeviceBehavior::Lost).iter().map(|verdict| verdict.status).collect();
    assert_eq!(statuses, [Status::Crash, Status::Pass, Status::Pass, Status::Pass]);
}

//! Cases on devices: what a device computes decides, and where there is none nothing has passed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use conformance::groups::dot::Dots;
use conformance::groups::instructions::Instructions;
use conformance::{Case, Context, Group, Level, Status, Verdict, list};
use tilewright_kernel::Module;
use tilewright_layout::Families;
use tilewright_plugin::{
    Artifact, CompileError, CompileOptions, Device, DeviceBuffer, DeviceError, LaunchRequest, Launched, LoadedCode,
    Target,
};
use tilewright_target::{Instruction, TargetDescription};
use tilewright_verify::{EmulatedDevice, kernel_ir};

use super::invented::{Flaw, Invented};

/// How a device goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Right.
    Right,
    /// The last byte that a launch writes is lost.
    LosesAByte,
    /// It runs nothing and says that it did.
    Idle,
    /// Its lanes are too few.
    TooSmall,
    /// Its plugin ends at the first launch.
    Lost,
    /// There is none.
    Absent,
    /// Its runtime is missing.
    NoRuntime,
}

/// The invented GPU with a device that runs kernels on the emulator.
struct WithDevice {
    target: &'static Invented,
    way: Way,
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
        Ok(kernel_ir(module, self.target.instructions()))
    }

    fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        let opened = self.opened.fetch_add(1, Ordering::Relaxed);
        let way = if self.way == Way::Lost && opened > 0 { Way::Right } else { self.way };
        let device = EmulatedDevice::new(self.target.description(), self.target.instructions());
        match way {
            Way::Absent => Ok(Vec::new()),
            Way::NoRuntime => Err(DeviceError::NoRuntime("install the runtime".to_owned())),
            way => Ok(vec![Box::new(Wayward { device, way, buffers: HashMap::new() })]),
        }
    }
}

/// The emulator, which goes about it in some way.
struct Wayward {
    device: EmulatedDevice<'static>,
    way: Way,
    /// The bytes of each buffer that is there.
    buffers: HashMap<DeviceBuffer, u64>,
}

impl Device for Wayward {
    fn name(&self) -> String {
        "the emulator".to_owned()
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBuffer, DeviceError> {
        let buffer = self.device.allocate(bytes)?;
        self.buffers.insert(buffer, bytes);
        Ok(buffer)
    }

    fn free(&mut self, buffer: DeviceBuffer) {
        self.buffers.remove(&buffer).expect("a buffer is freed once");
        self.device.free(buffer);
    }

    fn write(&mut self, buffer: DeviceBuffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.write(buffer, offset, bytes)
    }

    fn read(&mut self, buffer: DeviceBuffer, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.device.read(buffer, offset, bytes)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCode, DeviceError> {
        match self.way {
            Way::TooSmall => Err(DeviceError::Unsupported("only one lane".to_owned())),
            _ => self.device.load(artifact),
        }
    }

    fn unload(&mut self, code: LoadedCode) {
        assert!(self.buffers.is_empty(), "a case leaves no memory behind");
        self.device.unload(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<Launched, DeviceError> {
        match self.way {
            Way::Lost => return Err(DeviceError::Plugin("its process ended".to_owned())),
            Way::Idle => return Ok(Launched::default()),
            _ => {}
        }
        let mut last = Vec::new();
        for (&buffer, &bytes) in self.buffers.iter().filter(|_| self.way == Way::LosesAByte) {
            last.push((buffer, bytes - 1, self.device.read(buffer, bytes - 1, 1)?));
        }
        let launched = self.device.launch(launch)?;
        for (buffer, offset, before) in last {
            self.device.write(buffer, offset, &before)?;
        }
        Ok(launched)
    }
}

fn context(way: Way) -> Context {
    let target: &Invented = Box::leak(Box::new(Invented::new(Flaw::None)));
    Context::new(Arc::new(WithDevice { target, way, opened: AtomicU32::new(0) })).with_devices()
}

fn cases(context: &Context, leading: &str) -> Vec<Case> {
    let groups: [Box<dyn Group>; 2] = [Box::new(Dots), Box::new(Instructions)];
    let cases = list(&groups, context).expect("names are right");
    cases.into_iter().filter(|case| case.name().starts_with(leading)).collect()
}

/// The verdicts on a product by the instruction, on one by multiply-adds, and on the instructions.
fn verdicts(way: Way) -> Vec<Verdict> {
    let context = context(way);
    let leading =
        ["dot/device/plain/f16-f16-f16/16x16x16/", "dot/device/small/i8-i8-i32/2x4x2/", "instructions/device/"];
    let all: Vec<_> = leading.iter().flat_map(|leading| cases(&context, leading)).collect();
    assert_eq!(all.len(), 4);
    all.iter().map(|case| case.run(&context)).collect()
}

#[test]
fn every_dot_and_row_is_a_case_where_devices_are_asked_for() {
    let with = context(Way::Absent);
    assert_eq!(cases(&with, "dot/device/").len(), cases(&with, "dot/emulated/").len());
    assert_eq!(cases(&with, "instructions/device/").len(), with.target().instructions().len());
    let without = Context::new(Arc::new(Invented::new(Flaw::None)));
    assert!(cases(&without, "dot/device/").is_empty() && cases(&without, "instructions/device/").is_empty());
}

#[test]
fn what_a_device_computes_right_passes_at_that_level_and_names_it() {
    for verdict in verdicts(Way::Right) {
        assert_eq!((verdict.status, verdict.level), (Status::Pass, Some(Level::Device)), "{verdict:?}");
        assert!(verdict.detail.ends_with("on the emulator"), "{verdict:?}");
    }
}

#[test]
fn what_it_computes_wrong_or_not_at_all_fails() {
    for way in [Way::LosesAByte, Way::Idle] {
        for verdict in verdicts(way) {
            assert_eq!((verdict.status, verdict.level), (Status::Fail, Some(Level::Device)), "{way:?}: {verdict:?}");
        }
    }
}

#[test]
fn without_a_device_nothing_passes() {
    for (way, status, reason) in [
        (Way::Absent, Status::Skip, "no device of the target"),
        (Way::NoRuntime, Status::Skip, "install the runtime"),
        (Way::TooSmall, Status::Unsupported, "only one lane"),
    ] {
        for verdict in verdicts(way) {
            assert_eq!((verdict.status, verdict.level), (status, None), "{way:?}: {verdict:?}");
            assert!(verdict.detail.contains(reason), "{verdict:?}");
        }
    }
}

#[test]
fn a_lost_device_is_a_crash_of_one_case_and_opened_again() {
    let statuses: Vec<_> = verdicts(Way::Lost).iter().map(|verdict| verdict.status).collect();
    assert_eq!(statuses, [Status::Crash, Status::Pass, Status::Pass, Status::Pass]);
}

//! Level Zero: makes every call of the host on a GPU that the vendor's driver simulates. The simulated GPU computes
//! nothing, so results are not checked.
//!
//! Needs Debian's packages `libze1` and `intel-opencl-icd`.

use std::process::{Command, ExitCode, Output};

use crate::validated_target::{ValidatedTarget, target};
use tilewright_plugin::LoadedCodeId;
use tilewright_vendor_testkit::prelude::*;

/// Environment variables that make Debian's driver create a GPU of this model without hardware (documentation of the
/// driver's debug keys).
const SIMULATION: [(&str, &str); 4] = [
    ("NEOReadDebugKeys", "1"),
    ("SetCommandStreamReceiver", "1"),
    ("ProductFamilyOverride", "pvc"),
    ("HardwareInfoOverride", "1x4x8"),
];
/// The output of a process after all calls succeeded.
const DONE: &str = "all calls were made";

/// Returns a kernel that stores a scalar at the address of its pointer argument.
fn storing(target: &ValidatedTarget) -> Artifact {
    let parameters = [("out", Type::Pointer(MemorySpace::Global)), ("value", Type::Scalar(Element::I32))];
    let mut builder = Builder::new("storing", StaticLaunchConfig::new(16, 2), &parameters);
    let (out, value) = (builder.parameter(0), builder.parameter(1));
    let block = builder.special(SpecialRegister::Program(0));
    let sum = builder.binary(tilewright_kernel::Binary::Add, block, value);
    builder.store(out, 0, sum, None);
    target.compile(&Module { kernels: vec![builder.finish()] }, &CompileOptions::default()).expect("it compiles")
}

/// Runs a new process of this test program, which makes the calls; the driver reads its settings only once in a
/// process.
fn simulated(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("tests have a program"));
    // The driver writes the commands for the GPU to files in the working directory.
    child.args(arguments).envs(SIMULATION).current_dir(folder.path()).output().expect("it starts")
}

/// Whether this process has the environment variables that make the driver simulate a GPU.
pub fn is_simulated() -> bool {
    std::env::var_os(SIMULATION[0].0).is_some()
}

/// Returns the reason why this machine simulates no GPU; `None` if it does.
pub fn missing() -> Option<String> {
    let output = if is_simulated() { return None } else { simulated(&[PROBE]) };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (!output.status.success()).then(|| printed.lines().last().unwrap_or("the driver ended without a word").to_owned())
}

/// Argument that makes a process of this test program search for the simulated GPU and print why there is none.
pub const PROBE: &str = "look-for-a-simulated-gpu";

/// Runs in the process with the argument [`PROBE`]: searches for the simulated GPU.
pub fn probe() -> ExitCode {
    let why = match target("max1550").devices() {
        Ok(devices) if devices.iter().any(|device| device.name().contains("Level Zero")) => return ExitCode::SUCCESS,
        Ok(_) => "Level Zero has no driver that simulates a GPU".to_owned(),
        Err(error) => error.to_string(),
    };
    println!("{}", why.replace('\n', " "));
    ExitCode::FAILURE
}

pub fn every_call_works_on_a_simulated_gpu() {
    if is_simulated() {
        return all_calls();
    }
    let output = simulated(&["--exact", "level_zero::every_call_works_on_a_simulated_gpu"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains(DONE), "{printed}");
}

fn all_calls() {
    let target = target("max1550");
    let devices = target.devices().unwrap_or_else(|error| panic!("{error}"));
    let found = devices.into_iter().find(|device| device.name().contains("Level Zero"));
    let mut device = found.expect("a simulated GPU");
    assert!(device.name().contains("0x0bd5"), "{}", device.name());
    let artifact = storing(&target);
    let buffer = device.allocate(256).expect("memory");
    device.write(buffer, 16, &[1, 2, 3]).expect("it is written");
    assert_eq!(device.read(buffer, 0, 256).expect("it is read").len(), 256);
    let code = device.load(&artifact).expect("it is loaded");
    let launch = |kernel: &str, arguments: Vec<LaunchArgument>| LaunchRequest {
        code,
        kernel: kernel.to_owned(),
        grid: [2, 1, 1],
        arguments,
    };
    let arguments = vec![LaunchArgument::Buffer(buffer), LaunchArgument::Scalar { bits: 7, width: 32 }];
    device.launch(&launch("storing", arguments.clone())).expect("it is launched");
    device.launch(&launch("storing", arguments.clone())).expect("and again");

    let bad = |outcome| matches!(outcome, Err(DeviceError::BadLaunch(_)));
    assert!(bad(device.launch(&launch("loading", arguments.clone()))), "there is no such kernel");
    assert!(bad(device.launch(&launch("storing", arguments[..1].to_vec()))), "an argument is missing");
    assert!(bad(device.launch(&LaunchRequest { code: LoadedCodeId(999), ..launch("storing", arguments) })));
    assert!(matches!(device.read(buffer, 200, 57), Err(DeviceError::BadBuffer(_))));
    let mut broken = artifact.clone();
    for payload in &mut broken.payloads {
        payload.bytes.fill(0xa5);
    }
    assert!(matches!(device.load(&broken), Err(DeviceError::BadLaunch(_))), "what is not SPIR-V reaches no driver");
    let mut wide = artifact;
    wide.kernels[0].lanes = 64;
    assert!(matches!(device.load(&wide), Err(DeviceError::Unsupported(_))), "no GPU has warps of 64 lanes");
    device.unload(code);
    device.free(buffer);
    eprintln!("{DONE}");
}

//! Tests that a plugin's devices behave the same whether the plugin is linked, loaded here, or in a process of its own.
//!
//! If called as `plugin_devices plugin-host FILE`, this test executable is that process.

use tilewright_testkit::plugin_fixtures as fixtures;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use fixtures::{c_library, fixture, module, plain};
use libtest_mimic::{Arguments, Trial};
use tilewright_plugin as plugin;
use tilewright_plugin::{
    Artifact, CompileOptions, Device, DeviceBufferId, DeviceError, LaunchArgument, LaunchRequest, LaunchStats,
    LoadedCodeId, Target,
};
use tilewright_plugin::{PluginHostCommand, Registry};

const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let ["plugin-host", file] = arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        return plugin::serve_plugin(Path::new(file)).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let tests: [(&str, fn()); 9] = [
        ("devices look the same wherever they are", devices_look_the_same_wherever_they_are),
        ("errors keep their kind", errors_keep_their_kind),
        ("what is missing is said", missing_runtimes_are_reported),
        ("memory of more than a piece crosses", memory_of_more_than_a_piece_crosses),
        ("devices of a set are independent", devices_of_a_set_are_independent),
        ("devices outlive their target's last user", devices_outlive_their_targets_last_user),
        ("an abort loses the devices, not the target", an_abort_loses_the_devices_not_the_target),
        ("a launch that hangs ends at the limit", a_launch_that_hangs_ends_at_the_limit),
        ("extensions in C are found, and broken ones refused", extensions_in_c_are_found_and_broken_ones_refused),
    ];
    let tests = tests.into_iter().map(|(name, test)| {
        Trial::test(name.replace(' ', "_"), move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

fn isolated(limit: Duration) -> Registry {
    let program = std::env::current_exe().expect("this executable");
    Registry::new_isolated(PluginHostCommand::new(program, ["plugin-host"]), limit)
}

fn target_in(mut registry: Registry, file: &Path, architecture: &str, gpu_model: &str) -> Arc<dyn Target> {
    registry.load(file).expect("a plugin that loads");
    registry.create_target(&tilewright_fixture::description(architecture, gpu_model)).expect("a target")
}

/// Returns the test plugin's target for `gpu_model`: linked, loaded in this process, and in a process of its own.
fn everywhere(gpu_model: &str) -> [Arc<dyn Target>; 3] {
    let linked =
        Registry::new().create_target(&tilewright_fixture::description("fixture1", gpu_model)).expect("a target");
    let loaded = target_in(Registry::new(), &fixture(), "fixture1", gpu_model);
    [linked, loaded, target_in(isolated(PATIENCE), &fixture(), "fixture1", gpu_model)]
}

fn first(target: &Arc<dyn Target>) -> Box<dyn Device> {
    target.devices().expect("devices").remove(0)
}

fn artifact(target: &Arc<dyn Target>) -> Artifact {
    target.compile(&module("any"), &CompileOptions::default()).expect("code")
}

fn launch(code: LoadedCodeId, kernel: &str, arguments: &[LaunchArgument]) -> LaunchRequest {
    LaunchRequest { code, kernel: kernel.to_owned(), grid: [2, 1, 1], arguments: arguments.to_vec() }
}

fn devices_look_the_same_wherever_they_are() {
    for target in everywhere("works") {
        let mut devices = target.devices().expect("devices");
        assert_eq!(devices.iter().map(|device| device.name()).collect::<Vec<_>>(), ["noop 0", "noop 1"]);
        let device = &mut devices[1];
        let buffer = device.allocate(8).expect("memory");
        device.write(buffer, 2, &[1, 2, 3]).expect("written");
        let code = device.load(&artifact(&target)).expect("loaded");
        let arguments = [LaunchArgument::Buffer(buffer), LaunchArgument::Scalar { bits: 5, width: 8 }];
        let launched = device.launch(&launch(code, "add", &arguments));
        assert_eq!(launched, Ok(LaunchStats { nanoseconds: Some(8), ..LaunchStats::default() }));
        assert_eq!(device.read(buffer, 0, 8), Ok(vec![10, 10, 11, 12, 13, 10, 10, 10]));
        assert_eq!(device.read(buffer, 3, 2), Ok(vec![12, 13]));
        assert_eq!(device.read(buffer, 8, 0), Ok(Vec::new()));
        device.unload(code);
        assert!(matches!(device.launch(&launch(code, "add", &arguments)), Err(DeviceError::BadLaunch(_))));
        device.free(buffer);
        assert!(matches!(device.read(buffer, 0, 1), Err(DeviceError::BadBuffer(_))));
    }
}

fn errors_keep_their_kind() {
    let [linked, loaded, isolated] = everywhere("works").map(|target| {
        let mut device = first(&target);
        let code = device.load(&artifact(&target)).expect("loaded");
        let empty = Artifact { payloads: Vec::new(), kernels: Vec::new(), accepted_by: None };
        let mut launched = |kernel| device.launch(&launch(code, kernel, &[])).map(|_| ());
        let mut errors = vec![launched("faults"), launched("driver"), launched("unsupported"), launched("nothing")];
        errors.push(device.allocate(1 << 40).map(|_| ()));
        errors.push(device.write(DeviceBufferId(4711), 0, &[]));
        errors.push(device.load(&empty).map(|_| ()));
        errors
    });
    assert!(linked.iter().all(Result::is_err));
    assert!(matches!(
        linked[..5],
        [
            Err(DeviceError::Fault(_)),
            Err(DeviceError::Driver(_)),
            Err(DeviceError::Unsupported(_)),
            Err(DeviceError::BadLaunch(_)),
            Err(DeviceError::OutOfMemory(0x100_0000_0000)),
        ]
    ));
    assert_eq!(linked, loaded);
    assert_eq!(linked, isolated);
    for target in &everywhere("works")[1..] {
        let mut device = first(target);
        let code = device.load(&artifact(target)).expect("loaded");
        let outcome = device.launch(&launch(code, "panics", &[]));
        assert!(
            matches!(&outcome, Err(DeviceError::Plugin(message)) if message.contains("panicked: kernel panics")),
            "{outcome:?}"
        );
        assert!(device.allocate(1).is_ok(), "the device lives on");
    }
}

fn missing_runtimes_are_reported() {
    for target in everywhere("no runtime") {
        let error = target.devices().err();
        assert_eq!(error, Some(DeviceError::NoRuntime("install nothing".to_owned())));
    }
    for target in everywhere("no devices") {
        assert!(target.devices().expect("an empty list").is_empty());
    }
    for registry in [Registry::new(), isolated(PATIENCE)] {
        let error = target_in(registry, &plain(), "plain1", "works").devices().err();
        assert!(
            matches!(&error, Some(DeviceError::NoRuntime(message)) if message.contains("no `devices` extension")),
            "{error:?}"
        );
    }
}

fn memory_of_more_than_a_piece_crosses() {
    let size = (33 << 20) + 5;
    let bytes: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
    let mut device = first(&everywhere("works")[2]);
    let buffer = device.allocate(size as u64 + 2).expect("memory");
    device.write(buffer, 1, &bytes).expect("written");
    assert!(device.read(buffer, 1, size as u64) == Ok(bytes), "what was written is read");
    assert_eq!(device.read(buffer, 0, 1), Ok(vec![0]));
    assert_eq!(device.read(buffer, size as u64 + 1, 1), Ok(vec![0]));
    assert!(matches!(device.write(buffer, u64::MAX, &[1]), Err(DeviceError::BadBuffer(_))));
    assert!(matches!(device.read(buffer, 0, u64::MAX), Err(DeviceError::BadBuffer(_))));
}

fn devices_of_a_set_are_independent() {
    for target in everywhere("works") {
        let mut devices = target.devices().expect("devices");
        let buffer = devices[0].allocate(1).expect("memory");
        assert!(devices[1].read(buffer, 0, 1).is_err());
        let mut reopened = target.devices().expect("devices");
        assert!(reopened[0].read(buffer, 0, 1).is_err(), "another set has devices of its own");
        drop(devices);
        assert!(reopened[1].allocate(1).is_ok(), "one set lives on where another is closed");
    }
}

fn devices_outlive_their_targets_last_user() {
    for target in everywhere("works") {
        let mut device = first(&target);
        drop(target);
        assert!(device.allocate(1).is_ok());
    }
}

fn an_abort_loses_the_devices_not_the_target() {
    let target = target_in(isolated(PATIENCE), &fixture(), "fixture1", "works");
    let mut device = first(&target);
    let code = device.load(&artifact(&target)).expect("loaded");
    let outcome = device.launch(&launch(code, "aborts", &[]));
    assert!(
        matches!(&outcome, Err(DeviceError::Plugin(message)) if message.contains("SIGABRT) while running a kernel")),
        "{outcome:?}"
    );
    let outcome = device.allocate(1);
    assert!(
        matches!(&outcome, Err(DeviceError::Plugin(message)) if message.contains("open them again")),
        "{outcome:?}"
    );
    assert!(first(&target).allocate(1).is_ok());
    assert!(device.allocate(1).is_err(), "the first set stays lost in the new process");
}

fn a_launch_that_hangs_ends_at_the_limit() {
    let target = target_in(isolated(Duration::from_secs(5)), &fixture(), "fixture1", "works");
    let mut device = first(&target);
    let code = device.load(&artifact(&target)).expect("loaded");
    let outcome = device.launch(&launch(code, "hangs", &[]));
    assert!(matches!(&outcome, Err(DeviceError::Plugin(message)) if message.contains("within 5s")), "{outcome:?}");
}

fn extensions_in_c_are_found_and_broken_ones_refused() {
    let devices = |case: &str| {
        let file = c_library("hostile_devices.c", &[&format!("-DCASE={case}")]);
        (target_in(Registry::new(), &file, "plain1", "works").devices(), file)
    };
    let mut device = devices("WHOLE").0.expect("devices").remove(0);
    assert_eq!(device.name(), "64 bytes");
    let buffer = device.allocate(64).expect("memory");
    device.write(buffer, 60, b"abcd").expect("written");
    assert_eq!(device.read(buffer, 61, 3), Ok(b"bcd".to_vec()));
    assert_eq!(device.allocate(65), Err(DeviceError::OutOfMemory(65)));
    assert_eq!(device.read(buffer, 60, 5), Err(DeviceError::BadBuffer("beyond 64: bytes".to_owned())));
    let code =
        device.load(&Artifact { payloads: Vec::new(), kernels: Vec::new(), accepted_by: None }).expect("a number");
    assert_eq!(
        device.launch(&launch(code, "any", &[])),
        Ok(LaunchStats { nanoseconds: Some(4711), ..LaunchStats::default() })
    );
    for (case, why) in [
        ("SMALL_EXTENSION", "where 32 are needed"),
        ("ENDLESS", "no end"),
        ("CUT_OFF", "where 112 are needed"),
        ("NULL_SLOT", "slot `free` is null"),
        ("NOTHING_OPENED", "neither devices nor an error"),
    ] {
        let (outcome, file) = devices(case);
        let Some(DeviceError::Plugin(message)) = outcome.err() else { panic!("{case} is refused") };
        let name = file.file_name().expect("a name").to_string_lossy();
        assert!(message.contains(why) && message.contains(&*name), "{case}: {message}");
    }
    let mut short = devices("SHORT_READ").0.expect("devices").remove(0);
    let buffer = short.allocate(64).expect("memory");
    assert!(matches!(short.read(buffer, 0, 8), Err(DeviceError::Plugin(_))));
}

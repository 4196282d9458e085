//! Tests that a plugin in a process of its own cannot harm the host: faults of the plugin become errors.
//!
//! If called as `plugin_isolation plugin-host FILE`, this test executable is such a process.

use tilewright_testkit::plugin_fixtures as fixtures;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use fixtures::{fixture, hostile, module, plain, scratch};
use libtest_mimic::{Arguments, Trial};
use tilewright_layout::FamilySpec;
use tilewright_layout::families::NeutralFamilies;
use tilewright_plugin as plugin;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Target};
use tilewright_plugin::{
    LoadError, LogLevel, PluginHostCommand, PluginMessageListener, PluginSearchPath, Registry, RegistryError,
};
use tilewright_target::TargetDescription;

const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["plugin-host", file] => serve(Path::new(file)),
        ["leave-a-hang", pid_file] => leave_a_hang(Path::new(pid_file)),
        ["list-plugins"] => list_plugins(),
        _ => run_tests(),
    }
}

/// Serves the plugin `file` over standard streams, like the command `tilewright plugin-host`.
fn serve(file: &Path) -> ExitCode {
    match plugin::serve_plugin(file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_tests() -> ExitCode {
    plugin::set_plugin_message_listener(Box::new(Heard));
    let tests: [(&str, fn()); 15] = [
        ("an isolated plugin looks like any other", an_isolated_plugin_looks_like_any_other),
        ("a plugin in C is served too", a_plugin_in_c_is_served_too),
        ("tables that a manifest vouches for start no process", tables_that_a_manifest_vouches_for_start_no_process),
        ("an abort is an error and the next call works", an_abort_is_an_error_and_the_next_call_works),
        ("a hang ends at the limit and the next call works", a_hang_ends_at_the_limit_and_the_next_call_works),
        ("ending as if all were well is an error", ending_as_if_all_were_well_is_an_error),
        ("a panic is an error of the same process", a_panic_is_an_error_of_the_same_process),
        ("c plugins that crash are named with their signal", c_plugins_that_crash_are_named_with_their_signal),
        ("what a plugin prints does no harm", what_a_plugin_prints_does_no_harm),
        ("a plugin that never starts is not tried for ever", a_plugin_that_never_starts_is_not_tried_for_ever),
        ("a library that cannot be loaded is told as in this process", an_unloadable_library_is_reported_as_in_process),
        ("a host that cannot be started is named", a_host_that_cannot_be_started_is_named),
        ("logs and progress arrive", logs_and_progress_arrive),
        ("a process that hangs does not outlive its host for long", a_process_that_hangs_does_not_outlive_its_host),
        ("the environment names directories and asks for a trace", the_environment_names_directories),
    ];
    let tests = tests.into_iter().map(|(name, test)| {
        Trial::test(name.replace(' ', "_"), move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), tests.collect()).exit_code()
}

fn host() -> PluginHostCommand {
    PluginHostCommand::new(std::env::current_exe().expect("this executable"), ["plugin-host"])
}

fn description(architecture: &str) -> TargetDescription {
    tilewright_fixture::description(architecture, "works")
}

fn target(file: &Path, architecture: &str, limit: Duration) -> Result<Arc<dyn Target>, RegistryError> {
    let mut registry = Registry::new_isolated(host(), limit);
    registry.load(file)?;
    registry.create_target(&description(architecture))
}

fn compile(target: &Arc<dyn Target>, kernel: &str) -> Result<Artifact, CompileError> {
    target.compile(&module(kernel), &CompileOptions::default())
}

/// Returns the message of a plugin's failure, after a check that it names the library and a remedy.
fn failure(outcome: Result<Artifact, CompileError>, file: &Path) -> String {
    match outcome {
        Err(CompileError::Plugin(message)) => {
            let name = file.file_name().expect("a file name").to_string_lossy();
            assert!(message.contains(&*name) && message.contains("report"), "{message}");
            message
        }
        other => panic!("a plugin failure was expected, not {other:?}"),
    }
}

fn an_isolated_plugin_looks_like_any_other() {
    let isolated = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    let mut registry = Registry::new();
    registry.load(&fixture()).expect("the fixture plugin");
    let here = registry.create_target(&description("fixture1")).expect("a target");
    assert_eq!(isolated.description(), here.description());
    assert_eq!(isolated.instructions(), here.instructions());
    assert_eq!(isolated.families().names(), here.families().names());
    for kernel in ["any", "unsupported", "option"] {
        assert_eq!(compile(&isolated, kernel), compile(&here, kernel));
    }
    for spec in [FamilySpec::new("striped"), FamilySpec::new("striped").with_parameter("colour", 1)] {
        let ask = |target: &Arc<dyn Target>| target.families().resolve(&spec, &[32], &NeutralFamilies);
        assert_eq!(ask(&isolated), ask(&here));
    }
}

fn a_plugin_in_c_is_served_too() {
    let target = target(&plain(), "plain1", PATIENCE).expect("a target");
    assert!(compile(&target, "any").is_ok());
}

fn tables_that_a_manifest_vouches_for_start_no_process() {
    let library = scratch("libplugin.so");
    std::fs::copy(fixture(), &library).expect("a copy");
    let deps = fixture();
    let text = std::fs::read_to_string(deps.with_file_name("tilewright_fixture.plugin.toml")).expect("its manifest");
    let of_library = |line: &&str| !line.starts_with("library");
    let text: Vec<_> = text.lines().filter(of_library).chain(["library = 'libplugin.so'"]).collect();
    for vouched in [true, false] {
        let manifest = library.with_file_name(format!("{vouched}.plugin.toml"));
        std::fs::write(&manifest, format!("{}\ntables_in_process = {vouched}\n", text.join("\n"))).expect("a manifest");
        let log = library.with_file_name(format!("starts-{vouched}"));
        let starts = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
        let mut registry = Registry::new_isolated(host_after(&format!("echo start >> {log:?}")), PATIENCE);
        registry.load(&manifest).expect("a plugin");
        let target = registry.create_target(&description("fixture1")).expect("a target");
        assert!(!target.instructions().is_empty());
        assert!(target.families().resolve(&FamilySpec::new("striped"), &[32], &NeutralFamilies).is_ok());
        assert_eq!(starts(), usize::from(!vouched));
        let message = failure(compile(&target, "aborts"), &library);
        assert!(message.contains("signal 6 (SIGABRT) while compiling"), "{message}");
        assert!(compile(&target, "any").is_ok());
        assert_eq!(starts(), 2, "the one that aborted and the next");
    }
}

fn an_abort_is_an_error_and_the_next_call_works() {
    let target = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    for _ in 0..5 {
        let message = failure(compile(&target, "aborts"), &fixture());
        assert!(message.contains("signal 6 (SIGABRT) while compiling"), "{message}");
    }
    assert!(compile(&target, "any").is_ok());
}

fn a_hang_ends_at_the_limit_and_the_next_call_works() {
    let target = target(&fixture(), "fixture1", Duration::from_secs(5)).expect("a target");
    let start = Instant::now();
    let message = failure(compile(&target, "hangs"), &fixture());
    assert!(message.contains("no answer within 5s while compiling"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(compile(&target, "any").is_ok());
}

fn ending_as_if_all_were_well_is_an_error() {
    let target = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    let message = failure(compile(&target, "ends"), &fixture());
    assert!(message.contains("ended with status 0"), "{message}");
    assert!(compile(&target, "any").is_ok());
}

fn a_panic_is_an_error_of_the_same_process() {
    let target = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    let message = failure(compile(&target, "panics"), &fixture());
    assert!(message.contains("panicked: kernel panics"), "{message}");
    assert!(compile(&target, "any").is_ok());
}

fn c_plugins_that_crash_are_named_with_their_signal() {
    for (case, expected) in [("ABORT", "signal 6 (SIGABRT)"), ("SEGFAULT", "signal 11 (SIGSEGV)"), ("EXIT", "status 0")]
    {
        let file = hostile(case);
        let target = target(&file, "hostile1", PATIENCE).expect("a target");
        let message = failure(compile(&target, "any"), &file);
        assert!(message.contains(expected), "{case}: {message}");
        assert_eq!(message.contains("LLVM ERROR: cannot select"), case == "ABORT", "its last words: {message}");
    }
    let error = target(&hostile("ABORT_IN_CREATE"), "hostile1", PATIENCE).err().expect("an error").to_string();
    assert!(
        error.contains("libplugin.so") && error.contains("SIGABRT") && error.contains("creating a target"),
        "{error}"
    );
}

fn what_a_plugin_prints_does_no_harm() {
    let target_in_rust = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    assert!(compile(&target_in_rust, "prints").is_ok());
    assert!(compile(&target_in_rust, "any").is_ok());
    let target_in_c = target(&hostile("PRINT"), "hostile1", PATIENCE).expect("a target");
    assert!(compile(&target_in_c, "any").is_ok());
}

/// Returns the command that serves a plugin with this test executable, after a shell has run `script`.
fn host_after(script: &str) -> PluginHostCommand {
    let executable = std::env::current_exe().expect("this executable");
    let script = format!("{script}; exec {executable:?} plugin-host \"$0\"");
    PluginHostCommand::new("/bin/sh", ["-c", script.as_str()])
}

fn a_plugin_that_never_starts_is_not_tried_for_ever() {
    let mut registry = Registry::new_isolated(PluginHostCommand::new("/bin/sh", ["-c", "exit 3"]), PATIENCE);
    let error = registry.load(&plain()).cloned().expect_err("no host");
    assert!(error.to_string().contains("status 3") && error.to_string().contains("libplugin.so"), "{error}");

    let broken = scratch("broken");
    let starts = broken.with_file_name("starts");
    let command = host_after(&format!("echo start >> {starts:?}; test -e {broken:?} && exit 3"));
    let mut registry = Registry::new_isolated(command, PATIENCE);
    registry.load(&fixture()).expect("a plugin");
    let target = registry.create_target(&description("fixture1")).expect("a target");
    failure(compile(&target, "aborts"), &fixture());
    std::fs::write(&broken, "").expect("a file");
    let errors: Vec<_> = (0..6).map(|_| compile(&target, "any").expect_err("no host").to_string()).collect();
    assert!(errors[2].contains("status 3") && errors[3].contains("no longer started"), "{errors:?}");
    let starts = std::fs::read_to_string(&starts).expect("the starts");
    assert_eq!(starts.lines().count(), 1 + 3, "one that worked, three that did not");
}

/// Makes a plugin hang in its process, then exits before the hang is detected.
fn leave_a_hang(pid_file: &Path) -> ExitCode {
    let mut registry = Registry::new_isolated(host_after(&format!("echo $$ > {pid_file:?}")), Duration::from_secs(5));
    registry.load(&fixture()).expect("a plugin");
    let target = registry.create_target(&description("fixture1")).expect("a target");
    std::thread::spawn(move || compile(&target, "hangs"));
    std::thread::sleep(Duration::from_millis(1500));
    std::process::exit(0)
}

fn a_process_that_hangs_does_not_outlive_its_host() {
    let pid_file = scratch("pid");
    let executable = std::env::current_exe().expect("this executable");
    let status = Command::new(executable).arg("leave-a-hang").arg(&pid_file).status().expect("this executable");
    assert!(status.success());
    let pid = std::fs::read_to_string(&pid_file).expect("a process number").trim().to_owned();
    // A process that has ended stays listed, in state Z, until its parent reaps it.
    let runs = || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|state| !state.contains(") Z"));
    assert!(runs(), "it still hangs when its host has ended");
    let start = Instant::now();
    while runs() {
        assert!(start.elapsed() < Duration::from_secs(30), "process {pid} hangs for ever");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn list_plugins() -> ExitCode {
    let mut registry = Registry::new();
    registry.discover(&PluginSearchPath::default_search()).expect("no file was named");
    for plugin in registry.plugins() {
        println!("{:?} {} {:?}", plugin.origin, plugin.name, plugin.file);
    }
    ExitCode::SUCCESS
}

fn the_environment_names_directories() {
    let manifest = scratch("elsewhere.plugin.toml");
    let text = "name = 'elsewhere'\nversion = '1'\nlibrary = 'libplugin.so'\nabi_major = 1\nabi_minor = 0\n\
                architectures = ['elsewhere1']\n";
    std::fs::write(&manifest, text).expect("a manifest");
    let library = manifest.with_file_name("libplugin.so");
    std::fs::copy(plain(), &library).expect("a copy");
    std::fs::write(manifest.with_file_name("bad.plugin.toml"), "nonsense").expect("a manifest");
    let list = |debug: &str| {
        Command::new(std::env::current_exe().expect("this executable"))
            .arg("list-plugins")
            .env("TILEWRIGHT_PLUGIN_PATH", manifest.parent().expect("a directory"))
            .env("TILEWRIGHT_PLUGIN_DEBUG", debug)
            .output()
            .expect("this executable")
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let quiet = list("0");
    let listed = text(&quiet.stdout);
    let at = |name: &str| listed.find(&format!("Discovered {name}")).unwrap_or_else(|| panic!("{name} in {listed}"));
    assert!(at("elsewhere") < at("fixture"), "the variable comes before the executable's directory: {listed}");
    assert_eq!(text(&quiet.stderr), "");
    let traced = text(&list("1").stderr);
    for expected in ["elsewhere.plugin.toml: accepted", "bad.plugin.toml: is not a plugin manifest"] {
        assert!(traced.contains(expected), "{traced}");
    }
}

fn an_unloadable_library_is_reported_as_in_process() {
    let garbage = scratch("libgarbage.so");
    std::fs::write(&garbage, "garbage").expect("a file");
    for file in [garbage, hostile("WRONG_MAJOR"), hostile("TRUNCATED_TABLE"), hostile("NULL_SLOT")] {
        let here = Registry::new().load(&file).cloned().expect_err("an error");
        let there = Registry::new_isolated(host(), PATIENCE).load(&file).cloned().expect_err("an error");
        assert!(matches!(there, LoadError::Isolated(_)));
        assert_eq!(here.to_string(), there.to_string());
    }
}

fn a_host_that_cannot_be_started_is_named() {
    let mut registry = Registry::new_isolated(PluginHostCommand::new("/nowhere/host", ["x"]), PATIENCE);
    let error = registry.load(&plain()).cloned().expect_err("no host").to_string();
    assert!(error.contains("/nowhere/host") && error.contains("libplugin.so"), "{error}");
}

static HEARD: OnceLock<Mutex<Vec<String>>> = OnceLock::new();

fn heard() -> &'static Mutex<Vec<String>> {
    HEARD.get_or_init(Mutex::default)
}

struct Heard;

impl PluginMessageListener for Heard {
    fn log(&self, level: LogLevel, message: &str) {
        heard().lock().expect("the list").push(format!("{}: {message}", level.0));
    }

    fn progress(&self, done: u64, total: u64, what: &str) {
        heard().lock().expect("the list").push(format!("{done} of {total} {what}"));
    }
}

fn logs_and_progress_arrive() {
    let isolated = target(&fixture(), "fixture1", PATIENCE).expect("a target");
    let mut registry = Registry::new();
    registry.load(&fixture()).expect("the fixture plugin");
    let here = registry.create_target(&description("fixture1")).expect("a target");
    for target in [isolated, here] {
        heard().lock().expect("the list").clear();
        assert!(compile(&target, "logs").is_ok());
        let heard = heard().lock().expect("the list").clone();
        for expected in ["3: a message from the plugin", "1 of 2 kernels"] {
            assert!(heard.iter().any(|line| line == expected), "{heard:?}");
        }
    }
}

//! Tests of the command with damaged, wrong or hostile plugins: a clear error with the file's name, a non-zero exit
//! code, no endless wait.

use crate::command;
use tilewright_testkit::plugin_fixtures as fixtures;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use command::{BLOCKED, program, run, tilewright};
use fixtures::{c_library, fixture, hostile};
use tempfile::TempDir;

const VENDORS: [(&str, &str); 3] = [("nvidia", "h100"), ("amd", "mi250"), ("intel", "max1550")];

/// The command and the three vendor plugins in a folder of their own, like an installation.
struct Installation {
    folder: TempDir,
}

fn library(vendor: &str) -> String {
    format!("{}tilewright_{vendor}_plugin{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// Puts `file` at the path `at`: as a hard link, which must not be modified, or as a copy if links are impossible.
fn install_file(file: &Path, at: &Path) {
    std::fs::hard_link(file, at).or_else(|_| std::fs::copy(file, at).map(|_| ())).expect("a file in the installation");
}

impl Installation {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let installed = Self { folder };
        install_file(assert_cmd::cargo::cargo_bin!("tilewright"), &installed.file("tilewright"));
        for (vendor, _) in VENDORS {
            for name in [library(vendor), format!("{vendor}.plugin.toml")] {
                install_file(&fixtures::libraries().join(&name), &installed.file(&name));
            }
        }
        installed
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a file of the installation; the linked original stays unchanged.
    fn replace(&self, name: &str, bytes: &[u8]) {
        std::fs::remove_file(self.file(name)).expect("the file that is replaced");
        std::fs::write(self.file(name), bytes).expect("a file");
    }

    fn command(&self) -> Command {
        program(self.file("tilewright"))
    }

    /// Checks that the two commands that need a vendor's plugin report it as unusable, with the file's name and a
    /// remedy, and that other vendors are still served.
    fn refuses(&self, vendor: &str, expected: &[&str]) {
        for (name, target) in VENDORS {
            let printed = run(&mut compiling(self.command(), target));
            if name == vendor {
                clear(printed.failed(1), expected);
            } else {
                assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{name} is served as before");
            }
        }
        let target = VENDORS.iter().find(|(name, _)| *name == vendor).expect("a vendor").1;
        // A neutral layout opens no plugin; a vendor's family does.
        let layout = ["layout", "--target", target, "--shape", "16x8", NOT_NEUTRAL];
        clear(run(self.command().args(layout)).failed(1), expected);
    }
}

/// A layout of a family that a vendor's plugin serves.
const NOT_NEUTRAL: &str =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";

fn clear(message: &str, expected: &[&str]) {
    for phrase in expected {
        assert!(message.contains(phrase), "no `{phrase}` in: {message}");
    }
    assert!(["install", "report", "chmod", "name "].iter().any(|remedy| message.contains(remedy)), "{message}");
}

fn compiling(mut command: Command, target: &str) -> Command {
    // Lanes of a warp on each requested target.
    let threads = if target == "mi250" { "[8, 8]" } else { "[4, 8]" };
    let layout = BLOCKED.replace("[4, 8]", threads);
    command.args(["convert", "--target", target, "--shape", "8x16", "--element", "f16", "--emit", "asm"]);
    command.args([&layout, &layout]);
    command
}

#[test]
fn an_installation_serves_all() {
    let installed = Installation::new();
    for (vendor, target) in VENDORS {
        let printed = run(&mut compiling(installed.command(), target));
        assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{vendor}");
        assert!(printed.out.contains("convert"), "{vendor}");
    }
}

/// Listing targets opens no library, since manifests suffice.
#[test]
fn listing_targets_opens_nothing() {
    let installed = Installation::new();
    let (opened, marker) = (c_library("opened.c", &[]), installed.file("opened"));
    for (vendor, _) in VENDORS {
        installed.replace(&library(vendor), &std::fs::read(&opened).expect("the plugin"));
    }
    let beside = assert_cmd::cargo::cargo_bin!("tilewright").with_file_name("conformance");
    assert!(beside.is_file(), "{} is not built: run the tests of the whole workspace", beside.display());
    install_file(&beside, &installed.file("conformance"));
    for (name, arguments) in [("tilewright", &["targets"][..]), ("conformance", &["--list-targets"])] {
        let listed = run(program(installed.file(name)).args(arguments).env("OPENED", &marker));
        assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""), "{name}");
        assert!(VENDORS.iter().all(|(_, target)| listed.out.contains(target)), "{name}: {}", listed.out);
        assert!(!marker.exists(), "{name} opened a plugin");
    }
    let requested = run(compiling(installed.command(), "h100").env("OPENED", &marker));
    assert!(requested.failed(1).contains("its library names plain") && marker.exists(), "what is needed is opened");
}

#[test]
fn a_missing_library() {
    let installed = Installation::new();
    std::fs::remove_file(installed.file(&library("nvidia"))).expect("the library");
    installed.refuses("nvidia", &["sm_90a", "nvidia.plugin.toml", &library("nvidia"), "which does not exist"]);
    let listed = run(installed.command().arg("targets"));
    let h100 = listed.out.lines().find(|line| line.trim().starts_with("h100")).expect("the target");
    assert!(h100.ends_with("none"), "{h100}");
    std::fs::remove_file(installed.file("nvidia.plugin.toml")).expect("the manifest");
    installed.refuses("nvidia", &["no plugin serves architecture `sm_90a`", "TILEWRIGHT_PLUGIN_PATH"]);
}

#[test]
fn a_library_that_was_cut_off() {
    let library_bytes = std::fs::read(fixtures::libraries().join(library("amd"))).expect("the plugin");
    let installed = Installation::new();
    for length in [0, 64, library_bytes.len() / 2, library_bytes.len() - 1] {
        installed.replace(&library("amd"), &library_bytes[..length]);
        let printed = run(&mut compiling(installed.command(), "mi250"));
        clear(printed.failed(1), &[&library("amd"), "cannot be opened as a shared library"]);
    }
    installed.refuses("amd", &[&library("amd"), "cannot be opened as a shared library"]);
}

#[test]
fn a_library_of_garbage() {
    let installed = Installation::new();
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.extend([0xff; 4096]);
    for bytes in [b"no library at all".as_slice(), &elf] {
        installed.replace(&library("intel"), bytes);
        installed.refuses("intel", &[&library("intel"), "cannot be opened as a shared library"]);
    }
    installed.replace("intel.plugin.toml", b"\xff\xfe garbage");
    installed.refuses("intel", &["intel.plugin.toml"]);
}

#[test]
fn a_plugin_of_another_major_version() {
    let installed = Installation::new();
    for case in ["OTHER_MAJOR", "WRONG_MAJOR"] {
        installed.replace(&library("nvidia"), &std::fs::read(hostile(case)).expect("the plugin"));
        installed.refuses("nvidia", &[&library("nvidia"), "of the plugin interface", "this is version 1"]);
    }
    let manifest = std::fs::read_to_string(installed.file("nvidia.plugin.toml")).expect("the manifest");
    installed.replace("nvidia.plugin.toml", manifest.replace("abi_major = 1", "abi_major = 2").as_bytes());
    installed.refuses("nvidia", &["nvidia.plugin.toml", "built for version 2 of the plugin interface"]);
}

#[test]
fn a_plugin_under_another_name_is_rejected() {
    let installed = Installation::new();
    let amd = std::fs::read(installed.file(&library("amd"))).expect("the plugin");
    installed.replace(&library("nvidia"), &amd);
    installed.refuses("nvidia", &["nvidia.plugin.toml", "its library names amd"]);
}

/// The first plugin on the environment's path is used, even if it is bad and a good one follows.
#[test]
fn directories_that_the_environment_names_come_first() {
    let (good, bad) = (Installation::new(), Installation::new());
    bad.replace(&library("nvidia"), b"garbage");
    let mut command = good.command();
    command.env("TILEWRIGHT_PLUGIN_PATH", bad.folder.path());
    let bad_file = bad.file(&library("nvidia"));
    clear(run(&mut compiling(command, "h100")).failed(1), &[&bad_file.to_string_lossy(), "shared library"]);
}

/// Creates a folder with one target file of a made-up architecture; the GPU model selects the behaviour of the test
/// plugin.
fn made_up(architecture: &str, gpu_model: &str) -> TempDir {
    let text = include_str!("../../../plugin/tests/fixtures/targets/src/fixture.toml");
    let text = text.replace("ARCHITECTURE", architecture).replace("PRODUCT", gpu_model);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    std::fs::write(folder.path().join("fixture.toml"), text).expect("a target");
    folder
}

/// Returns a command `tilewright` that knows the given plugin and the made-up target in the folder `targets`.
fn with_plugin(plugin: &Path, targets: &TempDir) -> Command {
    let mut command = tilewright();
    command.arg("--plugin").arg(plugin).arg("--targets").arg(targets.path());
    command
}

#[test]
fn a_named_plugin_that_cannot_be_loaded() {
    for (file, code, expected) in [
        (c_library("places.c", &["-Dmain=not_main"]), 1, "does not export `tilewright_plugin_query`"),
        (hostile("OTHER_MAJOR"), 1, "built for version 7"),
        (hostile("TRUNCATED_TABLE"), 1, "cut off"),
        (hostile("NULL_SLOT"), 1, "slot `compile` is null"),
        (fixtures::scratch("libnone.so"), 2, "no such plugin library"),
    ] {
        let printed = run(tilewright().arg("--plugin").arg(&file).arg("targets"));
        clear(printed.failed(code), &[&file.to_string_lossy(), expected]);
    }
}

#[test]
fn a_plugin_that_panics() {
    let name = library("fixture");
    let targets = made_up("fixture1", "panics");
    let printed = run(&mut compiling(with_plugin(&fixture(), &targets), "fixture"));
    clear(printed.failed(1), &[&name, "panicked: no such luck", "report"]);
    let targets = made_up("fixture1", "works");
    let family = ["layout", "--target", "fixture", "--shape", "32", "#x.striped<{panic = 1}>"];
    clear(run(with_plugin(&fixture(), &targets).args(family)).failed(1), &[&name, "panicked: family striped"]);
}

#[test]
fn a_plugin_that_aborts() {
    let targets = made_up("hostile1", "works");
    for (case, expected) in [
        ("ABORT", "signal 6 (SIGABRT) while compiling"),
        ("ABORT_IN_CREATE", "signal 6 (SIGABRT) while creating a target"),
        ("SEGFAULT", "signal 11 (SIGSEGV) while compiling"),
        ("EXIT", "ended with status 0 while compiling"),
    ] {
        let printed = run(&mut compiling(with_plugin(&hostile(case), &targets), "fixture"));
        clear(printed.failed(1), &["libplugin.so", expected, "report"]);
    }
}

#[test]
fn a_plugin_that_hangs() {
    let targets = made_up("hostile1", "works");
    let start = Instant::now();
    let mut command = with_plugin(&hostile("HANG"), &targets);
    command.env("TILEWRIGHT_PLUGIN_TIMEOUT", "2.5");
    let printed = run(&mut compiling(command, "fixture"));
    clear(printed.failed(1), &["libplugin.so", "no answer within 2.5s while compiling", "raise the limit"]);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(run(tilewright().arg("--help")).out.contains("TILEWRIGHT_PLUGIN_TIMEOUT"));
}

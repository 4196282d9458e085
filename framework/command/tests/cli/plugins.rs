//! Plugins that are damaged, strange or hostile, as a user of the command meets them: a clear error
//! that names the file, a non-zero exit, and no wait without end.

use crate::command;
use tilewright_testkit::plugin_fixtures as fixtures;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use command::{BLOCKED, program, run, tilewright};
use fixtures::{c_library, fixture, hostile};
use tempfile::TempDir;

const VENDORS: [(&str, &str); 3] = [("nvidia", "h100"), ("amd", "mi250"), ("intel", "max1550")];

/// The command and the three vendors' plugins in a folder of their own, as an installation has them.
struct Installation {
    folder: TempDir,
}

fn library(vendor: &str) -> String {
    format!("{}tilewright_{vendor}_plugin{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// A second name for a file that nobody will change, or a copy where that cannot be.
fn place(file: &Path, at: &Path) {
    std::fs::hard_link(file, at).or_else(|_| std::fs::copy(file, at).map(|_| ())).expect("a file in the installation");
}

impl Installation {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let installed = Self { folder };
        place(assert_cmd::cargo::cargo_bin!("tilewright"), &installed.file("tilewright"));
        for (vendor, _) in VENDORS {
            for name in [library(vendor), format!("{vendor}.plugin.toml")] {
                place(&fixtures::libraries().join(&name), &installed.file(&name));
            }
        }
        installed
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts other bytes in a file's place; the original keeps its own.
    fn replace(&self, name: &str, bytes: &[u8]) {
        std::fs::remove_file(self.file(name)).expect("the file that is replaced");
        std::fs::write(self.file(name), bytes).expect("a file");
    }

    fn command(&self) -> Command {
        program(self.file("tilewright"))
    }

    /// That a vendor's plugin cannot be used is said by both commands that need it, with the name of
    /// the file and a remedy; other vendors are served as before.
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
        // A neutral layout opens no plugin; a family that is not neutral does.
        let layout = ["layout", "--target", target, "--shape", "16x8", NOT_NEUTRAL];
        clear(run(self.command().args(layout)).failed(1), expected);
    }
}

/// A layout of a family that a plugin serves.
const NOT_NEUTRAL: &str =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";

fn clear(message: &str, expected: &[&str]) {
    for part in expected {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    assert!(["install", "report", "chmod", "name "].iter().any(|remedy| message.contains(remedy)), "{message}");
}

fn compiling(mut command: Command, target: &str) -> Command {
    // Lanes of a warp on each target that is asked for.
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

/// Manifests are enough for both lists of targets: no library is opened.
#[test]
fn listing_targets_opens_nothing() {
    let installed = Installation::new();
    let (opened, marker) = (c_library("opened.c", &[]), installed.file("opened"));
    for (vendor, _) in VENDORS {
        installed.replace(&library(vendor), &std::fs::read(&opened).expect("the plugin"));
    }
    let beside = assert_cmd::cargo::cargo_bin!("tilewright").with_file_name("conformance");
    assert!(beside.is_file(), "{} is not built: run the tests of the whole workspace", beside.display());
    place(&beside, &installed.file("conformance"));
    for (name, arguments) in [("tilewright", &["targets"][..]), ("conformance", &["--list-targets"])] {
        let listed = run(program(installed.file(name)).args(arguments).env("OPENED", &marker));
        assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""), "{name}");
        assert!(VENDORS.iter().all(|(_, target)| listed.out.contains(target)), "{name}: {}", listed.out);
        assert!(!marker.exists(), "{name} opened a plugin");
    }
    let requested = run(compiling(installed.command(), "h100").env("OPENED", &marker));
    assert!(requested.failed(1).contains("its library says plain") && marker.exists(), "what is needed is opened");
}

#[test]
fn a_library_that_is_gone() {
    let installed = Installation::new();
    std::fs::remove_file(installed.file(&library("nvidia"))).expect("the library");
    installed.refuses("nvidia", &["sm_90a", "nvidia.plugin.toml", &library("nvidia"), "is not there"]);
    let listed = run(installed.command().arg("targets"));
    let h100 = listed.out.lines().find(|line| line.trim().starts_with("h100")).expect("the target");
    assert!(h100.ends_with("none"), "{h100}");
    std::fs::remove_file(installed.file("nvidia.plugin.toml")).expect("the manifest");
    installed.refuses("nvidia", &["no plugin serves architecture `sm_90a`", "TILEWRIGHT_PLUGIN_PATH"]);
}

#[test]
fn a_library_that_was_cut_off() {
    let whole = std::fs::read(fixtures::libraries().join(library("amd"))).expect("the plugin");
    let installed = Installation::new();
    for length in [0, 64, whole.len() / 2, whole.len() - 1] {
        installed.replace(&library("amd"), &whole[..length]);
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
fn a_plugin_that_says_it_is_another() {
    let installed = Installation::new();
    let amd = std::fs::read(installed.file(&library("amd"))).expect("the plugin");
    installed.replace(&library("nvidia"), &amd);
    installed.refuses("nvidia", &["nvidia.plugin.toml", "its library says amd"]);
}

/// The first plugin that the environment names is asked, not a good one behind it.
#[test]
fn directories_that_the_environment_names_come_first() {
    let (good, bad) = (Installation::new(), Installation::new());
    bad.replace(&library("nvidia"), b"garbage");
    let mut command = good.command();
    command.env("TILEWRIGHT_PLUGIN_PATH", bad.folder.path());
    let bad_file = bad.file(&library("nvidia"));
    clear(run(&mut compiling(command, "h100")).failed(1), &[&bad_file.to_string_lossy(), "shared library"]);
}

/// A folder with one target of a made-up architecture, whose product says how its plugin behaves.
fn made_up(architecture: &str, product: &str) -> TempDir {
    let text = include_str!("../../../plugin/tests/fixtures/targets/src/fixture.toml");
    let text = text.replace("ARCHITECTURE", architecture).replace("PRODUCT", product);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    std::fs::write(folder.path().join("fixture.toml"), text).expect("a target");
    folder
}

/// The command with a plugin that is named, on the made-up target.
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
        ("ABORT_IN_CREATE", "signal 6 (SIGABRT) while making a target"),
        ("SEGFAULT", "signal 11 (SIGSEGV) while compiling"),
        ("EXIT", "ended by itself with status 0 while compiling"),
    ] {
        let printed = run(&mut compiling(with_plugin(&hostile(case), &targets), "fixture"));
        clear(printed.failed(1), &["libplugin.so", expected, "report"]);
    }
}

#[test]
fn a_plugin_that_hangs() {
    let targets = made_up("hostile1", "works");
    let begun = Instant::now();
    let mut command = with_plugin(&hostile("HANG"), &targets);
    command.env("TILEWRIGHT_PLUGIN_TIMEOUT", "2.5");
    let printed = run(&mut compiling(command, "fixture"));
    clear(printed.failed(1), &["libplugin.so", "no answer within 2.5s while compiling", "raise the limit"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(run(tilewright().arg("--help")).out.contains("TILEWRIGHT_PLUGIN_TIMEOUT"));
}

//! Tests that the program that runs packs is one file: built alone it links no code generator and no plugin, and it
//! runs in an empty environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn cargo(arguments: &[&str]) -> Output {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO")).args(arguments).arg("--offline").current_dir(workspace).output().expect("cargo starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_depends_on_drivers_and_on_no_code_generator() {
    let output = cargo(&["tree", "--package", "conformance-player", "--edges", "normal,build", "--prefix", "none"]);
    let tree = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for needed in ["tilewright-nvidia v", "tilewright-amd v", "tilewright-intel v", "cudarc v", "cl3 v"] {
        assert!(tree.contains(needed), "`{needed}` is missing:\n{tree}");
    }
    for unwanted in [
        "tilewright-llvm",
        "inkwell",
        "llvm-sys",
        "tempfile",
        "tilewright-nvidia-plugin",
        "tilewright-amd-plugin",
        "tilewright-intel-plugin",
    ] {
        assert!(!tree.contains(unwanted), "`{unwanted}` is in\n{tree}");
    }
}

/// Builds the program alone, since a build of the whole workspace enables all features of the vendors' crates. No
/// optimisation, since all dependencies are built again. Other tests build out-of-tree plugins in the same target
/// directory, so that dependencies are shared. Returns the program's path.
fn built_alone() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target");
    command.args(["build", "--offline", "--package", "conformance-player", "--target-dir"]).arg(target);
    command.args(["--message-format", "json-render-diagnostics"]);
    command.envs([("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("CARGO_INCREMENTAL", "0")]).current_dir(workspace);
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let mut executables = lines.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("an executable")
}

#[test]
fn built_alone_it_is_one_file_that_runs_in_an_empty_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("conformance-run");
    fs::copy(built_alone(), &program).expect("it is copied");
    let output = Command::new("ldd").arg(&program).output().expect("ldd, of the C library's package");
    let libraries = text(&output.stdout);
    assert!(libraries.contains("libc.so"), "{libraries}{}", text(&output.stderr));
    for unwanted in ["LLVM", "tilewright", "stdc++", "cuda", "hip", "OpenCL", "ze_loader", "not found"] {
        assert!(!libraries.contains(unwanted), "`{unwanted}` is in\n{libraries}");
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env_clear().current_dir(folder.path()).output().expect("it starts")
    };
    assert_eq!(run(&["--version"]).status.code(), Some(0));
    let missing = run(&["nothing"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("nothing/index.json"), "{}", text(&missing.stderr));
    let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pack").display().to_string();
    let output = run(&[&pack, "--device", "virtual", "--json"]);
    let played: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{played:#}");
    let cases = played["cases"].as_array().expect("cases");
    assert!(!cases.is_empty() && cases.iter().all(|case| case["status"] == "pass"), "{played:#}");
}

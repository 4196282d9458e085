//! Tests that the program that runs packs is one file: it links no code generator and no plugin, and it runs in an empty
//! environment.

use std::fs;
use std::path::Path;
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
    let devices = ["tilewright-nvidia-device v", "tilewright-amd-device v", "tilewright-intel-device v"];
    for needed in devices.into_iter().chain(["cudarc v", "cl3 v"]) {
        assert!(tree.contains(needed), "`{needed}` is missing:\n{tree}");
    }
    for unwanted in [
        "tilewright-llvm",
        "inkwell",
        "llvm-sys",
        "tempfile",
        "tilewright-nvidia v",
        "tilewright-amd v",
        "tilewright-intel v",
        "tilewright-nvidia-plugin",
        "tilewright-amd-plugin",
        "tilewright-intel-plugin",
    ] {
        assert!(!tree.contains(unwanted), "`{unwanted}` is in\n{tree}");
    }
}

#[test]
fn it_is_one_file_that_runs_in_an_empty_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("conformance-run");
    fs::copy(env!("CARGO_BIN_EXE_conformance-run"), &program).expect("it is copied");
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

/// The virtual device serves sm_80. Other architectures have drivers of other vendors, which a machine may lack, or none.
#[test]
fn a_target_has_the_devices_of_its_vendor() {
    let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pack");
    let folder = tempfile::tempdir().expect("a folder");
    let index = fs::read_to_string(pack.join("index.json")).expect("the index");
    fs::copy(pack.join("buffers.bin"), folder.path().join("buffers.bin")).expect("it is copied");
    let drivers: [(&str, &[&str]); 4] =
        [("sm_80", &[]), ("gfx90a", &["libamdhip64"]), ("pvc", &["OpenCL", "libze_loader"]), ("gfx0", &[])];
    for (architecture, libraries) in drivers {
        let index = index.replace("\"architecture\":\"sm_80\"", &format!("\"architecture\":\"{architecture}\""));
        fs::write(folder.path().join("index.json"), index).expect("it is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance-run"));
        let output = command.arg(folder.path()).arg("--list-devices").output().expect("it starts");
        let (listed, error) = (text(&output.stdout), text(&output.stderr));
        match architecture {
            "sm_80" => assert!(listed.contains("virtual PTX"), "{listed}{error}"),
            "gfx0" => assert!(error.contains("no driver for architecture `gfx0`; there are sm_75, "), "{error}"),
            _ if output.status.success() => assert!(!listed.contains("virtual PTX"), "{listed}"),
            _ => assert!(
                error.contains("no device: ") && libraries.iter().any(|library| error.contains(library)),
                "{error}"
            ),
        }
    }
}

//! Tests of packs: cases that are compiled here pass elsewhere; defects of a pack and wrong results are reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use tilewright_testkit::golden;

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Packs some cases of the target whose (virtual) device exists on every machine.
fn pack(cases: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pack");
    let shown = path.display().to_string();
    let output = conformance(&[&["pack", &shown, "--target", "a100", "--date", "today"], cases].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    (folder, path)
}

/// Runs a pack on the virtual device; returns exit status, results and standard error.
fn run(pack: &Path) -> (Option<i32>, Value, String) {
    let output = conformance(&["run", &pack.display().to_string(), "--device", "virtual", "--json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), text(&output.stderr))
}

fn index(pack: &Path) -> Value {
    let text = fs::read_to_string(pack.join("index.json")).expect("an index");
    serde_json::from_str(&text).expect("JSON")
}

fn change(pack: &Path, change: impl FnOnce(&mut Value)) {
    let mut index = index(pack);
    change(&mut index);
    fs::write(pack.join("index.json"), index.to_string()).expect("written");
}

/// Function that edits the index of a pack.
type Change = fn(&mut Value);

const CONVERSION: &str = "conversions/device/blocked-rows-3d-to-blocked-planes-3d/f32";

#[test]
fn every_kind_of_case_is_packed_and_runs() {
    let (_folder, path) = pack(&["--smoke"]);
    let index = index(&path);
    assert_eq!((&index["version"], &index["date"]), (&Value::from(1), &Value::from("today")));
    assert_eq!(index["plugin"]["name"], "nvidia");
    assert_eq!(index["plugin"]["sha256"].as_str().map(str::len), Some(64));
    let cases = index["cases"].as_array().expect("cases");
    for group in ["conversions", "reduce", "scan", "gather", "dot", "dot-scaled", "kernels", "figures"] {
        let of_group = |case: &&Value| case["name"].as_str().is_some_and(|name| name.starts_with(&format!("{group}/")));
        let some = cases.iter().find(of_group).unwrap_or_else(|| panic!("no case of {group}"));
        let test_case = &some["trials"][0];
        assert!(
            test_case["kernel"].is_string() && !test_case["arguments"].as_array().expect("arguments").is_empty(),
            "{test_case}"
        );
        if group != "kernels" {
            assert!(test_case["predicted"]["cycles"].as_f64().is_some_and(|cycles| cycles >= 0.0), "{test_case}");
        }
    }
    let (exit, played, errors) = run(&path);
    assert_eq!(exit, Some(0), "{errors}{played:#}");
    let results = played["cases"].as_array().expect("results");
    assert_eq!(results.len(), cases.len());
    let passed = results.iter().filter(|case| case["status"] == "pass").count();
    assert!(passed * 10 >= results.len() * 9, "{passed} of {}", results.len());
    assert!(played["device"].as_str().is_some_and(|name| name.contains("no hardware")), "{}", played["device"]);
    assert_eq!((&played["target"], &played["date"]), (&Value::from("a100"), &Value::from("today")));
}

#[test]
fn stats_are_printed_as_ratios() {
    let (_folder, path) = pack(&["figures/device/conversion/f16/32x64", "figures/device/transpose/f8/64x64"]);
    let output = conformance(&["run", &path.display().to_string(), "--device", "virtual"]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    let row = |variant: &str| {
        table.lines().find(|line| line.contains(variant)).unwrap_or_else(|| panic!("no {variant} in\n{table}"))
    };
    // The baseline is compared with itself; the device has no clock.
    assert!(row("w4                     shared").contains("1.00x"), "{table}");
    let number = |variant: &str, column: usize| -> f64 {
        let word = row(variant).split_whitespace().nth(column).unwrap_or_default().trim_end_matches('x');
        word.parse().unwrap_or_else(|_| panic!("no number in column {column} of {variant}\n{table}"))
    };
    let ratio = number("w4                     shared", 2) / number(" shuffle ", 2);
    assert!((number(" shuffle ", 3) - ratio).abs() < 0.01, "{table}");
    assert!(row(" swizzled ").ends_with('-'), "{table}");
}

#[test]
fn wrong_results_and_what_is_not_there_are_seen() {
    let (_folder, path) = pack(&[CONVERSION]);
    assert_eq!(run(&path).0, Some(0));
    // The first buffer is the kernel's input, the second has the expected output.
    let original = index(&path);
    let expected = &original["cases"][0]["trials"][0]["buffers"][1]["after"]["expected"]["numbers"];
    let (offset, bytes) =
        (expected["offset"].as_u64().expect("a number"), expected["bytes"].as_u64().expect("a number"));
    assert!(bytes > 0);
    let mut buffers = fs::read(path.join("buffers.bin")).expect("buffers");
    buffers[(offset + bytes - 1) as usize] ^= 1;
    fs::write(path.join("buffers.bin"), &buffers).expect("written");
    let (exit, played, _) = run(&path);
    assert_eq!((exit, &played["cases"][0]["status"]), (Some(1), &Value::from("fail")), "{played}");
    assert!(played["cases"][0]["detail"].as_str().is_some_and(|detail| detail.contains("1 of")), "{played}");
    // A truncated file of buffers is an error.
    fs::write(path.join("buffers.bin"), &buffers[..buffers.len() - 1]).expect("written");
    let (exit, played, _) = run(&path);
    assert_eq!((exit, &played["cases"][0]["status"]), (Some(1), &Value::from("broken")), "{played}");
}

#[test]
fn an_index_is_not_trusted() {
    let (_folder, path) = pack(&[CONVERSION]);
    let original = fs::read_to_string(path.join("index.json")).expect("an index");
    let broken: [(&str, Change, &str); 6] = [
        (
            "code outside of the pack",
            |index| index["codes"][0]["files"][0]["file"] = "../index.json".into(),
            "not a file's name",
        ),
        ("no such code", |index| index["cases"][0]["trials"][0]["code"] = 7.into(), "no code 7"),
        (
            "no such buffer",
            |index| index["cases"][0]["trials"][0]["arguments"][0] = serde_json::json!({"buffer": 9}),
            "buffer 9",
        ),
        (
            "no such buffer of a pointer",
            |index| {
                let pointer = serde_json::json!({"pointer": {"buffer": 8, "offset": 0}});
                index["cases"][0]["trials"][0]["arguments"][0] = pointer;
            },
            "buffer 8",
        ),
        ("no such elements", |index| index["cases"][0]["trials"][0]["buffers"][0]["element"] = "f7".into(), "f7"),
        (
            "a shape that is too large",
            |index| {
                index["cases"][0]["trials"][0]["buffers"][0]["shape"] = serde_json::json!([u64::MAX, 8]);
            },
            "too many",
        ),
    ];
    for (what, wrong, expected_text) in broken {
        fs::write(path.join("index.json"), &original).expect("written");
        change(&path, wrong);
        let (exit, played, errors) = run(&path);
        let case = &played["cases"][0];
        assert_eq!((exit, &case["status"]), (Some(1), &Value::from("broken")), "{what}: {errors}{played}");
        assert!(case["detail"].as_str().is_some_and(|detail| detail.contains(expected_text)), "{what}: {case}");
    }
    let refused: [(&str, Change, i32, &str); 3] = [
        ("another version", |index| index["version"] = 2.into(), 2, "version 2"),
        ("no cases", |index| index["cases"] = serde_json::json!([]), 2, "no case"),
        ("a target that nobody serves", |index| index["target"]["name"] = "none".into(), 3, "none"),
    ];
    for (what, wrong, status, expected_text) in refused {
        fs::write(path.join("index.json"), &original).expect("written");
        change(&path, wrong);
        let (exit, _, errors) = run(&path);
        assert_eq!(exit, Some(status), "{what}: {errors}");
        assert!(errors.contains(expected_text), "{what}: {errors}");
    }
    fs::write(path.join("index.json"), "{").expect("written");
    assert_eq!(run(&path).0, Some(2));
}

#[test]
fn packs_are_not_written_over_and_devices_are_named() {
    let (_folder, path) = pack(&[CONVERSION]);
    let shown = path.display().to_string();
    let second = conformance(&["pack", &shown, "--target", "a100", CONVERSION]);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("not empty"), "{}", text(&second.stderr));
    let none = conformance(&["run", &shown, "--device", "no such thing"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(text(&none.stderr).contains("virtual PTX interpreter"), "{}", text(&none.stderr));
    let listed = conformance(&["run", &shown, "--list-devices"]);
    assert!(text(&listed.stdout).contains("virtual PTX interpreter of NVIDIA A100"), "{}", text(&listed.stdout));
}

/// The committed pack that the tests of `conformance-run` use equals a new pack, except for its plugin.
#[test]
fn the_carried_pack_is_what_is_packed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pack");
    let cases = ["conversions/device/blocked-cols-to-mma-a/f32/16x16/w2", "kernels/device/add_masked"];
    // The pack is compiled without the vendor's assembler, as its version varies between machines.
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command
        .arg("pack")
        .arg(&path)
        .args(["--target", "a100"])
        .args(cases)
        .env("PATH", "")
        .env_remove("TILEWRIGHT_PTXAS");
    let output = command.output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    change(&path, |index| index["plugin"]["sha256"] = "".into());
    let carried = Path::new(env!("CARGO_MANIFEST_DIR")).join("player/tests/pack");
    if golden::blesses() {
        let _ = fs::remove_dir_all(&carried);
        fs::create_dir_all(carried.join("code")).expect("a folder");
        for file in files(&path) {
            fs::copy(path.join(&file), carried.join(&file)).expect("it is copied");
        }
    }
    assert_eq!(files(&carried), files(&path), "TILEWRIGHT_BLESS=1 writes it again");
    for file in files(&path) {
        let of = |folder: &Path| fs::read(folder.join(&file)).expect("a file");
        assert!(of(&carried) == of(&path), "{} is another: TILEWRIGHT_BLESS=1 writes it again", file.display());
    }
}

/// Returns the files of a pack, sorted.
fn files(pack: &Path) -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("index.json"), PathBuf::from("buffers.bin")];
    let code = fs::read_dir(pack.join("code")).into_iter().flatten();
    files.extend(code.map(|file| Path::new("code").join(file.expect("a file").file_name())));
    files.sort();
    files
}

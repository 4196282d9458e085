//! Predicted times of the test programs, compared with those of Triton's layouts: none may rise above Triton's, and those
//! above may not rise.
//!
//! `predicted_beside_triton.py` in `conformance/peers` writes the committed cycles with `--record`; with
//! `TILEWRIGHT_BLESS=1` the test writes ours.

use std::path::{Path, PathBuf};

use crate::command;

use command::{json_lines, root, run, tilewright};
use serde_json::{Value as Json, json};
use tilewright_testkit::golden;

/// Differences in the last digits of recorded cycles, which are rounded.
const ROUNDING: f64 = 0.1;

/// Returns the predicted cycles of a case's launch.
fn predict(case: &Path, target: &str) -> f64 {
    let launch: Json = serde_json::from_str(&std::fs::read_to_string(case).expect("a case")).expect("JSON");
    let mut command = tilewright();
    command.arg("explain").arg(case.with_extension("ttir")).arg("--launch").arg(case);
    for (option, field) in [("--warps", "num_warps"), ("--stages", "num_stages")] {
        if let Some(number) = launch[field].as_u64() {
            command.args([option, &number.to_string()]);
        }
    }
    let printed = run(command.args(["--target", target, "--json"]));
    let prediction: Json = serde_json::from_str(printed.ok()).expect("JSON");
    prediction["cycles"].as_f64().expect("a number")
}

/// Compares the rows of a file with predictions; returns the rows with the predicted cycles, and the failures.
fn compare(file: &Path) -> (Vec<Json>, Vec<String>) {
    let mut rows = json_lines(&std::fs::read_to_string(file).expect("recorded cycles"));
    let target = rows[0]["target"].as_str().expect("a target").to_owned();
    let mut failures = Vec::new();
    for row in &mut rows[1..] {
        let name = row["case"].as_str().expect("a case").to_owned();
        let cycles = |side: &str| row[side]["cycles"].as_f64().expect("cycles");
        let (recorded, triton) = (cycles("ours"), cycles("triton"));
        let now = predict(&root().join("conformance/kernels").join(format!("{name}.json")), &target);
        if now > recorded.max(triton) + ROUNDING {
            failures.push(format!("{target}: {name} takes {now:.1} cycles, was {recorded}; Triton's layouts {triton}"));
        }
        row["ours"]["cycles"] = json!((now * 10.0).round() / 10.0);
    }
    (rows, failures)
}

#[test]
fn predicted_times_do_not_rise_above_those_of_triton() {
    let folder = std::fs::read_dir(root().join("conformance/peers/recorded")).expect("the recorded counts");
    let files = folder.map(|file| file.expect("a file").path());
    let is_predicted =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"predicted."));
    let files: Vec<PathBuf> = files.filter(is_predicted).collect();
    assert!(!files.is_empty(), "no recorded cycles");
    let compared: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = files.iter().map(|file| scope.spawn(|| compare(file))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a comparison")).collect()
    });
    if golden::blesses() {
        for (file, (rows, _)) in files.iter().zip(&compared) {
            let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
            std::fs::write(file, text).expect("a file");
        }
    }
    let failures: Vec<&String> = compared.iter().flat_map(|(_, failures)| failures).collect();
    assert!(golden::blesses() || failures.is_empty(), "{failures:#?}");
}

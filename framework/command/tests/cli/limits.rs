//! Tests that inputs that would take all memory or all time are rejected quickly, with a remedy.

use crate::command;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use command::{BLOCKED, batch, run, tilewright};
use serde_json::Value as Json;

const SWIZZLED: &str = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Every command that plans register by register rejects a tensor of 2^21 elements and one of 2^40.
#[test]
fn tensors_that_no_block_holds_are_refused() {
    let wide = BLOCKED.replace("warpsPerCTA = [1, 1]", "warpsPerCTA = [4, 2]");
    for (shape, bits) in [("2048x1024", "2^21"), ("1048576x1048576", "2^3")] {
        for arguments in [
            vec!["convert", &wide, &wide],
            vec!["reduce", "--axis", "0", &wide],
            vec!["scan", "--axis", "0", &wide],
            vec!["gather", "--axis", "0", &wide, &wide],
            vec!["gather", "--axis", "0", "--emit", "asm", &wide, &wide],
            vec!["access", &wide],
            vec!["access", &wide, SWIZZLED],
            vec!["memory", "--store", &wide, "--load", &wide],
            vec!["copy", SWIZZLED],
        ] {
            let start = Instant::now();
            let mut command = tilewright();
            command.args(&arguments).args(["--target", "h100", "--element", "f16", "--shape", shape]);
            let printed = run(&mut command);
            let message = printed.failed(2);
            assert!(message.contains(bits) && message.contains("plans support"), "{arguments:?}: {message}");
            assert!(start.elapsed() < Duration::from_secs(20), "{arguments:?}: {:?}", start.elapsed());
        }
    }
    let types = ["--a", "f16", "--b", "f16", "--acc", "f32"];
    let printed =
        run(tilewright().args(["dot", "--target", "h100", "--m", "65536", "--n", "64", "--k", "65536"]).args(types));
    assert!(printed.failed(2).contains("2^32 elements"), "{}", printed.err);
}

#[test]
fn requests_about_such_tensors_are_rejected() {
    let blocked = r#"{"kind": "blocked", "size_per_thread": [1, 2], "threads_per_warp": [4, 8],
        "warps_per_cta": [4, 1], "order": [1, 0]}"#
        .replace('\n', "");
    let request =
        |rest: &str| format!(r#"{{"id": 1, "target": "h100", "shape": [2048, 1024], "element_bits": 16, {rest}}}"#);
    let requests = [
        format!(r#""op": "convert", "src": {{"params": {blocked}}}, "dst": {{"params": {blocked}}}"#),
        format!(r#""op": "reduce", "axis": 0, "src": {{"params": {blocked}}}"#),
        format!(r#""op": "gather", "axis": 0, "src": {{"params": {blocked}}}, "indices": {{"params": {blocked}}}"#),
        format!(r#""op": "access", "registers": {{"params": {blocked}}}"#),
    ];
    let text: Vec<_> = requests.iter().map(|rest| request(rest)).collect();
    let answers = batch(text.join("\n"));
    for answer in &answers {
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("2^21 elements; plans support tensors of at most 2^20"), "{answer}");
    }
    assert_eq!(answers.len(), requests.len());
}

#[test]
fn long_names_are_not_echoed() {
    let long = "x".repeat(10 << 20);
    let answers = batch(format!(
        "{{\"id\": \"{long}\", \"op\": \"layout\"}}\n{{\"id\": 2, \"op\": \"{long}\"}}\n{{\"id\": 3, \"op\": \
         \"layout\", \"{long}\": 1}}\n"
    ));
    let bytes: usize = answers.iter().map(|answer| answer.to_string().len()).sum();
    assert!(bytes < 20_000, "{bytes} bytes");
    assert_eq!(answers[0]["id"], Json::Null);
    let message = answers[0]["error"]["message"].as_str().expect("a message");
    assert!(message.contains("`id` has 10485762 bytes; at most 4096 are returned"), "{message}");
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&2.into(), &"unknown_op".into()));
    let ignored = answers[2]["ignored"][0].as_str().expect("a name");
    assert!(ignored.ends_with("x... (10485760 bytes in all)"), "{} bytes", ignored.len());
}

#[test]
fn programs_without_end_are_not_read() {
    let printed = run(tilewright().args(["compile", "--target", "h100", "/dev/zero"]));
    assert!(printed.failed(2).contains("more than 16777216 bytes, the limit"), "{}", printed.err);
    let mut endless = std::process::Command::new("yes").stdout(Stdio::piped()).spawn().expect("yes");
    let pipe = endless.stdout.take().expect("a pipe");
    let printed = run(tilewright().args(["explain", "--target", "h100", "/dev/stdin"]).stdin(pipe));
    assert!(printed.failed(2).contains("/dev/stdin: more than 16777216 bytes"), "{}", printed.err);
    endless.kill().expect("it runs");
    endless.wait().expect("it ends");
    let printed = run(tilewright().args(["run", "--target", "h100", "/dev/zero"]));
    assert_eq!(printed.code, Some(1), "{}", printed.err);
    assert!(printed.out.contains("more than 16777216 bytes"), "{}", printed.out);
}

#[test]
fn a_loop_without_end_ends() {
    let program = "module {
  tt.func public @forever(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %end = scf.while (%i = %one) : (i32) -> i32 {
      %go = arith.cmpi ne, %i, %zero : i32
      scf.condition(%go) %i : i32
    } do {
    ^bb0(%i: i32):
      scf.yield %i : i32
    }
    tt.return
  }
}
";
    let case = r#"{"name": "forever", "ttir": "forever.ttir", "entry": "forever", "grid": [1, 1, 1], "num_warps": 1,
        "args": [{"name": "x", "kind": "pointer", "buffer": "x"}],
        "buffers": {"x": {"dtype": "f32", "shape": [1], "role": "output", "fill": 0, "expected": "x.bin",
        "tolerance": {"rtol": 0, "atol": 0}}}}"#;
    std::fs::write(folder().join("forever.ttir"), program).expect("a program");
    std::fs::write(folder().join("forever.json"), case).expect("a case");
    std::fs::write(folder().join("x.bin"), [0; 4]).expect("a buffer");
    let start = Instant::now();
    let file = folder().join("forever.json");
    // `--steps` is an older name of `--max-steps`.
    for option in ["--max-steps", "--steps"] {
        let printed = run(tilewright().args(["run", "--target", "h100", option, "100000"]).arg(&file));
        assert_eq!(printed.code, Some(1), "{}{}", printed.out, printed.err);
        assert!(printed.out.contains("more than 100000 operations were run"), "{}", printed.out);
        assert!(printed.out.contains("if it does end, allow it more by --max-steps"), "{}", printed.out);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

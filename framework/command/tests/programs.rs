//! Tile programs are compiled, stage by stage, and run.

mod command;

use std::path::PathBuf;

use command::{root, run, tilewright};
use serde_json::Value as Json;

fn kernel(name: &str) -> PathBuf {
    root().join("conformance/kernels").join(name)
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn compiled(arguments: &[&str]) -> String {
    let said = run(tilewright().arg("compile").arg(kernel("add_masked.ttir")).args(arguments));
    assert_eq!(said.code, Some(0), "{}", said.err);
    said.out
}

#[test]
fn every_form_of_a_program_can_be_had() {
    for (form, part) in [
        ("layouts", "tt.load %xp, %m, %zero : tensor<64x!tt.ptr<f32>, #"),
        ("kernel", "kernel add_masked(%0 x: ptr.global"),
        ("llvm", "define"),
        ("asm", ".entry add_masked("),
    ] {
        let out = compiled(&["--target", "h100", "--emit", form]);
        assert!(out.contains(part), "{form}: {out}");
        assert_eq!(compiled(&["--target", "h100", "--emit", form]), out, "the same again");
    }
    assert!(compiled(&["--target", "mi250"]).contains("amdhsa--gfx90a"));
    assert!(!compiled(&["--target", "h100", "--emit", "plan"]).is_empty());
}

#[test]
fn warps_are_as_asked_for() {
    let warps = |count: &str| compiled(&["--target", "h100", "--emit", "kernel", "--warps", count]);
    assert!(warps("2").contains("lanes 32 warps 2") && warps("8").contains("lanes 32 warps 8"));
}

#[test]
fn a_dump_has_every_stage() {
    let folder = folder("dump");
    compiled(&["--target", "h100", "--dump", &folder.display().to_string()]);
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the dump")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "0-read.ttir",
        "1-import.ttir",
        "2-shape.ttir",
        "3-layouts.ttgir",
        "3-plan.txt",
        "4-kernel.kernel",
        "5-math.kernel",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_is_wrong_with_a_program_is_shown_at_its_place() {
    let file = folder("wrong").join("wrong.ttir");
    std::fs::write(
        &file,
        "module {\n  tt.func @f(%x: f32) {\n    %y = arith.adf %x, %x : f32\n    tt.return\n  }\n}\n",
    )
    .expect("a program");
    let said = run(tilewright().args(["compile", "--target", "h100"]).arg(&file));
    let message = said.failed(2);
    for part in ["arith.adf", "did you mean `arith.addf`?", "wrong.ttir:3:10"] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    let said = run(tilewright().args(["compile", "--target", "h100", "--entry", "g"]).arg(kernel("dot.ttir")));
    assert!(said.failed(2).contains("there is no function `g` to begin with; there are `dot`"));
}

#[test]
fn cases_are_run_and_told_in_their_order() {
    let names = ["softmax", "add_masked", "atomics"];
    let files: Vec<_> = names.iter().map(|name| kernel(&format!("{name}.json"))).collect();
    let said = run(tilewright().args(["run", "--json", "--target", "a100"]).args(&files));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let answers: Vec<Json> = said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<_> = answers.iter().map(|answer| (answer["name"].as_str(), answer["status"].as_str())).collect();
    assert_eq!(told, names.map(|name| (Some(name), Some("pass"))));
}

/// One number that is expected is changed.
#[test]
fn a_case_that_leaves_something_else_fails() {
    let folder = folder("fails");
    for entry in std::fs::read_dir(kernel("")).expect("the kernels") {
        let file = entry.expect("a file").path();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("add_masked.") {
            std::fs::copy(&file, folder.join(&name)).expect("a copy");
        }
    }
    let expected = folder.join("add_masked.out.z.bin");
    let mut bytes = std::fs::read(&expected).expect("what is expected");
    bytes[4 * 70..4 * 71].copy_from_slice(&1000f32.to_le_bytes());
    std::fs::write(&expected, bytes).expect("changed");
    let said = run(tilewright().args(["run", "--target", "a100"]).arg(&folder));
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("fail         add_masked: buffer `z`: 1 of 160 elements are wrong; the first at [70] is"),
        "{}",
        said.out
    );
    assert!(said.out.contains("a100: 0 pass, 1 fail, 0 unsupported"), "{}", said.out);
}

#[test]
fn a_kernel_of_too_many_operations_is_refused_before_it_is_written() {
    let file = folder("large").join("large.ttir");
    let program = |elements: u64| {
        format!(
            "module {{
  tt.func public @large(%x: !tt.ptr<f32>) {{
    %i = tt.make_range {{end = {elements} : i32, start = 0 : i32}} : tensor<{elements}xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<{elements}x!tt.ptr<f32>>
    %p = tt.addptr %xs, %i : tensor<{elements}x!tt.ptr<f32>>, tensor<{elements}xi32>
    %v = tt.load %p : tensor<{elements}x!tt.ptr<f32>>
    %y = math.erf %v : tensor<{elements}xf32>
    tt.store %p, %y : tensor<{elements}x!tt.ptr<f32>>
    tt.return
  }}
}}
"
        )
    };
    let compile = |elements: u64, warps: &str| {
        std::fs::write(&file, program(elements)).expect("a program");
        run(tilewright().args(["compile", "--target", "h100", "--emit", "kernel", "--warps", warps]).arg(&file))
    };
    // A register of each of 128 lanes is some 75 operations of the error function.
    let said = compile(1 << 20, "4");
    let message = said.failed(2);
    for part in
        ["lowering: 7:10: `math.erf`: with it a thread has ", "expected at most 262144: make the tensors smaller"]
    {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    // More warps are one way out, as the message says.
    assert_eq!(compile(1 << 18, "4").failed(2).matches("expected at most").count(), 1);
    assert_eq!(compile(1 << 18, "16").code, Some(0));
    // Tensors have a bound of their own.
    assert!(compile(1 << 21, "4").failed(2).contains("1048576"));
}

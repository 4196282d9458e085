//! Checks by the tools of others, where this machine has them. Where it has not, the test says so:
//! it passes, but has shown less.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tilewright_intel::compile::validate::validate;
use tilewright_kernel::{Binary, Cast, Element, Module, Type};
use tilewright_plugin::{CompileOptions, Emit, Target};

use crate::spirv::kernels;

/// Whether a program can be run; says so where it cannot.
fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        let mut stderr = std::io::stderr();
        writeln!(stderr, "LEVEL LOWER: `{program}` is not installed, its check was left out").expect("stderr is open");
    }
    found
}

/// Writes the SPIR-V of a module to a file of its own.
fn write(name: &str, architecture: &str, module: &Module) -> PathBuf {
    let artifact = kernels::target(architecture).compile(module, &CompileOptions::default()).expect("it compiles");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    let path = directory.join(format!("{name}.spv"));
    std::fs::write(&path, &artifact.payload(Emit::Object).expect("asked for").bytes).expect("the file can be written");
    path
}

/// Runs a command and fails with what it said.
fn run(command: &mut Command) {
    let output = command.output().expect("it was there a moment ago");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

#[test]
fn the_validator_of_the_standard_accepts_all_kernels() {
    if !have("spirv-val") {
        return;
    }
    for lanes in [16, 32] {
        let path = write(&format!("all-{lanes}"), "pvc", &kernels::together(&kernels::all(lanes)));
        run(Command::new("spirv-val").args(["--target-env", "spv1.3"]).arg(&path));
    }
}

/// Compiles with the vendor's offline compiler.
fn finish(name: &str, architecture: &str, module: &Module) {
    let path = write(&format!("{name}-{architecture}"), architecture, module);
    let mut command = Command::new("ocloc");
    command.args(["compile", "-spirv_input", "-device", architecture, "-file"]).arg(&path);
    command.arg("-out_dir").arg(path.parent().expect("it is in a directory"));
    run(&mut command);
}

#[test]
fn the_vendor_compiler_finishes_kernels() {
    if !have("ocloc") {
        return;
    }
    for lanes in [8, 16, 32] {
        let modules = [
            kernels::copy(lanes),
            kernels::exchange(lanes),
            kernels::shared(lanes),
            kernels::predicated(lanes),
            kernels::loops(lanes),
            kernels::nested(lanes),
            kernels::permutes(lanes),
            kernels::blocks(lanes),
            // Where this compiler has failed on what the standard allows.
            kernels::compares(lanes, Element::I1),
            kernels::binary(lanes, Binary::Xor, Element::I1, 8),
            kernels::cast(lanes, Cast::Bits, Type::Vector(Element::F16, 32), Type::Vector(Element::I64, 8)),
            kernels::binary(lanes, Binary::FMul, Element::Bf16, 8),
            kernels::reversal(lanes, Element::I8, 64, 1),
            // Moved even where it is not computed with.
            kernels::reversal(lanes, Element::F64, 8, 16),
        ];
        let module = kernels::together(&modules);
        if lanes >= 16 {
            finish(&format!("some-{lanes}"), "pvc", &module);
        }
        finish(&format!("some-{lanes}"), "dg2", &module);
    }
}

/// What the standard's validator refuses, ours refuses too: tried on modules with one word changed.
#[test]
fn the_own_validator_is_as_strict_as_the_standards() {
    if !have("spirv-val") {
        return;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed");
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    let path = directory.join("changed.spv");
    let mut compared = 0;
    for module in [kernels::shared(16), kernels::loops(16), kernels::casts(16).swap_remove(40)] {
        let words = kernels::words(&kernels::compile(&module).expect("it compiles"));
        for index in (5..words.len()).step_by(3) {
            let mut changed = words.clone();
            changed[index] = [0, words[index] ^ 1, words[index] + 1, words[index] ^ 0x10000][index % 4];
            if validate(&changed).is_err() {
                continue;
            }
            let bytes: Vec<u8> = changed.iter().flat_map(|word| word.to_le_bytes()).collect();
            std::fs::write(&path, bytes).expect("the file can be written");
            run(Command::new("spirv-val").args(["--target-env", "spv1.3"]).arg(&path));
            compared += 1;
        }
    }
    assert!(compared > 0, "some changes matter to neither");
}

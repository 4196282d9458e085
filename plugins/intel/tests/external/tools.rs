//! Checks of SPIR-V by external tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernels;
use crate::validate::validate;
use tilewright_intel::compile::{offline, outside};
use tilewright_plugin::ToolError;
use tilewright_vendor_testkit::prelude::*;

/// Writes the SPIR-V of a module to a temporary file and returns the file's path.
fn write(name: &str, architecture: &str, module: &Module) -> PathBuf {
    let artifact = kernels::target(architecture).compile(module, &CompileOptions::default()).expect("it compiles");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the directory can be made");
    let path = directory.join(format!("{name}.spv"));
    std::fs::write(&path, &artifact.payload(CodeFormat::Object).expect("asked for").bytes)
        .expect("the file can be written");
    path
}

/// Runs a command; fails with the command's output unless it succeeds.
fn run(command: &mut Command) {
    let output = command.output().expect("it was there a moment ago");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {printed}");
}

/// Validates a file with the Khronos validator.
fn take_by_validator(path: &Path) {
    let validator = outside::SPIRV_VAL.find().expect("this test needs it");
    run(Command::new(validator).args(["--target-env", "spv1.3"]).arg(path));
}

pub fn the_validator_of_the_standard_accepts_all_kernels() {
    for lanes in [16, 32] {
        let path = write(&format!("all-{lanes}"), "pvc", &kernels::together(&kernels::all(lanes)));
        take_by_validator(&path);
    }
}

/// Returns the path of the offline compiler: the program that its environment variable names, or the one in `PATH`.
pub fn offline_compiler() -> Result<PathBuf, ToolError> {
    offline::OCLOC.find()
}

/// Compiles a module and checks it with the vendor's offline compiler.
fn finish(name: &str, architecture: &str, module: &Module) {
    let path = write(&format!("{name}-{architecture}"), architecture, module);
    let mut command = Command::new(offline_compiler().expect("this test needs it"));
    command.args(["compile", "-spirv_input", "-device", architecture, "-file"]).arg(&path);
    command.arg("-out_dir").arg(path.parent().expect("it is in a directory"));
    run(&mut command);
}

pub fn the_vendor_compiler_finishes_kernels() {
    for lanes in [8, 16, 32] {
        let modules = [
            kernels::copy(lanes),
            kernels::shuffle(lanes),
            kernels::shared(lanes),
            kernels::predicated(lanes),
            kernels::loops(lanes),
            kernels::nested(lanes),
            kernels::permutes(lanes),
            kernels::blocks(lanes),
            // Cases on which this compiler has failed although the standard allows them.
            kernels::compares(lanes, Element::I1),
            kernels::binary(lanes, Binary::Xor, Element::I1, 8),
            kernels::cast(lanes, Cast::Bits, Type::Vector(Element::F16, 32), Type::Vector(Element::I64, 8)),
            kernels::binary(lanes, Binary::FMul, Element::Bf16, 8),
            kernels::reversal(lanes, Element::I8, 64, 1),
            // Moved even on targets that do not compute with it.
            kernels::reversal(lanes, Element::F64, 8, 16),
        ];
        let module = kernels::together(&modules);
        if lanes >= 16 {
            finish(&format!("some-{lanes}"), "pvc", &module);
        }
        finish(&format!("some-{lanes}"), "dg2", &module);
    }
}

/// Checks on modules with one changed word that this crate's validator rejects everything that the Khronos validator
/// rejects.
pub fn the_own_validator_is_as_strict_as_the_standards() {
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
            take_by_validator(&path);
            compared += 1;
        }
    }
    assert!(compared > 0, "some changes matter to neither");
}

fn refusal(taken: Result<impl std::fmt::Debug, CompileError>) {
    match taken {
        Err(CompileError::Backend(message)) => assert!(message.contains("refused"), "{message}"),
        other => panic!("four bytes are no module: {other:?}"),
    }
}

pub fn validator_errors_are_reported() {
    refusal(outside::validate_spirv(&outside::SPIRV_VAL.find().expect("this test needs it"), &[1, 2, 3, 4]));
}

pub fn compiler_errors_are_reported() {
    refusal(offline::check_with_ocloc(&offline_compiler().expect("this test needs it"), &[1, 2, 3, 4], "pvc", ""));
}

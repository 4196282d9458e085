//! The host in Rust gives code for GPUs of three vendors, and says what is wrong with a program.

use std::path::Path;
use std::process::{Command, Output};

fn host(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright-host"));
    command.args(arguments).output().expect("the host starts")
}

#[test]
fn it_prints_code_for_three_targets() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../saxpy.tile");
    let output = host(&[program.to_str().expect("UTF-8"), "h100", "mi250", "max1550"]);
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // By hand, as for the host in C: an eighth of a warp's lanes are its rows.
    for row in [9, 17, 5] {
        assert_eq!(printed.matches(&format!("holds element ({row}, 5)")).count(), 1, "{printed}");
    }
    for said in [".visible .entry tile(", "global_load_dwordx4", "OpEntryPoint Kernel"] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
}

#[test]
fn a_program_that_is_wrong_is_told_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.tile");
    for (text, said) in [("tile 64\nz = x +\n", "line 2"), ("z = x\n", "line 1"), ("tile 64\nz = (x\n", "expected `)`")]
    {
        std::fs::write(&file, text).expect("the program");
        let output = host(&[file.to_str().expect("UTF-8"), "h100"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && message.contains(said), "{text}: {message}");
    }
}

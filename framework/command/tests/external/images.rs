//! Tests of linkage with system tools: plugins export one symbol; programs link neither LLVM nor vendor crates.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::plugins::{VENDORS, plugin};

fn inspect(tool: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(tool).args(arguments).arg(file).output().expect("this test needs it");
    assert!(output.status.success(), "{tool} {}: {output:?}", file.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn every_vendors_plugin_exports_one_symbol() {
    for vendor in VENDORS {
        let listed = inspect("nm", &["-D", "--defined-only"], &plugin(vendor));
        let symbols: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(symbols, ["tilewright_plugin_query"], "{vendor}");
    }
}

/// Returns the path of the conformance runner, which a workspace build puts into the folder of the command.
pub fn suite() -> PathBuf {
    command().with_file_name("conformance")
}

fn command() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("tilewright").to_owned()
}

pub fn the_command_does_not_link_llvm() {
    links_no_llvm(&command());
}

pub fn the_suite_does_not_link_llvm() {
    links_no_llvm(&suite());
}

fn links_no_llvm(program: &Path) {
    let libraries = |file: &Path| inspect("readelf", &["-d"], file);
    let of_plugin = libraries(&plugin("nvidia"));
    assert!(of_plugin.contains("libLLVM"), "the same look finds it where it is: {of_plugin}");
    let listed = libraries(program);
    assert!(listed.contains("libc.so"), "{listed}");
    assert!(!listed.contains("LLVM"), "{}: {listed}", program.display());
    for vendor in VENDORS {
        assert!(!listed.contains(&format!("tilewright_{vendor}")), "{}: {listed}", program.display());
    }
}

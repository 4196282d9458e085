//! Tests of linkage: vendor plugins open with a clean environment and export one symbol; the framework, the command and
//! the conformance runner depend on neither LLVM nor vendor crates.

use crate::command;
use tilewright_testkit::plugin_fixtures as fixtures;

use std::path::PathBuf;
use std::process::Command;

use command::{root, run};
use fixtures::c_program;
use tilewright_plugin::ErrorCode;

pub const VENDORS: [&str; 3] = ["nvidia", "amd", "intel"];

pub fn plugin(vendor: &str) -> PathBuf {
    let name = format!("{}tilewright_{vendor}_plugin{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    fixtures::libraries().join(name)
}

fn manifest(vendor: &str) -> String {
    let file = fixtures::libraries().join(format!("{vendor}.plugin.toml"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn a_c_program_loads_every_vendors_plugin_without_a_library_path() {
    let program = c_program("load.c");
    for vendor in VENDORS {
        let mut host = Command::new(&program);
        let printed = run(host.arg(plugin(vendor)).env_remove("LD_LIBRARY_PATH"));
        assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""), "{vendor}: {}", printed.out);
        let lines: Vec<&str> = printed.out.lines().collect();
        assert_eq!(lines[0], format!("name {vendor}"));
        assert_eq!(lines[1], format!("version {}", env!("CARGO_PKG_VERSION")));
        let (last, architectures) = lines[2..].split_last().expect("an answer to nonsense");
        assert_eq!(*last, format!("refused {} with the target description", ErrorCode::MALFORMED.0));
        let manifest = manifest(vendor);
        assert!(!architectures.is_empty());
        for architecture in architectures {
            let name = architecture.strip_prefix("architecture ").expect("an architecture");
            assert!(manifest.contains(&format!("\"{name}\"")), "{name} is not in {manifest}");
        }
    }
}

/// Returns the crates that are built into a package, or that run to build it.
fn dependencies(package: &str) -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["tree", "--offline", "--frozen", "-e", "normal,build", "--prefix", "none"]);
    let printed = run(cargo.args(["-f", "{lib}", "-p", package]));
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    printed.out.split_whitespace().map(str::to_owned).collect()
}

fn names_llvm_or_a_vendor(name: &str) -> bool {
    let prefixes = ["llvm", "inkwell", "nvidia", "amd", "intel"];
    prefixes.iter().any(|phrase| name.split(['_', '-']).any(|word| word.starts_with(phrase)))
}

#[test]
fn the_framework_knows_neither_llvm_nor_a_vendor() {
    let found = dependencies("tilewright");
    assert!(found.contains(&"libloading".to_owned()), "what it does depend on is listed: {found:?}");
    let wrong: Vec<_> = found.iter().filter(|name| names_llvm_or_a_vendor(name)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // The Python package has tables of vendors, and no LLVM.
    let of_package = dependencies("tilewright-python");
    assert!(of_package.contains(&"tilewright_nvidia_tables".to_owned()), "{of_package:?}");
    let wrong: Vec<_> =
        of_package.iter().filter(|name| ["tilewright_llvm", "inkwell"].contains(&name.as_str())).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // The same check finds both crates in a plugin.
    let of_vendor = dependencies("tilewright-nvidia");
    for name in ["tilewright_nvidia", "tilewright_llvm", "inkwell"] {
        assert!(of_vendor.iter().any(|found| found == name && names_llvm_or_a_vendor(found)), "{name}: {of_vendor:?}");
    }
}

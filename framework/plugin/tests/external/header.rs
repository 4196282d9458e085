//! Tests of the plugin interface's C header in C++, and of the symbols that a plugin's library exports.

use std::process::Command;

use tilewright_testkit::plugin_fixtures::{cc, fixture};

pub fn the_header_is_cpp17() {
    let arguments =
        ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "header.cpp"];
    let output = cc("c++", &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The plugin's library exports the entry symbol and no other symbol of Tilewright.
pub fn the_rust_plugin_exports_one_symbol() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(fixture()).output().expect("this test needs it");
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let symbols: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(symbols, ["tilewright_plugin_query"]);
}

//! Tests of `install` that need build tools or libraries of the system.
#![allow(dead_code, unused_imports, reason = "modules of the ordinary tests have more than is used here")]

use std::process::ExitCode;

use tilewright_testkit::external::{self, Need};
use tilewright_testkit::external_test;

mod hosts;
#[path = "../install/hosts.rs"]
mod installed;

fn main() -> ExitCode {
    let other_llvm = || {
        let why = "this machine has none (Debian's package `libllvm15` is one)";
        Need::of("an LLVM of another version", hosts::other_llvms().is_empty().then(|| why.to_owned()))
    };
    let tests = vec![
        external_test!(hosts::the_c_host_builds_with_cmake_and_prints_code, [Need::program("cmake")]),
        external_test!(hosts::pkg_config_gives_the_flags_of_the_library, [Need::program("pkg-config")]),
        external_test!(hosts::a_host_may_use_another_llvm, [other_llvm()]),
    ];
    external::run(env!("CARGO_PKG_NAME"), tests)
}

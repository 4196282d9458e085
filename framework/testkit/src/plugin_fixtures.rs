//! Builds and locates the plugins that tests load.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tilewright_kernel::{Kernel, Module, Region, StaticLaunchConfig};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns the path of a temporary file `name` in a new directory of this test run.
pub fn scratch(name: &str) -> PathBuf {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = libraries().with_file_name("tmp").join(format!("{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("the test's directory");
    directory.join(name)
}

/// Returns the folder of the crate `plugin`, with the C header and the sources of the test plugins.
fn plugin_crate() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin"))
}

/// Runs the C compiler in the folder of the test plugins' sources, with the folder of the C header as an include path.
pub fn cc(compiler: &str, arguments: &[&str]) -> std::process::Output {
    let root = plugin_crate();
    Command::new(compiler)
        .current_dir(root.join("tests/fixtures"))
        .args(arguments)
        .arg("-I")
        .arg(root.join("include"))
        .output()
        .unwrap_or_else(|error| panic!("{compiler}, which linking Rust programs needs too: {error}"))
}

fn built(name: &str, arguments: &[&str]) -> PathBuf {
    let out = scratch(name);
    let mut all = arguments.to_vec();
    let path = out.to_str().expect("a path in UTF-8").to_owned();
    all.extend(["-o", &path]);
    let output = cc("cc", &all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

/// Builds a shared library from the C file `source`, with the compiler arguments `defines`; returns its path.
pub fn c_library(source: &str, defines: &[&str]) -> PathBuf {
    let mut arguments = vec!["-shared", "-fPIC", "-D_POSIX_C_SOURCE=200809L", source];
    arguments.extend(defines);
    built("libplugin.so", &arguments)
}

/// Builds a program from the C file `source`; returns its path.
pub fn c_program(source: &str) -> PathBuf {
    built("program", &[source, "-ldl"])
}

/// Builds the C plugin that violates the rule `case` of the plugin interface; returns its path.
pub fn hostile(case: &str) -> PathBuf {
    c_library("hostile.c", &[&format!("-DCASE={case}")])
}

/// Builds the plugin in plain C that obeys the plugin interface; returns its path.
pub fn plain() -> PathBuf {
    c_library("plain.c", &[])
}

/// Builds the plugin in plain C with the header of version 1.0, which never changes; returns its path.
pub fn plain_of_1_0() -> PathBuf {
    c_library("plain.c", &["-I", "abi-1.0"])
}

/// Returns cargo's output directory of this test's executable, which also has the libraries that cargo built.
pub fn libraries() -> PathBuf {
    let executable = std::env::current_exe().expect("this test's executable");
    executable.parent().expect("its directory").to_owned()
}

/// Returns the path of the test plugin's shared library, which is written in Rust.
pub fn fixture() -> PathBuf {
    libraries().join(format!("libtilewright_fixture_plugin{}", std::env::consts::DLL_SUFFIX))
}

/// Returns a module with one empty kernel of this name.
pub fn module(kernel: &str) -> Module {
    Module {
        kernels: vec![Kernel {
            name: kernel.to_owned(),
            launch: StaticLaunchConfig::new(32, 4),
            parameters: Vec::new(),
            shared: Vec::new(),
            body: Region::default(),
            locations: Vec::new(),
        }],
    }
}

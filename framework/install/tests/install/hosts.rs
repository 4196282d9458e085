//! Tests that an installation serves host programs: the C example, built and run as a user would, prints code for GPUs
//! of three vendors.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Installs once for all tests of this process and returns the prefix; an installation that an earlier run left is
/// removed first.
pub fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        let _ = std::fs::remove_dir_all(&prefix);
        run(Command::new(env!("CARGO_BIN_EXE_tilewright-install")).arg("--prefix").arg(&prefix));
        prefix
    })
}

/// Returns the folder with the sources of the example host programs.
pub fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ffi/hosts")
}

/// Runs a program that must succeed; returns its output.
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a program in a reduced environment, so that it finds only installed files.
fn output(command: &mut Command) -> Output {
    let kept = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    command.env_clear().envs(kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Creates and returns a folder for the build products of the test `name`.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the test's folder");
    folder
}

pub const TARGETS: [&str; 3] = ["h100", "mi250", "max1550"];

/// Checks that the output of an example host has code of `saxpy.tile` for three targets.
pub fn is_code_for_three(printed: &str) {
    assert!(printed.contains("; h100: "), "{printed}");
    // The expected rows are computed by hand: lane 9 is in the second row of lanes and the second group of four
    // columns, and register 1 is the second column of the group. A warp has an eighth of its lanes as rows, and two
    // warps are above.
    for (lanes, row) in [(32, 9), (64, 17), (16, 5)] {
        let message = format!("lane 9 of warp 2 holds element ({row}, 5)");
        assert_eq!(printed.matches(&message).count(), 1, "{lanes} lanes: {printed}");
    }
    assert!(printed.contains(".target sm_90a") && printed.contains(".visible .entry tile("), "{printed}");
    assert!(printed.contains("global_load_dwordx4") && printed.contains("s_endpgm"), "{printed}");
    assert!(printed.contains("OpEntryPoint Kernel"), "{printed}");
}

/// Compiles the C host and links it with these arguments; returns the path of the program.
fn c_host(name: &str, arguments: &[&str]) -> PathBuf {
    let program = scratch("cc").join(name);
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-o"]).arg(&program);
    command.arg("-I").arg(prefix().join("include"));
    command.args(["host.c", "language.c"].map(|file| hosts().join("c").join(file)));
    run(command.args(arguments));
    program
}

#[test]
fn the_c_host_links_the_shared_library() {
    let libraries = prefix().join("lib");
    let rpath = format!("-Wl,-rpath,{}", libraries.display());
    let program = c_host("shared", &["-L", libraries.to_str().expect("UTF-8"), "-ltilewright", &rpath]);
    let dependencies = run(Command::new("ldd").arg(&program));
    assert!(dependencies.contains("libtilewright.so.1 => ") && !dependencies.contains("LLVM"), "{dependencies}");
    is_code_for_three(&run(Command::new(&program).arg(hosts().join("saxpy.tile")).args(TARGETS)));
}

/// Checks that an installed plugin loads LLVM from its own folder.
#[test]
fn plugins_load_the_installed_llvm() {
    let folder = prefix().join("lib/tilewright");
    for name in ["amd", "nvidia"] {
        let dependencies = run(Command::new("ldd").arg(folder.join(format!("libtilewright_{name}_plugin.so"))));
        let llvm = dependencies.lines().find(|line| line.contains("libLLVM")).expect("the plugin links LLVM");
        assert!(llvm.contains(folder.to_str().expect("UTF-8")), "{dependencies}");
    }
}

#[test]
fn the_c_host_links_the_static_library() {
    let library = prefix().join("lib/libtilewright.a");
    let program = c_host("static", &[library.to_str().expect("UTF-8"), "-ldl", "-lpthread", "-lm", "-lgcc_s"]);
    let plugins = prefix().join("lib/tilewright");
    let mut command = Command::new(&program);
    let output = output(command.arg(hosts().join("saxpy.tile")).args(TARGETS));
    assert!(!output.status.success(), "no plugins lie beside a program that is somewhere else");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("no plugin serves") && message.contains("TILEWRIGHT_PLUGIN_PATH"), "{message}");
    let printed = Command::new(&program)
        .arg(hosts().join("saxpy.tile"))
        .args(TARGETS)
        .env("TILEWRIGHT_PLUGIN_PATH", plugins)
        .output();
    is_code_for_three(&String::from_utf8_lossy(&printed.expect("the host").stdout));
}

#[test]
fn errors_are_reported_and_leave_nothing_behind() {
    let libraries = prefix().join("lib");
    let rpath = format!("-Wl,-rpath,{}", libraries.display());
    let program = c_host("wrong", &["-L", libraries.to_str().expect("UTF-8"), "-ltilewright", &rpath]);
    let output = output(Command::new(&program).arg(hosts().join("saxpy.tile")).arg("h10"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("h100") && message.contains("(error 4)"), "{message}");
}

#[test]
fn the_loader_has_no_link_time_dependencies() {
    let program = scratch("cc").join("loaded");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loaded.c");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-I"]).arg(prefix().join("include"));
    run(command.arg(source).arg("-o").arg(&program).arg("-ldl"));
    let library = prefix().join("lib/libtilewright.so.1");
    let printed = run(Command::new(&program).arg(&library));
    assert!(printed.contains("h100") && printed.contains("wrong: 3 1:"), "{printed}");
    let missing = output(Command::new(&program).arg("/nowhere/libtilewright.so"));
    assert!(!missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("/nowhere"), "{missing:?}");
}

#[test]
fn pkg_config_knows_the_library() {
    let text = std::fs::read_to_string(prefix().join("lib/pkgconfig/tilewright.pc")).expect("the file");
    assert!(text.contains("Libs: -L${libdir} -ltilewright"), "{text}");
}

/// Checks that the command `tilewright`, copied to `PREFIX/bin` as `cargo install --root PREFIX` does, finds the
/// plugins that are installed below the prefix.
#[test]
fn the_command_serves_from_the_prefix() {
    let built = Path::new(env!("CARGO_BIN_EXE_tilewright-install")).with_file_name("tilewright");
    assert!(built.is_file(), "{} is not built: run the tests of the whole workspace", built.display());
    let command = prefix().join("bin/tilewright");
    std::fs::create_dir_all(prefix().join("bin")).expect("a folder");
    std::fs::copy(built, &command).expect("the command");
    let program = hosts().join("../../../conformance/kernels/softmax.ttir");
    let compile = |target: &str| run(Command::new(&command).args(["compile", "--target", target]).arg(&program));
    assert!(compile("h100").contains(".visible .entry softmax("));
    assert!(compile("mi250").contains("amdhsa--gfx90a"));
}

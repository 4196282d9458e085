//! What is installed serves host compilers: the example in C, built and run as its users would, gives code for GPUs of three
//! vendors.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// An installation that the tests share; it is gone when they are.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        let _ = std::fs::remove_dir_all(&prefix);
        run(Command::new(env!("CARGO_BIN_EXE_tilewright-install")).arg("--prefix").arg(&prefix));
        prefix
    })
}

/// The folder of the example hosts.
fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ffi/hosts")
}

/// Runs a program that must succeed; what it printed.
fn run(command: &mut Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a program in an environment of its own: nothing but what was installed may be found.
fn output(command: &mut Command) -> Output {
    let kept = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    command.env_clear().envs(kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Whether a program is along PATH.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// A folder for what a test builds.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the test's folder");
    folder
}

const TARGETS: [&str; 3] = ["h100", "mi250", "max1550"];

/// What both hosts print for `saxpy.tile` and three targets, as far as it is theirs.
fn is_code_for_three(printed: &str) {
    assert!(printed.contains("; h100: "), "{printed}");
    // By hand: lane 9 is the second row and the second group of four columns, register 1 the second of these; a warp has an
    // eighth of its lanes as rows, and two warps are above.
    for (lanes, row) in [(32, 9), (64, 17), (16, 5)] {
        let said = format!("lane 9 of warp 2 holds element ({row}, 5)");
        assert_eq!(printed.matches(&said).count(), 1, "{lanes} lanes: {printed}");
    }
    assert!(printed.contains(".target sm_90a") && printed.contains(".visible .entry tile("), "{printed}");
    assert!(printed.contains("global_load_dwordx4") && printed.contains("s_endpgm"), "{printed}");
    assert!(printed.contains("OpEntryPoint Kernel"), "{printed}");
}

#[test]
fn the_c_host_builds_with_cmake_and_prints_code() {
    if !is_there("cmake") {
        println!("not shown: cmake is not installed; the host is built without it in other tests");
        return;
    }
    let build = scratch("cmake");
    let _ = std::fs::remove_dir_all(&build);
    run(Command::new("cmake")
        .arg("-S")
        .arg(hosts().join("c"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    let printed = run(Command::new(build.join("tile_host")).arg(hosts().join("saxpy.tile")).args(TARGETS));
    is_code_for_three(&printed);
}

/// The C host, compiled and linked with these arguments.
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
    let place = format!("-Wl,-rpath,{}", libraries.display());
    let program = c_host("shared", &["-L", libraries.to_str().expect("UTF-8"), "-ltilewright", &place]);
    let linked = run(Command::new("ldd").arg(&program));
    assert!(linked.contains("libtilewright.so.1 => ") && !linked.contains("LLVM"), "{linked}");
    is_code_for_three(&run(Command::new(&program).arg(hosts().join("saxpy.tile")).args(TARGETS)));
}

#[test]
fn the_c_host_links_the_static_library() {
    let library = prefix().join("lib/libtilewright.a");
    let program = c_host("static", &[library.to_str().expect("UTF-8"), "-ldl", "-lpthread", "-lm", "-lgcc_s"]);
    let plugins = prefix().join("lib/tilewright");
    let mut command = Command::new(&program);
    let output = output(command.arg(hosts().join("saxpy.tile")).args(TARGETS));
    assert!(!output.status.success(), "no plugins lie beside a program that is somewhere else");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no plugin serves") && said.contains("TILEWRIGHT_PLUGIN_PATH"), "{said}");
    let printed = Command::new(&program)
        .arg(hosts().join("saxpy.tile"))
        .args(TARGETS)
        .env("TILEWRIGHT_PLUGIN_PATH", plugins)
        .output();
    is_code_for_three(&String::from_utf8_lossy(&printed.expect("the host").stdout));
}

#[test]
fn what_is_wrong_is_said_and_leaves_nothing_behind() {
    let libraries = prefix().join("lib");
    let place = format!("-Wl,-rpath,{}", libraries.display());
    let program = c_host("wrong", &["-L", libraries.to_str().expect("UTF-8"), "-ltilewright", &place]);
    let output = output(Command::new(&program).arg(hosts().join("saxpy.tile")).arg("h10"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("h100") && said.contains("(error 4)"), "{said}");
}

#[test]
fn the_loader_needs_nothing_when_it_is_linked() {
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
    if is_there("pkg-config") {
        let mut command = Command::new("pkg-config");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let flags = command
            .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"))
            .args(["--cflags", "--libs", "tilewright"])
            .output();
        let flags = String::from_utf8(flags.expect("pkg-config").stdout).expect("UTF-8");
        assert!(flags.contains("-ltilewright") && flags.contains("include"), "{flags}");
    }
}

/// The LLVM libraries of this machine that are of another major version than the plugins', by the names to link.
fn other_llvms() -> Vec<String> {
    let output =
        Command::new("ldconfig").arg("-p").output().or_else(|_| Command::new("/sbin/ldconfig").arg("-p").output());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    let llvms =
        names.filter(|name| name.starts_with("libLLVM-") && name.contains(".so.") && !name.starts_with("libLLVM-22"));
    let mut llvms: Vec<String> = llvms.map(str::to_owned).collect();
    llvms.sort();
    llvms.dedup();
    llvms
}

/// The host's symbols are seen by all that is loaded later; the plugins must take their own all the same.
#[test]
fn a_host_may_be_linked_to_another_llvm() {
    let llvms = other_llvms();
    if llvms.is_empty() {
        println!("not shown: this machine has no LLVM of another version (Debian: libllvm15)");
    }
    let libraries = prefix().join("lib");
    let program = hosts().join("../../../conformance/kernels/softmax.ttir");
    for llvm in llvms {
        let host = scratch("cc").join(format!("host-{llvm}"));
        let mut command = Command::new("cc");
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&host);
        command.arg("-I").arg(prefix().join("include"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/other_llvm.c"));
        command.arg("-L").arg(&libraries).arg(format!("-Wl,-rpath,{}", libraries.display()));
        run(command.arg(format!("-l:{llvm}")).arg("-ltilewright"));
        let linked = run(Command::new("ldd").arg(&host));
        assert!(linked.contains(&llvm), "{linked}");
        let printed = run(Command::new(&host).arg(&program).args(["h100", "mi250"]));
        for said in ["ModuleID = 'before'", ".visible .entry softmax(", "amdhsa--gfx90a", "ModuleID = 'after'"] {
            assert!(printed.contains(said), "{llvm}: {said}: {printed}");
        }
    }
}

/// The command, put where `cargo install --root PREFIX` puts it, finds the plugins of the prefix.
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

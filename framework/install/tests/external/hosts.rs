//! Tests of an installation with the system's build tools and libraries.

use std::path::Path;
use std::process::Command;

use crate::installed::{TARGETS, hosts, is_code_for_three, prefix, run, scratch};

pub fn the_c_host_builds_with_cmake_and_prints_code() {
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

pub fn pkg_config_gives_the_flags_of_the_library() {
    let mut command = Command::new("pkg-config");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let flags = command
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"))
        .args(["--cflags", "--libs", "tilewright"])
        .output();
    let flags = String::from_utf8(flags.expect("pkg-config").stdout).expect("UTF-8");
    assert!(flags.contains("-ltilewright") && flags.contains("include"), "{flags}");
}

/// Returns the LLVM libraries of this machine, by link name, that have another major version than the plugins' LLVM.
pub fn other_llvms() -> Vec<String> {
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

/// Checks that a host program may link another LLVM: its symbols are visible to all libraries that are loaded later,
/// but the plugins must still bind to the symbols of their own LLVM.
pub fn a_host_may_use_another_llvm() {
    let libraries = prefix().join("lib");
    let program = hosts().join("../../../conformance/kernels/softmax.ttir");
    for llvm in other_llvms() {
        let host = scratch("cc").join(format!("host-{llvm}"));
        let mut command = Command::new("cc");
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&host);
        command.arg("-I").arg(prefix().join("include"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/other_llvm.c"));
        command.arg("-L").arg(&libraries).arg(format!("-Wl,-rpath,{}", libraries.display()));
        run(command.arg(format!("-l:{llvm}")).arg("-ltilewright"));
        let dependencies = run(Command::new("ldd").arg(&host));
        assert!(dependencies.contains(&llvm), "{dependencies}");
        let printed = run(Command::new(&host).arg(&program).args(["h100", "mi250"]));
        for expected in ["ModuleID = 'before'", ".visible .entry softmax(", "amdhsa--gfx90a", "ModuleID = 'after'"] {
            assert!(printed.contains(expected), "{llvm}: {expected}: {printed}");
        }
    }
}

//! Sets the run path of this package's test programs to the LLVM that they link, and records the path of the
//! toolchain's linker.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    if let Ok(directory) = std::env::var("DEP_TILEWRIGHT_LLVM_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
    // If the toolchain has no linker, the plugin searches for one at run time.
    if let Some(linker) = toolchain_linker() {
        println!("cargo:rustc-env=TILEWRIGHT_BUILD_LLD={}", linker.display());
    }
}

/// Returns the path of `rust-lld` in the Rust toolchain that runs this build; `None` if the toolchain has none.
fn toolchain_linker() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let host = std::env::var("HOST").ok()?;
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let name = format!("rust-lld{}", std::env::consts::EXE_SUFFIX);
    let linker = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin").join(name);
    linker.is_file().then_some(linker)
}

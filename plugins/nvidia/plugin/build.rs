//! Gives the shared library its run paths: its own directory, where an installation puts LLVM, and
//! the LLVM that this build was linked to.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN");
    if let Ok(directory) = std::env::var("DEP_TILEWRIGHT_LLVM_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
}
